"""What a player of MO-Breakthrough can guarantee, by dynamic programming over all positions of a small board."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.strategies import Walked, walk
from momagames.contract import Game
from momagames.engine.episode import loaded
from momagames.errors import InvalidParameter, TooLarge
from momagames.games.breakthrough.rules import SPEED, WIN
from momagames.games.breakthrough.solver.guarantee_kernels import FULL, loops
from momagames.games.breakthrough.solver.packed_words import BIAS, LANE, LANES, MOST_CELLS

CHUNK = 1 << 13  # positions between two looks at Ctrl-C and at `progress`
ROOM = 1 << 20  # vectors of the buffers in which fronts are merged

Progress = Callable[[int, int], None]
Words = NDArray[np.uint64]


@dataclass
class Layer:
    """All positions after so many moves, one of each mirrored pair.

    words     uint64[N], ascending
    starts    int64[N + 1], where the points of each begin;  points  uint64[...], see words.py
    """

    words: Words
    starts: NDArray[np.int64]
    points: Words


NOTHING = Layer(np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.uint64))


class Board:
    """A game of MO-Breakthrough that is small enough, and a position of it, seen by one agent. More positions than
    `max_states` are refused (TooLarge) when the layers are asked for."""

    def __init__(self, game: Game, start: Any, agent: int, max_states: int = 2**62) -> None:
        if (reason := misfit(game)) is not None:
            raise InvalidParameter(f"{game.id}: guaranteed fronts need {reason}")
        self.game, self.agent, self.max_states = game, agent, max_states
        self.start = loaded(game, start)
        self.loops = loops(game)
        self.ply, self.mover = int(self.start["ply"][0]), int(self.start["to_move"][0])
        self.columns = np.argsort(self.start["column"][0])[-len(game.objectives) :].astype(np.int64)
        width, height = int(self.start["width"][0]), int(self.start["height"][0])
        self.scale = 4 * width * (height - 3) + 1
        self.units = np.array([{WIN: 1, SPEED: self.scale}.get(int(c), 2 * width) for c in self.columns], np.float64)
        self.desk = (
            np.concatenate([self.start, self.start]),
            np.zeros(game.mask_size, np.int8),
            np.zeros((1, 1), np.int64),
            np.zeros((2, len(game.objectives)), np.float32),
        )

    def mover_after(self, moves: int) -> int:
        return (self.mover + moves) % 2

    @cached_property
    def layers(self) -> list[Words]:
        """The positions after 0, 1, 2, ... moves."""
        pieces = self.start["pieces"][0, :, 1]
        words = np.array([pieces[0] | pieces[1] << np.uint64(32)], np.uint64)
        words = np.minimum(words, _mirrored(words, int(self.start["width"][0]), int(self.start["height"][0])))
        found = []
        while len(words):
            found.append(words)
            check_states(self.game, sum(map(len, found)), self.max_states)
            moves = len(found) - 1
            new = []
            for part in parts(len(words)):
                out = np.zeros(len(words[part]) * self.game.mask_size, np.uint64)
                count = self.loops.grow(words[part], self.ply + moves, self.mover_after(moves), *self.desk, out)
                new.append(np.unique(out[:count]))
            words = np.unique(np.concatenate(new))
        return found

    def unpack(self, points: Words) -> NDArray[np.int64]:
        """uint64[n] -> int64[n, K], in units."""
        shifts = np.arange(len(self.units), dtype=np.uint64) * np.uint64(LANE)
        return ((points[:, None] >> shifts) & np.uint64((1 << LANE) - 1)).astype(np.int64) - BIAS

    def pack(self, values: NDArray[np.int64]) -> Words:
        """int64[n, K] -> uint64[n]"""
        lanes = np.full((len(values), LANES), BIAS, np.uint64)
        lanes[:, : values.shape[1]] = (values + BIAS).astype(np.uint64)
        shifts = np.arange(LANES, dtype=np.uint64) * np.uint64(LANE)
        packed: Words = np.bitwise_or.reduce(lanes << shifts, axis=1)
        return packed

    def in_units(self, returns: NDArray[np.float64]) -> NDArray[np.int64]:
        """Returns float64[n, K] of the engine as whole numbers of units."""
        return np.rint(returns * self.units).astype(np.int64)


def misfit(game: Game) -> str | None:
    """What a game must be that this method fits, if it is not."""
    if game.rules_key != "breakthrough":
        return "MO-Breakthrough"
    cells = game.params["board_width"] * game.params["board_height"]
    return f"a board of at most {MOST_CELLS} cells; this one has {cells}" if cells > MOST_CELLS else None


@dataclass(frozen=True)
class GuaranteedFront:
    """What an agent can guarantee.

    board     the game, the start and the agent
    layers    after each number of moves every position with its front
    points    int64[n, K], the front of the start in units of the objectives, in ascending lexicographic order
    states    positions solved, mirror images counted once
    bytes     of the layers
    """

    board: Board
    layers: list[Layer]
    points: NDArray[np.int64]
    states: int
    bytes: int
    seconds: float


def guaranteed(
    game: Game, start: Any, agent: int, *, max_states: int, max_bytes: int, progress: Progress | None = None
) -> GuaranteedFront:
    """The Pareto front of the vectors that an agent can guarantee against every reply, by strategies without chance.

    The vectors that can be guaranteed from a position are all that are dominated by a front. Where the agent moves they are
    the union over its moves, where the other does they are what all its moves have in common: the front is then that of the
    element-wise minima of points, one for each reply (backward induction for vector payoffs; after Shapley, "Equilibrium
    points in games with vector payoffs", Naval Research Logistics 6, 1959).

    start     a position: a record, its dict form or its text
    agent     0 or 1
    Raises    InvalidParameter for another game or more than 32 cells; TooLarge beyond max_states or max_bytes; InvalidState
    """
    began = time.perf_counter()
    board = Board(game, start, agent, max_states)
    solver = _Backwards(board, max_bytes, progress)
    layers = solver.layers()
    points = board.unpack(layers[0].points)
    return GuaranteedFront(
        board, layers, points[np.lexsort(points.T[::-1])], solver.states, solver.bytes, time.perf_counter() - began
    )


class _Backwards:
    """Solves the layers from the last to the first."""

    def __init__(self, board: Board, max_bytes: int, progress: Progress | None) -> None:
        self.board, self.max_bytes, self.progress = board, max_bytes, progress
        self.states = self.bytes = 0
        self.first, self.second = np.zeros(ROOM, np.uint64), np.zeros(ROOM, np.uint64)

    def layers(self) -> list[Layer]:
        after = NOTHING
        found = []
        for moves in reversed(range(len(self.board.layers))):
            after = self._layer(moves, after)
            found.append(after)
        return found[::-1]

    def _layer(self, moves: int, after: Layer) -> Layer:
        words = self.board.layers[moves]
        counts, points = [], []
        for part in parts(len(words)):
            own_counts, own_points = self._settle(words[part], moves, after)
            counts.append(own_counts)
            points.append(own_points)
            self.states += len(own_counts)
            self.bytes += 16 * len(own_counts) + own_points.nbytes
            check_bytes(self.board.game, self.bytes, self.max_bytes)
            if self.progress is not None:
                self.progress(self.states, self.bytes)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
        return Layer(words, starts, np.concatenate(points))

    def _settle(self, words: Words, moves: int, after: Layer) -> tuple[NDArray[np.int64], Words]:
        board = self.board
        counts, room = np.zeros(len(words), np.int64), 16 * len(words)
        while True:
            points = np.zeros(room, np.uint64)
            end = board.loops.settle(
                words, board.ply + moves, board.mover_after(moves), board.agent, board.units, *board.desk,
                after.words, after.starts, after.points, counts, points, self.first, self.second,
            )  # fmt: skip
            if end != FULL:
                return counts, points[:end].copy()
            room *= 2
            if room > 1 << 30:
                raise TooLarge(f"{board.game.id}: a front has more than {ROOM:,} points to be merged; name fewer objectives")
            self.first, self.second = np.zeros(2 * len(self.first), np.uint64), np.zeros(2 * len(self.first), np.uint64)


def can_guarantee(board: Board, asked: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each vector int64[n, K] whether the agent can guarantee it, by another method than `guaranteed`: the game in which
    one player wins if the vector is reached is solved, 64 vectors at a time."""
    sure = []
    for first in range(0, len(asked), 64):
        part = np.ascontiguousarray(asked[first : first + 64])
        begun = np.array([board.start["count"][0, board.agent], board.start["count"][0, 1 - board.agent]], np.int64)
        after, bits = np.zeros(0, np.uint64), np.zeros(0, np.uint64)
        for moves in reversed(range(len(board.layers))):
            words = board.layers[moves]
            here = np.zeros(len(words), np.uint64)
            for place in parts(len(words)):
                board.loops.reach(
                    words[place], board.ply + moves, board.mover_after(moves), board.agent, board.units, board.columns,
                    begun, part, *board.desk, after, bits, here[place],
                )  # fmt: skip
            after, bits = words, here
        sure += [bool(int(bits[0]) >> i & 1) for i in range(len(part))]
    return np.array(sure, np.bool_)


def minimal_uncovered(points: NDArray[np.int64], least: NDArray[np.int64], most: NDArray[np.int64]) -> NDArray[np.int64]:
    """The smallest vectors of the grid least..most that no point covers, int64[m, K]: if none of these can be guaranteed,
    nothing beyond the points can."""
    corners = {tuple(least.tolist())}
    for point in points.tolist():
        split = {c for c in corners if all(a <= b for a, b in zip(c, point, strict=True))}
        corners -= split
        for corner in split:
            for k, value in enumerate(point):
                if value < most[k]:
                    corners.add((*corner[:k], value + 1, *corner[k + 1 :]))
        corners = {c for c in corners if not any(o != c and all(a <= b for a, b in zip(o, c, strict=True)) for o in corners)}
    return np.array(sorted(corners), np.int64).reshape(-1, points.shape[1])


def check_states(game: Game, states: int, most: int) -> None:
    """Raise TooLarge for more positions than allowed."""
    if states > most:
        raise TooLarge(f"{game.id}: more than max_states={most:,} positions can come up; raise it, or take a smaller start")


def check_bytes(game: Game, size: int, most: int) -> None:
    """Raise TooLarge for more memory than allowed."""
    if size > most:
        raise TooLarge(f"{game.id}: the fronts take more than max_bytes={most:,}; raise it, or take a smaller start")


def parts(count: int) -> list[slice]:
    """Slices of so many positions, one for each look at the clock."""
    return [slice(first, first + CHUNK) for first in range(0, count, CHUNK)]


def _mirrored(words: Words, width: int, height: int) -> Words:
    column = np.uint64(((1 << height) - 1) * ((1 << 32) + 1))
    out = np.zeros_like(words)
    for x in range(width):
        out |= ((words >> np.uint64(x * height)) & column) << np.uint64((width - 1 - x) * height)
    return out


def witness(found: GuaranteedFront, point: NDArray[np.int64]) -> tuple[Walked, list[int]]:
    """A strategy that guarantees a point of the front: what comes of it, and its actions in the order of the walk."""
    board = found.board
    actions: list[int] = []

    def choose(states: NDArray[Any], got: NDArray[np.float64]) -> NDArray[np.int64]:
        moves = int(states["ply"][0]) - board.ply
        after = found.layers[moves + 1] if moves + 1 < len(found.layers) else NOTHING
        wants = board.pack(point - board.in_units(got))
        chosen = np.full(len(states), -1, np.int64)
        board.loops.choose(
            states, wants, board.agent, board.units, *board.desk, after.words, after.starts, after.points, chosen
        )
        actions.extend(chosen.tolist())
        return chosen

    return walk(board.game, board.start, board.agent, choose), actions
