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

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.errors import InvalidParameter, TooLarge
from momagames.games.breakthrough.rules import CAPTURES, WIN
from momagames.games.breakthrough.solver.equilibrium_kernels import MAX_CHAIN, MAX_WIDTH, WORDS, compile_equilibrium_loop
from momagames.games.breakthrough.solver.equilibrium_strategies import find_strategies
from momagames.games.breakthrough.solver.guarantee_kernels import BUFFER_FULL
from momagames.games.breakthrough.solver.guarantees import Board, Progress, check_bytes, chunk_slices

LONG_GAME = 0.25  # no loser has a higher speed (SPEC §5.2)
MAX_PROFILES = 1 << 20  # of one position
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

    with_strategies    whether to return strategies, which takes the memory of all layers
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
    size, states, total = 2 * width + 1, 0, 0
    following = _Layer.make_empty()
    words = np.zeros(0, np.uint64)
    stored: list[_Layer] = []
    for moves in reversed(range(len(board.layers))):
        parts = []
        for chunk in chunk_slices(len(board.layers[moves])):
            parts.append(_solve_chunk(board, size, board.layers[moves][chunk], moves, words, following))
            states += len(parts[-1].forced)
            total += parts[-1].bytes
            check_bytes(game, following.bytes + total + sum(one.bytes for one in stored), max_bytes)
            if progress is not None:
                progress(states, following.bytes + total)
        words, following, total = board.layers[moves], _Layer.join(parts), 0
        if with_strategies:
            stored.insert(0, following.without_profiles())
    forced, ways = [one.forced for one in stored], [one.paths for one in stored]
    paths = [64 * k + bit for k in range(WORDS) for bit in range(64) if int(following.paths[0, k]) >> bit & 1]
    perfect = sorted({int(profile) & 255 for profile in following.profiles})
    paths.sort(key=lambda one: _unpack(one, size))
    return Equilibria(
        tuple(_unpack(one, size) for one in paths),
        tuple(sorted(_unpack(one, size) for one in perfect)),
        states,
        following.bytes + sum(one.bytes for one in stored),
        time.perf_counter() - began,
        tuple(find_strategies(board, size, forced, ways, one) for one in paths) if with_strategies else (),
    )


@dataclass(frozen=True)
class _Layer:
    """Results for the positions after a number of moves, as in equilibrium_kernels.py."""

    forced: NDArray[np.uint64]
    paths: NDArray[np.uint64]
    counts: NDArray[np.int64]
    profiles: NDArray[np.int64]

    @classmethod
    def make_empty(cls) -> _Layer:
        sets = np.zeros((0, 2), np.uint64), np.zeros((0, WORDS), np.uint64)
        return cls(*sets, np.zeros(0, np.int64), np.zeros(0, np.int64))

    @classmethod
    def join(cls, parts: list[_Layer]) -> _Layer:
        return cls(
            np.concatenate([part.forced for part in parts]),
            np.concatenate([part.paths for part in parts]),
            np.concatenate([part.counts for part in parts]),
            np.concatenate([part.profiles for part in parts]),
        )

    def without_profiles(self) -> _Layer:
        return replace(self, counts=self.counts[:0], profiles=self.profiles[:0])

    @property
    def bytes(self) -> int:
        return self.forced.nbytes + self.paths.nbytes + self.counts.nbytes + self.profiles.nbytes

    @property
    def starts(self) -> NDArray[np.int64]:
        starts: NDArray[np.int64] = np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)
        return starts


def _solve_chunk(
    board: Board, size: int, words: NDArray[np.uint64], moves: int, next_words: NDArray[np.uint64], following: _Layer
) -> _Layer:
    made = np.zeros((len(words), 2), np.uint64), np.zeros((len(words), WORDS), np.uint64), np.zeros(len(words), np.int64)
    initial = np.array(board.start["count"][0], np.int64)
    rows, buffer_size = 6 * size, 1 << 12
    chains, lengths = np.zeros((4 * rows, MAX_CHAIN), np.int64), np.zeros((rows + 1, 3), np.int64)
    capacity = 64 * len(words)
    while True:
        profiles = np.zeros(capacity, np.int64)
        end = compile_equilibrium_loop(board.game)(
            words, board.ply + moves, board.mover_after(moves), initial, size, *board.scratch, next_words, following.forced,
            following.paths, following.starts, following.profiles, *made, profiles, np.zeros((rows, 2), np.int64), chains,
            lengths, np.zeros(buffer_size, np.int64),
        )  # fmt: skip
        if end != BUFFER_FULL:
            return _Layer(*made, profiles[:end].copy())
        capacity, buffer_size = 2 * capacity, 2 * buffer_size
        if buffer_size > MAX_PROFILES:
            raise TooLarge(f"{board.game.id}: a position has more than {MAX_PROFILES:,} profiles; choose a smaller start")


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
