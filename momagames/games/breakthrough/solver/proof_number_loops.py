# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Loops compiled for proof-number search on MO-Breakthrough; see proof_number_kernels.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from momagames.contract import Game
from momagames.engine.lookahead import make_lookahead
from momagames.engine.loops import cache_by_rules
from momagames.games.breakthrough.solver import proof_number_kernels as kernels
from momagames.kernels.jit import compile_entry_point


@dataclass(frozen=True)
class ProofLoops:
    """Loops compiled for the rules. The search arrays are those of `run_search`.

    begin(states, goal, search..)            place the first state as the root, see `begin_search`
    run(states, goal, search.., budget)      see `run_search`
    rehash(old, new, registers)              copy a table into a larger one
    find_moves(states, agent, goal, one, legal, good, trial, search..)
        legal int8[N, M], and good int8[N, M]: moves of states record[N] after which the agent to move reaches its goal;
        `one`: only the first of them
    """

    begin: Callable[..., int]
    run: Callable[..., int]
    rehash: Callable[..., None]
    find_moves: Callable[..., None]


@cache_by_rules
def compile_proof_loops(game: Game) -> ProofLoops:
    legal_kernel, play_copy = game.kernels.legal, make_lookahead(game).play_copy

    def begin(states, goal, table, positions, children, numbers, frames, registers):
        return kernels.begin_search(states[0], goal, table, positions, frames, registers)

    def run(states, goal, table, positions, children, numbers, frames, registers, budget):
        width, height = np.int64(states[0]["width"]), np.int64(states[0]["height"])
        return kernels.run_search(width, height, goal, table, positions, children, numbers, frames, registers, budget)

    def rehash(old, new, registers):
        for slot in range(old.shape[0]):
            own, other, tag, numbers = old[slot, 0], old[slot, 1], old[slot, 2], old[slot, 3]
            if tag != kernels.ZERO:
                phi, delta = np.int64(numbers >> kernels.HALF), np.int64(numbers & kernels.LOW_HALF)
                kernels.store_numbers(own, other, tag, phi, delta, new, registers)

    def find_moves(
        states, agent, goal, one, legal, good, trial, table, positions, children, numbers, frames, registers
    ):  # fmt: skip
        after = trial.states[0]
        for n in range(states.shape[0]):
            mover = np.int64(states[n]["to_move"])
            attacks = mover == agent
            legal_kernel(states[n], mover, legal[n])
            is_found = False
            for searches in range(0 if one else 1, 2):  # one good move of many: first those that are known
                for action in range(legal.shape[1]):
                    if legal[n, action] == 0 or (one and is_found):
                        continue
                    if play_copy(states[n], action, trial.states, 0, trial):
                        count, ply = after["count"], np.int64(after["ply"])
                        counts = np.int64(count[agent]), np.int64(count[1 - agent])
                        is_good = kernels.is_reached(counts[0], counts[1], attacks, ply, goal) == attacks
                    else:
                        goal[kernels.ATTACKS] = 0 if attacks else 1
                        status = kernels.begin_search(after, goal, table, positions, frames, registers)
                        if status == kernels.PAUSED and searches:
                            size = np.int64(after["width"]), np.int64(after["height"])
                            status = kernels.run_search(
                                size[0], size[1], goal, table, positions, children, numbers, frames, registers, -1
                            )
                        is_good = status == kernels.FINISHED and registers[kernels.DELTA] == 0
                    good[n, action] = is_good
                    is_found |= is_good

    name = f"{game.rules_key}.proof"
    return ProofLoops(
        begin=compile_entry_point(begin, f"{name}.begin"),
        run=compile_entry_point(run, f"{name}.run"),
        rehash=compile_entry_point(rehash, f"{name}.rehash"),
        find_moves=compile_entry_point(find_moves, f"{name}.find_moves"),
    )
