"""Proof-number search for goals that one agent can force on boards of MO-Breakthrough of up to 64 cells."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine.lookahead import make_trial
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter, TooLarge
from momagames.games.breakthrough.rules import CAPTURES, LOSSES, SPEED, WIN
from momagames.games.breakthrough.solver import proof_number_kernels as kernels
from momagames.games.breakthrough.solver.guarantees import Board, check_cells
from momagames.games.breakthrough.solver.proof_number_loops import compile_proof_loops

SLICE_NODES = 1 << 17  # nodes between two calls of `progress`, which Ctrl-C waits for
FIRST_SLOTS, SLOT_BYTES = 1 << 18, 32
CHUNK_STATES = 1 << 10  # states per call of a compiled loop

Progress = Callable[[int, int], None]
Goal = NDArray[np.int64]


@dataclass(frozen=True)
class Limits:
    """Limits of a search.

    max_nodes      positions that are expanded, repetitions included
    max_bytes      of the table; at the limit new positions replace old ones
    max_seconds    time, or None
    """

    max_nodes: int = 1 << 40
    max_bytes: int = 1 << 30
    max_seconds: float | None = None


def make_win_goal() -> Goal:
    """Return the goal of winning, as the kernels take it; for either agent."""
    return _make_goal(1, kernels.ANY_PLY, kernels.NEVER, kernels.MAX_CELLS, 0, False)


def make_threshold_goal(board: Board, vector: NDArray[np.int64], number: int) -> Goal:
    """Return the goal of reaching at least a vector of returns, as the kernels take it.

    board     the start and the agent
    vector    int64[K], in units of the objectives
    number    distinguishes goals that share a table, at least 2
    """
    least = {
        WIN: -1,
        CAPTURES: 0,
        LOSSES: -kernels.MAX_CELLS,
        **dict(zip(board.columns.tolist(), vector.tolist(), strict=True)),
    }
    own, other = (int(board.start["count"][0, side]) for side in (board.agent, 1 - board.agent))
    most_other, least_own = other - least[CAPTURES], own + least[LOSSES]
    must_win = least[WIN] > -1
    win_by, lose_from = kernels.ANY_PLY, kernels.NEVER if must_win else 0
    if SPEED in least:
        if board.scale - least[SPEED] < board.game.max_episode_steps:
            win_by = board.scale - least[SPEED]
        lose_from = kernels.NEVER if must_win else max(0, board.scale + least[SPEED])
    return _make_goal(
        number,
        win_by,
        lose_from,
        kernels.MAX_CELLS if most_other >= other else most_other,
        0 if must_win and least_own <= 1 else max(0, least_own),  # a winner has a piece
        win_by < kernels.ANY_PLY or 0 < lose_from < kernels.NEVER,
    )


def _make_goal(number: int, win_by: int, lose_from: int, most_other: int, least_own: int, is_timed: bool) -> Goal:
    limits = (win_by, lose_from, most_other, least_own)
    is_plain = limits == (kernels.ANY_PLY, kernels.NEVER, kernels.MAX_CELLS, 0)
    return np.array([*limits, 0, 0, is_plain, is_timed, 1 if is_plain else number], np.int64)


def make_search_arrays(game: Game, slots: int) -> tuple[NDArray[Any], ...]:
    """Return the arrays of `run_search`, table first, registers last.

    slots    of the table, a power of two; memory is taken as they fill
    """
    depth = game.max_episode_steps + 2
    return (
        np.zeros((slots, SLOT_BYTES // 8), np.uint64),
        np.zeros((depth, 2), np.uint64),
        np.zeros((depth, kernels.MAX_MOVES, 2), np.uint64),
        np.zeros((depth, kernels.MAX_MOVES, 2), np.int64),
        np.zeros((depth, 4), np.int64),
        np.zeros(kernels.REGISTERS, np.int64),
    )


class ProofNumberSearch:
    """Searches on one board, which share a table.

    nodes    expanded so far

    Raises   InvalidParameter for another game, or more than 64 cells
    """

    def __init__(self, game: Game, limits: Limits | None = None, slots: int = FIRST_SLOTS) -> None:
        if game.rules_key != "breakthrough":
            raise InvalidParameter(f"{game.id}: this solver needs MO-Breakthrough")
        check_cells(game, kernels.MAX_CELLS)
        self.game, self.limits = game, limits or Limits()
        self._loops = compile_proof_loops(game)
        self._table, *stack, self._registers = make_search_arrays(game, slots)
        self._stack = tuple(stack)
        self._trial = make_trial(game)

    @property
    def nodes(self) -> int:
        return int(self._registers[kernels.NODES])

    @property
    def bytes(self) -> int:
        return self._table.nbytes

    def can_force(self, start: Any, agent: int, goal: Goal, progress: Progress | None = None) -> bool:
        """Return whether an agent reaches a goal from a position against every reply.

        start       a position: a record, its dict form or its text
        progress    called several times a second with (nodes, bytes)
        Raises      TooLarge beyond max_nodes or max_seconds; the same call then continues the search. InvalidState
        """
        states = load_state(self.game, start)
        goal[kernels.ATTACKS] = int(states["to_move"][0]) == agent
        began = time.monotonic()
        status = self._loops.begin(states, goal, self._table, *self._stack, self._registers)
        while status == kernels.PAUSED:
            budget = min(SLICE_NODES, self.limits.max_nodes - self.nodes)
            seconds = time.monotonic() - began
            if budget <= 0 or (self.limits.max_seconds is not None and seconds > self.limits.max_seconds):
                raise TooLarge(
                    f"{self.game.id}: unsolved after {self.nodes:,} nodes and {seconds:,.0f} s: expected at most "
                    f"max_nodes={self.limits.max_nodes:,} and max_seconds={self.limits.max_seconds}; raise the limits or "
                    "choose a smaller board"
                )
            status = self._loops.run(states, goal, self._table, *self._stack, self._registers, budget)
            self._grow_table()
            if progress is not None:
                progress(self.nodes, self.bytes)
        reaches = int(self._registers[kernels.PHI]) == 0
        return reaches == bool(goal[kernels.ATTACKS])

    def _grow_table(self) -> None:
        """Double a table that is more than half full, as far as memory allows for both."""
        if 2 * int(self._registers[kernels.USED]) > len(self._table) and 3 * self.bytes <= self.limits.max_bytes:
            table = np.zeros((2 * len(self._table), self._table.shape[1]), np.uint64)
            self._registers[kernels.USED] = 0
            self._loops.rehash(self._table, table, self._registers)
            self._table = table

    def list_slots(self) -> NDArray[np.uint64]:
        """Return the used slots of the table, one after the other, for a checkpoint."""
        words: NDArray[np.uint64] = self._table[self._table[:, kernels.TAG] != 0].ravel()
        return words

    def restore_slots(self, words: NDArray[np.uint64], nodes: int) -> None:
        """Fill the table with slots of `list_slots`, as far as memory allows. Goals need the same numbers as before.

        nodes    that were expanded for them
        """
        rows = words.reshape(-1, self._table.shape[1])
        slots = len(self._table)
        while slots < 2 * len(rows) and 2 * slots * SLOT_BYTES <= self.limits.max_bytes:
            slots *= 2
        self._table = np.zeros((slots, rows.shape[1]), np.uint64)
        self._registers[kernels.USED], self._registers[kernels.NODES] = 0, nodes
        self._loops.rehash(rows, self._table, self._registers)

    def find_good_moves(self, states: NDArray[Any], agent: int, goal: Goal) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return legal moves of positions, record[N] -> bool[N, M], and those after which the agent to move reaches its goal.

        The goal is the attacker's, `agent`; that of the other agent is that the attacker fails. For a plain goal either may
        be to move, and each wins.
        """
        legal, good = np.zeros((2, len(states), self.game.mask_size), np.int8)
        self._find(states, agent, goal, legal, good, False)
        return legal > 0, good > 0

    def choose(self, states: NDArray[Any], agent: int, goal: Goal) -> NDArray[np.int64]:
        """Return for each position, record[N], the first move after which the agent to move reaches its goal, or -1."""
        legal, good = np.zeros((2, len(states), self.game.mask_size), np.int8)
        self._find(states, agent, goal, legal, good, True)
        return np.where(good.any(axis=1), good.argmax(axis=1), -1).astype(np.int64)

    def _find(
        self, states: NDArray[Any], agent: int, goal: Goal, legal: NDArray[np.int8], good: NDArray[np.int8], one: bool
    ) -> None:
        for first in range(0, len(states), CHUNK_STATES):
            chunk = slice(first, first + CHUNK_STATES)
            self._loops.find_moves(
                states[chunk], agent, goal, one, legal[chunk], good[chunk], self._trial, self._table, *self._stack,
                self._registers,
            )  # fmt: skip
            self._grow_table()
