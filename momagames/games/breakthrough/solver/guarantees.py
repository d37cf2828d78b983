"""Guaranteed fronts of MO-Breakthrough, by dynamic programming over all positions of a small board."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.strategies import WalkResult, walk
from momagames.contract import Game
from momagames.engine.lookahead import make_trial
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter, TooLarge
from momagames.games.breakthrough.rules import SPEED, WIN
from momagames.games.breakthrough.solver.guarantee_kernels import BUFFER_FULL, compile_guarantee_loops
from momagames.games.breakthrough.solver.packed_words import BIAS, HALF, LANE_BITS, MAX_CELLS, NUM_LANES

CHUNK_POSITIONS = 1 << 13  # positions per call of a compiled loop, which Ctrl-C and `progress` wait for
INITIAL_CAPACITY = 1 << 20  # vectors in the buffers that merge fronts

Progress = Callable[[int, int], None]
Words = NDArray[np.uint64]


@dataclass
class Layer:
    """All positions after a number of moves, one of each mirrored pair.

    words     uint64[N], ascending
    starts    int64[N + 1], the start of each position's points
    points    uint64[...], see packed_words.py
    """

    words: Words
    starts: NDArray[np.int64]
    points: Words


EMPTY_LAYER = Layer(np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.uint64))


class Board:
    """A start position of MO-Breakthrough, and the agent to solve it for.

    `layers` raises InvalidParameter for more than 32 cells, and TooLarge for more than `max_states` positions.
    """

    def __init__(self, game: Game, start: Any, agent: int, max_states: int = 2**62) -> None:
        if game.rules_key != "breakthrough":
            raise InvalidParameter(f"{game.id}: this solver needs MO-Breakthrough")
        self.game, self.agent, self.max_states = game, agent, max_states
        self.start = load_state(game, start)
        self.loops = compile_guarantee_loops(game)
        self.ply, self.mover = int(self.start["ply"][0]), int(self.start["to_move"][0])
        self.columns = np.argsort(self.start["column"][0])[-len(game.objectives) :].astype(np.int64)
        width, height = int(self.start["width"][0]), int(self.start["height"][0])
        self.scale = 4 * width * (height - 3) + 1
        self.units = np.array([{WIN: 1, SPEED: self.scale}.get(int(c), 2 * width) for c in self.columns], np.float64)
        self.trial = make_trial(game)
        self.trial.states[:] = self.start

    def mover_after(self, moves: int) -> int:
        """Return the agent to move after a number of moves."""
        return (self.mover + moves) % 2

    @cached_property
    def layers(self) -> list[Words]:
        """Positions after 0, 1, 2, ... moves."""
        check_cells(self.game, MAX_CELLS)
        words = self.pack_states(self.start)
        found: list[Words] = []
        while len(words):
            found.append(words)
            check_states(self.game, sum(map(len, found)), self.max_states)
            moves, new = len(found) - 1, []
            for chunk in chunk_slices(len(words)):
                out = np.zeros(len(words[chunk]) * self.game.mask_size, np.uint64)
                count = self.loops.list_successors(words[chunk], self.ply + moves, self.mover_after(moves), self.trial, out)
                new.append(np.unique(out[:count]))
            words = np.unique(np.concatenate(new))
        return found

    def pack_states(self, states: NDArray[Any]) -> Words:
        """Return the words of states, record[n]: the smaller one of a position and its mirror image."""
        words = read_words(states)
        return np.minimum(words, mirror_words(words, int(self.start["width"][0]), int(self.start["height"][0])))

    def unpack(self, points: Words) -> NDArray[np.int64]:
        """Unpack vectors: uint64[n] -> int64[n, K], in units."""
        shifts = np.arange(len(self.units), dtype=np.uint64) * np.uint64(LANE_BITS)
        return ((points[:, None] >> shifts) & np.uint64((1 << LANE_BITS) - 1)).astype(np.int64) - BIAS

    def pack(self, values: NDArray[np.int64]) -> Words:
        """Pack vectors: int64[n, K] -> uint64[n]."""
        lanes = np.full((len(values), NUM_LANES), BIAS, np.uint64)
        lanes[:, : values.shape[1]] = (values + BIAS).astype(np.uint64)
        shifts = np.arange(NUM_LANES, dtype=np.uint64) * np.uint64(LANE_BITS)
        packed: Words = np.bitwise_or.reduce(lanes << shifts, axis=1)
        return packed

    def to_units(self, returns: NDArray[np.float64]) -> NDArray[np.int64]:
        """Convert returns float64[n, K] to whole numbers of units."""
        return np.rint(returns * self.units).astype(np.int64)


def count_cells(game: Game) -> int:
    """Return the number of cells of the board."""
    return int(game.params["board_width"] * game.params["board_height"])


def check_cells(game: Game, limit: int) -> None:
    """Raise InvalidParameter for a board of more cells than allowed."""
    if (cells := count_cells(game)) > limit:
        raise InvalidParameter(f"{game.id}: this solver needs a board of at most {limit} cells; this one has {cells}")


@dataclass(frozen=True)
class GuaranteedFront:
    """Front of the return vectors that an agent can guarantee.

    board     the game, the start and the agent
    layers    all positions with their fronts, by number of moves
    points    int64[n, K], the front of the start in units of the objectives, in ascending lexicographic order
    states    number of solved positions, mirror images counted once
    bytes     memory of the layers
    """

    board: Board
    layers: list[Layer]
    points: NDArray[np.int64]
    states: int
    bytes: int
    seconds: float


def solve_guaranteed_front(
    game: Game, start: Any, agent: int, *, max_states: int, max_bytes: int, progress: Progress | None = None
) -> GuaranteedFront:
    """Compute the Pareto front of the vectors that an agent can guarantee against every reply, by deterministic strategies.

    The guaranteed vectors of a position are those that its front weakly dominates. Where the agent moves, they are the union
    over its moves. Where the opponent moves, they are the intersection over the replies; its front consists of element-wise
    minima of points, one for each reply (backward induction for vector payoffs; after Shapley, "Equilibrium points in games
    with vector payoffs", Naval Research Logistics 6, 1959).

    start     a position: a record, its dict form or its text
    agent     0 or 1
    Raises    InvalidParameter for another game or more than 32 cells; TooLarge beyond max_states or max_bytes; InvalidState
    """
    start_time = time.perf_counter()
    board = Board(game, start, agent, max_states)
    solver = _BackwardInduction(board, max_bytes, progress)
    layers = solver.solve()
    points = board.unpack(layers[0].points)
    return GuaranteedFront(
        board, layers, points[np.lexsort(points.T[::-1])], solver.states, solver.bytes, time.perf_counter() - start_time
    )


class _BackwardInduction:
    """Solution of the layers from the last to the first."""

    def __init__(self, board: Board, max_bytes: int, progress: Progress | None) -> None:
        self.board, self.max_bytes, self.progress = board, max_bytes, progress
        self.states = self.bytes = 0
        self.first, self.second = np.zeros(INITIAL_CAPACITY, np.uint64), np.zeros(INITIAL_CAPACITY, np.uint64)

    def solve(self) -> list[Layer]:
        """Return all layers, by number of moves."""
        next_layer = EMPTY_LAYER
        found = []
        for moves in reversed(range(len(self.board.layers))):
            next_layer = self._solve_layer(moves, next_layer)
            found.append(next_layer)
        return found[::-1]

    def _solve_layer(self, moves: int, next_layer: Layer) -> Layer:
        words = self.board.layers[moves]
        counts, points = [], []
        for chunk in chunk_slices(len(words)):
            chunk_counts, chunk_points = self._solve_chunk(words[chunk], moves, next_layer)
            counts.append(chunk_counts)
            points.append(chunk_points)
            self.states += len(chunk_counts)
            self.bytes += 16 * len(chunk_counts) + chunk_points.nbytes
            check_bytes(self.board.game, self.bytes, self.max_bytes)
            if self.progress is not None:
                self.progress(self.states, self.bytes)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
        return Layer(words, starts, np.concatenate(points))

    def _solve_chunk(self, words: Words, moves: int, next_layer: Layer) -> tuple[NDArray[np.int64], Words]:
        board = self.board
        counts, capacity = np.zeros(len(words), np.int64), 16 * len(words)
        while True:
            points = np.zeros(capacity, np.uint64)
            end = board.loops.solve_layer(
                words, board.ply + moves, board.mover_after(moves), board.agent, board.units, board.trial,
                next_layer.words, next_layer.starts, next_layer.points, counts, points, self.first, self.second,
            )  # fmt: skip
            if end != BUFFER_FULL:
                return counts, points[:end].copy()
            capacity *= 2
            if capacity > 1 << 30:
                raise TooLarge(
                    f"{board.game.id}: a front has more than {INITIAL_CAPACITY:,} points to be merged; choose fewer objectives"
                )
            self.first, self.second = np.zeros(2 * len(self.first), np.uint64), np.zeros(2 * len(self.first), np.uint64)


def can_guarantee(board: Board, thresholds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each vector int64[n, K] whether the agent can guarantee it.

    The method is independent of `solve_guaranteed_front`: it solves the win-loss game in which the agent wins if the vector is
    reached, 64 vectors at a time.
    """
    results = []
    for first in range(0, len(thresholds), 64):
        batch = np.ascontiguousarray(thresholds[first : first + 64])
        initial_counts = np.array([board.start["count"][0, board.agent], board.start["count"][0, 1 - board.agent]], np.int64)
        next_layer, bits = np.zeros(0, np.uint64), np.zeros(0, np.uint64)
        for moves in reversed(range(len(board.layers))):
            words = board.layers[moves]
            new_bits = np.zeros(len(words), np.uint64)
            for chunk in chunk_slices(len(words)):
                board.loops.solve_threshold_games(
                    words[chunk], board.ply + moves, board.mover_after(moves), board.agent, board.units, board.columns,
                    initial_counts, batch, board.trial, next_layer, bits, new_bits[chunk],
                )  # fmt: skip
            next_layer, bits = words, new_bits
        results += [bool(int(bits[0]) >> i & 1) for i in range(len(batch))]
    return np.array(results, np.bool_)


def minimal_uncovered(points: NDArray[np.int64], lowest: NDArray[np.int64], highest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the minimal vectors of the grid lowest..highest that no point weakly dominates, int64[m, K].

    If none of them can be guaranteed, no vector beyond the points can.
    """
    corners = {tuple(lowest.tolist())}
    for point in points.tolist():
        split = {c for c in corners if all(a <= b for a, b in zip(c, point, strict=True))}
        corners -= split
        for corner in split:
            for k, value in enumerate(point):
                if value < highest[k]:
                    corners.add((*corner[:k], value + 1, *corner[k + 1 :]))
        corners = {c for c in corners if not any(o != c and all(a <= b for a, b in zip(o, c, strict=True)) for o in corners)}
    return np.array(sorted(corners), np.int64).reshape(-1, points.shape[1])


def check_states(game: Game, states: int, limit: int) -> None:
    """Raise TooLarge for more positions than allowed."""
    if states > limit:
        raise TooLarge(
            f"{game.id}: more than max_states={limit:,} positions are reachable; raise the limit or choose a smaller start"
        )


def check_bytes(game: Game, size: int, limit: int) -> None:
    """Raise TooLarge for more memory than allowed."""
    if size > limit:
        raise TooLarge(f"{game.id}: the fronts take more than max_bytes={limit:,}; raise the limit or choose a smaller start")


def chunk_slices(count: int) -> list[slice]:
    """Return slices of that many positions, one per call of a compiled loop."""
    return [slice(first, first + CHUNK_POSITIONS) for first in range(0, count, CHUNK_POSITIONS)]


def read_words(states: NDArray[Any]) -> Words:
    """Return the words of states, record[n], without regard to mirror images."""
    words: Words = states["pieces"][:, 0, 1] | states["pieces"][:, 1, 1] << HALF
    return words


def mirror_words(words: Words, width: int, height: int) -> Words:
    """Return the words of the mirror images."""
    column = np.uint64(((1 << height) - 1) * ((1 << 32) + 1))
    out = np.zeros_like(words)
    for x in range(width):
        out |= ((words >> np.uint64(x * height)) & column) << np.uint64((width - 1 - x) * height)
    return out


def guarantee_strategy(front: GuaranteedFront, point: NDArray[np.int64]) -> tuple[WalkResult, list[int]]:
    """Return the evaluation of a strategy that guarantees a point of the front, and its actions in the order of the walk."""
    board = front.board
    actions: list[int] = []

    def choose(states: NDArray[Any], returns: NDArray[np.float64]) -> NDArray[np.int64]:
        moves = int(states["ply"][0]) - board.ply
        next_layer = front.layers[moves + 1] if moves + 1 < len(front.layers) else EMPTY_LAYER
        targets = board.pack(point - board.to_units(returns))
        chosen = np.full(len(states), -1, np.int64)
        board.loops.choose(
            states,
            targets,
            board.agent,
            board.units,
            board.trial,
            next_layer.words,
            next_layer.starts,
            next_layer.points,
            chosen,
        )
        actions.extend(chosen.tolist())
        return chosen

    return walk(board.game, board.start, board.agent, choose), actions
