"""Best responses in MO-Breakthrough to a random or greedy opponent, by dynamic programming over all positions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.strategies import WalkResult, make_reply_model, walk
from momagames.contract import Game
from momagames.errors import InvalidParameter, TooLarge
from momagames.games.breakthrough.solver.guarantees import Board, Progress, Words, check_bytes, chunk_slices
from momagames.games.breakthrough.solver.response_kernels import BUFFER_FULL, compile_response_loops

Floats = NDArray[np.float64]
INITIAL_CAPACITY = 1 << 14  # corners in the buffers that merge chains


@dataclass
class ChainLayer:
    """Positions after a number of moves, and the corners of their fronts.

    words     uint64[N], ascending
    starts    int64[N + 1], the start of each position's points
    points    float64[..., 2]
    """

    words: Words
    starts: NDArray[np.int64]
    points: Floats


EMPTY_LAYER = ChainLayer(np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros((0, 2)))


@dataclass(frozen=True)
class ResponseFront:
    """Best responses of an agent.

    opponent_weights   weights of the opponent's greedy policy, float64[K]; all zero: uniformly random actions
    points             float64[n, 2], the corners of the convex front of expected returns, ascending in the first objective
    corner_weights     float64[n, 2], for each corner utility weights for which it is optimal
    """

    board: Board
    opponent_weights: Floats
    layers: list[ChainLayer]
    points: Floats
    corner_weights: Floats
    states: int
    bytes: int
    seconds: float


def solve_best_responses(
    game: Game,
    start: Any,
    agent: int,
    opponent_weights: Floats,
    *,
    max_states: int,
    max_bytes: int,
    progress: Progress | None = None,
) -> ResponseFront:
    """Compute the convex front of the expected returns of all policies against an opponent, for two objectives.

    Its corners are attained by deterministic policies. Where the agent moves, the front is the convex hull of the fronts of
    the next positions. Where the opponent moves, it is their Minkowski sum, weighted by the reply probabilities. Corners
    that deviate by less than 1e-14 from a line are dropped.

    Source: Wiering and de Jong, "Computing optimal stationary policies for multi-objective Markov decision processes", 2007;
    Barrett and Narayanan, "Learning all optimal policies with multiple criteria", 2008 (convex hull value iteration).

    Raises InvalidParameter for another game or number of objectives; TooLarge; InvalidState
    """
    if len(game.objectives) != 2:
        raise InvalidParameter(f"{game.id}: invalid number of objectives={len(game.objectives)}: expected 2 for best responses")
    start_time = time.perf_counter()
    board = Board(game, start, agent, max_states)
    states = size = 0
    layers, next_layer = [], EMPTY_LAYER
    for moves in reversed(range(len(board.layers))):
        counts, points = [], []
        for chunk in chunk_slices(len(board.layers[moves])):
            chunk_counts, chunk_points = _solve_chunk(board, opponent_weights, board.layers[moves][chunk], moves, next_layer)
            counts.append(chunk_counts)
            points.append(chunk_points)
            states += len(chunk_counts)
            size += 16 * len(chunk_counts) + chunk_points.nbytes
            check_bytes(game, size, max_bytes)
            if progress is not None:
                progress(states, size)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
        next_layer = ChainLayer(board.layers[moves], starts, np.concatenate(points))
        layers.append(next_layer)
    chain = next_layer.points
    return ResponseFront(
        board,
        opponent_weights,
        layers[::-1],
        chain[::-1].copy(),
        compute_corner_weights(chain)[::-1],
        states,
        size,
        time.perf_counter() - start_time,
    )


def _solve_chunk(
    board: Board, opponent_weights: Floats, words: Words, moves: int, next_layer: ChainLayer
) -> tuple[NDArray[np.int64], Floats]:
    counts, num_points, capacity = np.zeros(len(words), np.int64), 64 * len(words), INITIAL_CAPACITY
    while True:
        points = np.zeros((num_points, 2))
        buffers = [np.zeros((capacity, 2)) for _ in range(3)]
        end = compile_response_loops(board.game).solve_layer(
            words, board.ply + moves, board.mover_after(moves), board.agent, opponent_weights, board.trial,
            next_layer.words, next_layer.starts, next_layer.points, counts, points, np.zeros(board.game.mask_size), *buffers,
        )  # fmt: skip
        if end != BUFFER_FULL:
            return counts, points[:end].copy()
        num_points, capacity = 2 * num_points, 2 * capacity
        if num_points > 1 << 28:
            raise TooLarge(f"{board.game.id}: the fronts have too many corners; choose a smaller start")


def compute_corner_weights(chain: Floats) -> Floats:
    """Compute for each corner of a chain weights between the normals of its two edges."""
    edges = np.diff(chain, axis=0)
    normals = np.stack([edges[:, 1], -edges[:, 0]], axis=1)
    normals /= normals.sum(axis=1, keepdims=True)
    normals = np.concatenate([[[1.0, 0.0]], normals, [[0.0, 1.0]]])
    weights: Floats = (normals[:-1] + normals[1:]) / 2
    return weights


def best_response_value(board: Board, opponent_weights: Floats, utility_weights: Floats) -> float:
    """Compute the largest expected weighted sum of returns by scalar dynamic programming."""
    loops = compile_response_loops(board.game)
    next_layer, values = np.zeros(0, np.uint64), np.zeros(0)
    for moves in reversed(range(len(board.layers))):
        words = board.layers[moves]
        new_values = np.zeros(len(words))
        for chunk in chunk_slices(len(words)):
            loops.solve_scalarized(
                words[chunk], board.ply + moves, board.mover_after(moves), board.agent, opponent_weights, utility_weights,
                board.trial, next_layer, values, np.zeros(board.game.mask_size), new_values[chunk],
            )  # fmt: skip
        next_layer, values = words, new_values
    return float(values[0])


def response_strategy(front: ResponseFront, utility_weights: Floats) -> tuple[WalkResult, list[int]]:
    """Return the evaluation of an optimal policy for utility weights, and its actions in the order of the walk."""
    board, loops = front.board, compile_response_loops(front.board.game)
    actions: list[int] = []

    def choose(states: NDArray[Any], returns: Floats) -> NDArray[np.int64]:
        moves = int(states["ply"][0]) - board.ply
        next_layer = front.layers[moves + 1] if moves + 1 < len(front.layers) else EMPTY_LAYER
        chosen = np.full(len(states), -1, np.int64)
        loops.choose(
            states, board.agent, utility_weights, board.trial, next_layer.words, next_layer.starts, next_layer.points, chosen
        )
        actions.extend(chosen.tolist())
        return chosen

    return walk(board.game, board.start, board.agent, choose, make_reply_model(board.game, front.opponent_weights)), actions
