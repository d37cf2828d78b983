# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernel of the policy `solved` of MO-Breakthrough."""

import numpy as np

from momagames.games.breakthrough.rules import step
from momagames.games.breakthrough.solver.proof_number_kernels import DELTA, PAUSED, begin_search, run_search
from momagames.kernels.jit import kernel
from momagames.kernels.rng import update_best


@kernel
def solved_act(state, agent, mask, parts, memory, scratch, word, action):
    """Choose one of the moves after which the opponent loses, at random; any move if there is none."""
    goal, after, move, reward, table, positions, children, numbers, frames, registers = scratch
    width, height = np.int64(state["width"]), np.int64(state["height"])
    best, ties, chosen = -np.inf, 0, 0
    for candidate in range(mask.shape[0]):
        if mask[candidate] == 0:
            continue
        after[0] = state
        move[0, 0] = candidate
        step(after[0], move, reward)
        memory["lookahead_steps"] += 1  # the proof-number search steps no game
        wins = after[0]["over"] != 0
        if not wins:
            if begin_search(after[0], goal, table, positions, frames, registers) == PAUSED:
                run_search(width, height, goal, table, positions, children, numbers, frames, registers, -1)
            wins = registers[DELTA] == 0
        is_best, best, ties, word = update_best(1.0 if wins else 0.0, best, ties, word)
        if is_best:
            chosen = candidate
    action[0] = chosen
    return word
