# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernel of the policy `solved` of MO-Breakthrough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.engine.lookahead import Trial, make_lookahead
from momagames.engine.loops import cache_by_rules
from momagames.games.breakthrough.solver.proof_number_kernels import DELTA, PAUSED, begin_search, run_search
from momagames.kernels.jit import kernel
from momagames.kernels.rng import update_best


@cache_by_rules
def make_solved_kernel(game: Game) -> Callable[..., Any]:
    """Return the policy kernel, see `engine.policies`; scratch: goal, the arrays of `run_search`, those of `Trial`."""
    play_copy = make_lookahead(game).play_copy

    @kernel
    def solved_act(state, agent, mask, parts, memory, scratch, word, action):
        """Choose one of the moves after which the opponent loses, at random; any move if there is none."""
        goal, table, positions, children, numbers, frames, registers = scratch[:7]
        trial = Trial(*scratch[7:])
        after, trial.steps[0] = trial.states[0], 0
        width, height = np.int64(state["width"]), np.int64(state["height"])
        best, ties, chosen = -np.inf, 0, 0
        for candidate in range(mask.shape[0]):
            if mask[candidate] == 0:
                continue
            wins = play_copy(state, candidate, trial.states, 0, trial)
            if not wins:
                if begin_search(after, goal, table, positions, frames, registers) == PAUSED:
                    run_search(width, height, goal, table, positions, children, numbers, frames, registers, -1)
                wins = registers[DELTA] == 0
            is_best, best, ties, word = update_best(1.0 if wins else 0.0, best, ties, word)
            if is_best:
                chosen = candidate
        action[0] = chosen
        memory["lookahead_steps"] += trial.steps[0]  # the proof-number search steps no game
        return word

    return solved_act
