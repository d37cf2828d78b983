"""Best responses in MO-Breakthrough to an opponent that plays by lot, by dynamic programming over all positions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.strategies import Walked, step_all, walk
from momagames.contract import Game
from momagames.errors import InvalidParameter, TooLarge
from momagames.games.breakthrough.solver.guarantees import Board, Progress, Words, check_bytes, parts
from momagames.games.breakthrough.solver.response_kernels import FULL, reply_loops

Floats = NDArray[np.float64]
ROOM = 1 << 14  # corners of the buffers in which chains are merged


@dataclass
class Chains:
    """The positions after so many moves, and the corners of each front: words uint64[N], starts int64[N + 1], points
    float64[..., 2]."""

    words: Words
    starts: NDArray[np.int64]
    points: Floats


NOTHING = Chains(np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros((0, 2)))


@dataclass(frozen=True)
class Responses:
    """The best responses of an agent.

    weights   of the other's greedy play, float64[K]; all zero: it plays anything legal
    points    float64[n, 2], the corners of the convex front of expected returns, ascending in the first objective
    users     float64[n, 2], for each corner weights for which it is the best
    """

    board: Board
    weights: Floats
    layers: list[Chains]
    points: Floats
    users: Floats
    states: int
    bytes: int
    seconds: float


def responses(
    game: Game, start: Any, agent: int, weights: Floats, *, max_states: int, max_bytes: int, progress: Progress | None = None
) -> Responses:
    """The corners of the convex hull of the expected returns of all policies against an opponent, as far as they are on the
    front; for two objectives. Each is attained by a policy without chance.

    Where the agent moves the front is the hull of those behind its moves, where the other does it is the sum of those behind
    its moves, each times its chance (Minkowski sum). Numbers are rounded: corners that stand out by less than 1e-14 are left
    out. Source: Wiering and de Jong, "Computing optimal stationary policies for multi-objective Markov decision processes",
    2007; Barrett and Narayanan, "Learning all optimal policies with multiple criteria", 2008 (convex hull value iteration).

    Raises InvalidParameter for another game or number of objectives; TooLarge; InvalidState
    """
    if len(game.objectives) != 2:
        raise InvalidParameter(
            f"{game.id}: best responses need 2 objectives; there are {len(game.objectives)}: name two of them"
        )
    began = time.perf_counter()
    board = Board(game, start, agent, max_states)
    states = size = 0
    layers, after = [], NOTHING
    for moves in reversed(range(len(board.layers))):
        counts, points = [], []
        for part in parts(len(board.layers[moves])):
            own_counts, own_points = _respond(board, weights, board.layers[moves][part], moves, after)
            counts.append(own_counts)
            points.append(own_points)
            states += len(own_counts)
            size += 16 * len(own_counts) + own_points.nbytes
            check_bytes(game, size, max_bytes)
            if progress is not None:
                progress(states, size)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
        after = Chains(board.layers[moves], starts, np.concatenate(points))
        layers.append(after)
    chain = after.points
    return Responses(
        board, weights, layers[::-1], chain[::-1].copy(), users(chain)[::-1], states, size, time.perf_counter() - began
    )


def _respond(board: Board, weights: Floats, words: Words, moves: int, after: Chains) -> tuple[NDArray[np.int64], Floats]:
    counts, many, room = np.zeros(len(words), np.int64), 64 * len(words), ROOM
    while True:
        points = np.zeros((many, 2))
        buffers = [np.zeros((room, 2)) for _ in range(3)]
        end = reply_loops(board.game).respond(
            words, board.ply + moves, board.mover_after(moves), board.agent, weights, *board.desk,
            after.words, after.starts, after.points, counts, points, np.zeros(board.game.mask_size), *buffers,
        )  # fmt: skip
        if end != FULL:
            return counts, points[:end].copy()
        many, room = 2 * many, 2 * room
        if many > 1 << 28:
            raise TooLarge(f"{board.game.id}: the fronts have too many corners; take a smaller start")


def users(chain: Floats) -> Floats:
    """For each corner of a chain weights between those of its two edges."""
    edges = np.diff(chain, axis=0)
    normals = np.stack([edges[:, 1], -edges[:, 0]], axis=1)
    normals /= normals.sum(axis=1, keepdims=True)
    normals = np.concatenate([[[1.0, 0.0]], normals, [[0.0, 1.0]]])
    between: Floats = (normals[:-1] + normals[1:]) / 2
    return between


def best_response_value(board: Board, weights: Floats, user: Floats) -> float:
    """The largest expected weighted sum of returns, by dynamic programming over single numbers."""
    loops = reply_loops(board.game)
    after, values = np.zeros(0, np.uint64), np.zeros(0)
    for moves in reversed(range(len(board.layers))):
        words = board.layers[moves]
        here = np.zeros(len(words))
        for part in parts(len(words)):
            loops.scalar(
                words[part], board.ply + moves, board.mover_after(moves), board.agent, weights, user, *board.desk,
                after, values, np.zeros(board.game.mask_size), here[part],
            )  # fmt: skip
        after, values = words, here
    return float(values[0])


def response_strategy(found: Responses, user: Floats) -> tuple[Walked, list[int]]:
    """The policy that is the best for a user's weights: what comes of it, and its actions in the order of the walk."""
    board, loops = found.board, reply_loops(found.board.game)
    actions: list[int] = []

    def choose(states: NDArray[Any], got: Floats) -> NDArray[np.int64]:
        moves = int(states["ply"][0]) - board.ply
        after = found.layers[moves + 1] if moves + 1 < len(found.layers) else NOTHING
        chosen = np.full(len(states), -1, np.int64)
        loops.choose(states, board.agent, user, *board.desk, after.words, after.starts, after.points, chosen)
        actions.extend(chosen.tolist())
        return chosen

    return walk(board.game, board.start, board.agent, choose, replies(board.game, found.weights)), actions


def replies(game: Game, weights: Floats) -> Any:
    """How likely the replies of a greedy opponent are (all weights zero: of a random one), for `walk`."""

    def likely(states: NDArray[Any], masks: NDArray[np.int8]) -> Floats:
        places, actions = np.nonzero(masks)
        _, rewards = step_all(game, states[places], actions)
        own = rewards[np.arange(len(places)), states["to_move"][places]].astype(np.float64)
        value = np.zeros(len(places))
        for k, weight in enumerate(weights):
            value += weight * own[:, k]
        table = np.full(masks.shape, -np.inf)
        table[places, actions] = value
        best: NDArray[np.bool_] = (table == table.max(axis=1, keepdims=True)) & (masks != 0)
        chances: Floats = best / best.sum(axis=1, keepdims=True)
        return chances

    return likely
