"""Equilibria of MO-Breakthrough with the objectives win and captures, by backward induction over sets.

Both agents play pure strategies. A pair of strategies is a Pareto-Nash equilibrium if no strategy of either agent, against the
other's, has a return that dominates its return (Shapley, "Equilibrium points in games with vector payoffs", Naval Research
Logistics Quarterly 6, 1959; Wierzbicki, "Multiple criteria games: theory and applications", 1992). It is subgame perfect if the
same holds in every position, reached or not (Krieger, "On Pareto equilibria in vector-valued extensive form games",
Mathematical Methods of Operations Research 58, 2003, who proves that there is one).

With vectors it is not enough to compare the moves of one position: a deviation in several positions may dominate where none of
its parts does. Therefore backward induction stores, besides the outcome of a pair of strategies, what each agent can attain
against the other's strategy. For Pareto-Nash equilibria the strategies off the path only have to prevent a return that
dominates; they can if the deviating agent cannot force one.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.errors import InvalidParameter, TooLarge
from momagames.games.breakthrough.rules import CAPTURES, WIN
from momagames.games.breakthrough.solver.equilibrium_kernels import (
    MAX_WIDTH,
    SCRATCH_FULL,
    WORDS,
    Table,
    compile_equilibrium_loop,
    make_scratch,
    make_table,
)
from momagames.games.breakthrough.solver.equilibrium_strategies import find_strategies
from momagames.games.breakthrough.solver.guarantee_kernels import BUFFER_FULL
from momagames.games.breakthrough.solver.guarantees import Board, Progress, check_bytes, chunk_slices
from momagames.games.breakthrough.solver.position_levels import Level, list_levels

LONG_GAME = 0.25  # no loser has a higher speed (SPEC §5.2)
INITIAL_PROFILES, MAX_PROFILES = 1 << 12, 1 << 20  # of one position
MIN_GROWTH = 1 << 20  # of the profiles of a table
Outcome = tuple[tuple[int, int], tuple[int, int]]  # (win -1 or 1, captured pieces) of each agent


@dataclass(frozen=True)
class Equilibria:
    """Outcomes of the equilibria of a position, in ascending order.

    states        number of solved positions, mirror images counted once
    strategies    for each outcome of a Pareto-Nash equilibrium the actions of both agents, see `baselines.strategies`
    """

    pareto_nash: tuple[Outcome, ...]
    subgame_perfect: tuple[Outcome, ...]
    states: int
    bytes: int
    seconds: float
    strategies: tuple[tuple[list[int], list[int]], ...]


def solve_equilibria(
    game: Game, start: Any, *, max_states: int, max_bytes: int, with_strategies: bool = False, progress: Progress | None = None
) -> Equilibria:
    """Compute the outcomes of all Pareto-Nash and of all subgame perfect equilibria in pure strategies.

    with_strategies    whether to return strategies, which takes the memory of all levels
    Raises    InvalidParameter for other objectives than win and captures, more than 32 cells or more than 5 columns; TooLarge
              beyond max_states or max_bytes; InvalidState
    """
    began = time.perf_counter()
    board = Board(game, start, 0, max_states)
    if board.columns.tolist() != [WIN, CAPTURES]:
        names = tuple(one.name for one in game.objectives)
        raise InvalidParameter(f"{game.id}: invalid objectives={names}: expected ('win', 'captures') for equilibria")
    if (width := int(board.start["width"][0])) > MAX_WIDTH:
        raise InvalidParameter(f"{game.id}: invalid board_width={width}: expected at most {MAX_WIDTH} for equilibria")
    size = 2 * width + 1
    solver = _BackwardInduction(board, size, max_bytes, progress, keep_tables=with_strategies)
    table = solver.solve(list_levels(board))
    root = int(np.searchsorted(table.words, board.pack_states(board.start))[0])
    paths = [64 * k + bit for k in range(WORDS) for bit in range(64) if int(table.paths[root, k]) >> bit & 1]
    perfect = {int(profile) & 255 for profile in table.profiles[table.starts[root] : table.stops[root]]}
    paths.sort(key=lambda one: _unpack(one, size))
    return Equilibria(
        tuple(_unpack(one, size) for one in paths),
        tuple(sorted(_unpack(one, size) for one in perfect)),
        solver.states,
        solver.bytes,
        time.perf_counter() - began,
        tuple(find_strategies(board, size, solver.stored, one) for one in paths) if with_strategies else (),
    )


class _BackwardInduction:
    """Solution of the levels from the one with the fewest pieces to the start.

    states    number of solved positions, mirror images counted once
    bytes     of the levels and tables at their largest
    stored    tables of both agents to move, by the number of pieces, without profiles; empty unless they are kept
    """

    def __init__(self, board: Board, size: int, max_bytes: int, progress: Progress | None, *, keep_tables: bool) -> None:
        self.states = self.bytes = 0
        self.stored: dict[int, list[Table]] = {}
        self._board, self._size, self._max_bytes, self._progress = board, size, max_bytes, progress
        self._keep_tables = keep_tables
        self._scratch = make_scratch(size, INITIAL_PROFILES)
        self._initial_counts = np.array(board.start["count"][0], np.int64)

    def solve(self, levels: list[Level]) -> Table:
        """Return the table of the start. The list of levels is emptied, to free memory."""
        tables = below = [make_table(np.zeros(0, np.uint64)) for _ in (0, 1)]
        while levels:
            level, below = levels.pop(), tables
            stored = [pair for pieces, pair in self.stored.items() if pieces < level.pieces - 1]  # without those of `below`
            others = sum(one.bytes for one in levels) + sum(one.bytes for one in itertools.chain(*stored))
            tables, ends = [make_table(words) for words in level.words], [0, 0]
            for advanced in range(max(int(rows.max(initial=0)) for rows in level.advancements), -1, -1):
                for mover in (0, 1):
                    rows = np.flatnonzero(level.advancements[mover] == advanced)
                    for chunk in chunk_slices(len(rows)):
                        ends[mover] = self._solve_positions(mover, rows[chunk], tables, below, ends[mover])
                        self._report(len(rows[chunk]), others + sum(one.bytes for one in (*tables, *below)))
            tables = [one._replace(profiles=one.profiles[:end].copy()) for one, end in zip(tables, ends, strict=True)]
            if self._keep_tables:
                nothing = np.zeros(0, np.int64)
                self.stored[level.pieces] = [one._replace(starts=nothing, stops=nothing, profiles=nothing) for one in tables]
        return tables[self._board.mover]

    def _solve_positions(self, mover: int, rows: NDArray[np.int64], tables: list[Table], below: list[Table], end: int) -> int:
        """Solve positions of a level; return the number of profiles of the agent to move, which was `end` before."""
        board = self._board
        while True:
            found = compile_equilibrium_loop(board.game)(
                rows, board.ply, mover, self._initial_counts, self._size, board.trial, tables[mover], tables[1 - mover],
                below[1 - mover], end, self._scratch,
            )  # fmt: skip
            if found == BUFFER_FULL:
                grown = np.zeros(2 * len(tables[mover].profiles) + MIN_GROWTH, np.int64)
                grown[:end] = tables[mover].profiles[:end]
                tables[mover] = tables[mover]._replace(profiles=grown)
            elif found == SCRATCH_FULL:
                if (capacity := 2 * len(self._scratch.buffer)) > MAX_PROFILES:
                    raise TooLarge(
                        f"{board.game.id}: a position has more than {MAX_PROFILES:,} profiles; choose a smaller start"
                    )
                self._scratch = make_scratch(self._size, capacity)
            else:
                return int(found)

    def _report(self, solved: int, size: int) -> None:
        """Count solved positions, and the memory in use; TooLarge beyond the limit."""
        self.states += solved
        self.bytes = max(self.bytes, size)
        check_bytes(self._board.game, self.bytes, self._max_bytes)
        if self._progress is not None:
            self._progress(self.states, self.bytes)


def _unpack(outcome: int, size: int) -> Outcome:
    winner, captures = outcome // (size * size), outcome % (size * size)
    return (1 - 2 * winner, captures // size), (2 * winner - 1, captures % size)


def find_speed_outcome(guaranteed: Sequence[NDArray[np.float64]]) -> tuple[int, float]:
    """Return the winner and its speed in every equilibrium for the objectives win and speed, from what both agents guarantee.

    guaranteed    for each agent the front of the vectors (win, speed) that it can guarantee, float64[n, 2]

    The vectors of the agents are opposite to each other. Let the winner guarantee (1, s), and the loser (-1, -s). A return of
    the winner below s, or a loss, whose speed is below LONG_GAME <= s, is dominated by what it attains against any strategy;
    so is a return of the loser below -s. Hence the winner has exactly (1, s) in every Pareto-Nash equilibrium, of which the
    subgame perfect ones are a part.

    Raises    InvalidParameter if an agent can guarantee several vectors, the vectors are not opposite, or s < LONG_GAME
    """
    if [len(points) for points in guaranteed] != [1, 1] or (guaranteed[0] != -guaranteed[1]).any():
        raise InvalidParameter("expected one vector that each agent can guarantee, opposite to that of the other agent")
    winner = int(guaranteed[1][0, 0] > 0)
    speed = float(guaranteed[winner][0, 1])
    if speed < LONG_GAME:
        raise InvalidParameter(f"invalid speed={speed:g}: expected at least {LONG_GAME}, so that a win dominates every loss")
    return winner, speed
