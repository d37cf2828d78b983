# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Solved positions of small boards of MO-Breakthrough: which agent wins with best play.

Depth-first search with a transposition table, over the rules of the package. A game cannot be drawn, so that a move is best if
and only if the agent to move wins after it; the first such move ends the search of a position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine.loops import cache_by_rules
from momagames.engine.playouts import make_step_buffers
from momagames.kernels.jit import compile_entry_point, kernel
from momagames.kernels.rng import mix

MAX_CELLS = 31
SLOTS, PROBES = 1 << 24, 8  # of the table: a full neighborhood is overwritten
UNKNOWN, LOST, WON = 0, 1, 2  # values for the agent to move
SIDE, TURN, EMPTY = np.uint64(MAX_CELLS), np.uint64(2 * MAX_CELLS), np.uint64(0)


class Solver:
    """Solver of one board of at most 31 cells, with its table."""

    def __init__(self, game: Game) -> None:
        assert game.rules_key == "breakthrough"
        assert game.params["board_width"] * game.params["board_height"] <= MAX_CELLS
        plies = game.max_episode_steps + 1
        self._loop = compile_solver(game)
        self._scratch = (
            np.zeros(SLOTS, np.uint64), np.zeros(SLOTS, np.int8), np.zeros(plies + 1, game.dtype),
            np.zeros((plies, game.mask_size), np.int8), np.zeros(plies, np.int64), *make_step_buffers(game),
        )  # fmt: skip
        self.nodes = 0

    def find_best_moves(self, states: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the legal moves of positions, record[N] -> bool[N, M], and those with which the agent to move wins."""
        shape = len(states), self._scratch[3].shape[1]
        legal, won = np.zeros(shape, np.int8), np.zeros(shape, np.int8)
        self.nodes += self._loop(states, legal, won, *self._scratch)
        return legal > 0, won > 0


@kernel
def make_key(state):
    """Return the position in 63 bits; never 0."""
    pieces = state["pieces"]
    return pieces[0, 1] | pieces[1, 1] << SIDE | np.uint64(state["to_move"]) << TURN


@kernel
def find_slot(keys, key):
    """Return the slot of a key, or the one that it may take."""
    first = mix(key)
    for probe in range(PROBES):
        slot = (first + np.uint64(probe)) & np.uint64(SLOTS - 1)
        if keys[slot] == key or keys[slot] == EMPTY:
            return slot
    return first & np.uint64(SLOTS - 1)


@kernel
def find_value(state, keys, values):
    """Return the value of a position for its agent to move, as far as it is known."""
    if state["over"]:
        return LOST  # only a move that wins ends a game
    key = make_key(state)
    slot = find_slot(keys, key)
    return np.int64(values[slot]) if keys[slot] == key else UNKNOWN


@kernel
def take_next_move(mask, mover):
    """Return the move of the piece that is closest to its goal row, and clear it in the mask; -1 if none is left."""
    for i in range(mask.shape[0]):
        a = i if mover == 1 else mask.shape[0] - 1 - i
        if mask[a]:
            mask[a] = 0
            return a
    return -1


@cache_by_rules
def compile_solver(game: Game) -> Callable[..., int]:
    """Compile the search for the rules of the game."""
    legal, step = game.kernels.legal, game.kernels.step

    def solve(states, legal_moves, won_moves, keys, values, work, masks, moves, actions, reward):
        nodes = 0
        for n in range(states.shape[0]):
            work[0] = states[n]
            level, is_new, value = 0, True, UNKNOWN
            while level >= 0:
                mover = np.int64(work[level]["to_move"])
                if is_new:
                    value = find_value(work[level], keys, values) if level > 0 else UNKNOWN
                    if value == UNKNOWN:
                        nodes += 1
                        legal(work[level], mover, masks[level])
                        for a in range(masks.shape[1]):
                            if masks[level, a] == 0:
                                continue
                            actions[0, 0] = a
                            work[level + 1] = work[level]
                            step(work[level + 1], actions, reward)
                            found = find_value(work[level + 1], keys, values)
                            if found != UNKNOWN:
                                masks[level, a] = 0
                            if found == LOST:
                                value = WON
                            if level == 0:
                                legal_moves[n, a], won_moves[n, a] = 1, found == LOST
                elif value == LOST:
                    value = WON
                    if level == 0:
                        won_moves[n, moves[0]] = 1
                else:
                    value = UNKNOWN
                if level == 0 or value == UNKNOWN:
                    moves[level] = take_next_move(masks[level], mover)
                    if moves[level] >= 0:
                        actions[0, 0] = moves[level]
                        work[level + 1] = work[level]
                        step(work[level + 1], actions, reward)
                        level += 1
                        is_new = True
                        continue
                    value = LOST
                if level > 0:
                    key = make_key(work[level])
                    slot = find_slot(keys, key)
                    keys[slot], values[slot] = key, value
                level -= 1
                is_new = False
        return nodes

    return compile_entry_point(solve, f"{game.rules_key}.solved_values")
