"""The exact Pareto front of one deal, by dynamic programming from the start on, ply after ply.

It fits games without keys of positions, and games that draw during play: a state carries its luck, so that a deal is a game
without chance. What is proven of such a game holds for this deal, and for a player who knows every draw beforehand.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import is_nondominated
from momagames.baselines.base import Plan, check_together
from momagames.baselines.exact.depth_first import Front, Progress, resolve_start
from momagames.baselines.exact.label_kernels import enter, expander, merge
from momagames.baselines.exact.packed_vectors import whole
from momagames.baselines.search.heuristics import estimates
from momagames.contract import Game
from momagames.engine.playouts import buffers
from momagames.errors import InvalidParameter, TooLarge

CHUNK = 4096  # positions between two looks at `progress` and at Ctrl-C
FREE = -1  # a slot of a table


def clairvoyant_front(
    game: Game,
    state: Any = None,
    *,
    seed: int = 0,
    max_states: int,
    max_bytes: int,
    progress: Progress | None = None,
    known: Sequence[Plan] = (),
) -> Front:
    """The exact Pareto front of the returns of one deal, all its draws known beforehand.

    A layer holds the positions after so many plies, each once, with the non-dominated returns so far of all ways that lead
    to it: what is dominated there stays dominated, whatever is played behind it. Exact as the returns are: they are added
    in double precision, in the order of play.

    state, seed, max_states, max_bytes, progress, and what is raised: as for `pareto_front`; the game may have several
    agents if they all get every reward, and may draw during play

    known   complete games from this start. Of a game with an upper bound of what can still be won (see `estimates`), whose
            rewards are whole numbers, ways are then followed only as long as the bound lets them beat these; the nearer
            these are to the front, the less is searched
    """
    check_together("a proof", game)
    if known and not has_upper_bounds(game):
        raise InvalidParameter(
            f"{game.id}: known games help no proof here, for there is no upper bound of what can still be won"
        )
    began = time.perf_counter()
    search = _Layers(game, resolve_start(game, state, seed), known, max_states, max_bytes, progress)
    while search.positions.size:
        search.advance()
    points, witnesses = search.front()
    return Front(points, witnesses, search.solved, search.most, time.perf_counter() - began)


def has_upper_bounds(game: Game) -> bool:
    """Whether ways can be given up for what is known already."""
    return estimates(game) is not None and whole(game)


class _Layers:
    """The layer in hand, and of all layers how their labels came about."""

    def __init__(
        self,
        game: Game,
        start: NDArray[Any],
        known: Sequence[Plan],
        max_states: int,
        max_bytes: int,
        progress: Progress | None,
    ) -> None:
        self.game, self._max_states, self._max_bytes, self._progress = game, max_states, max_bytes, progress
        self._plans = known
        self._values = np.array([plan.value for plan in known]).reshape(len(known), len(game.objectives))
        self._known = self._values.copy()  # in whatever order serves the search
        self._expand = expander(game)
        self.positions = start[start["over"] == 0]
        self._vectors = np.zeros((1, len(game.objectives)))
        self._spans = np.array([[0, 1]], np.int64)
        self._came: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []  # for each ply: label before, action
        self._ended: list[tuple[int, NDArray[np.int64], NDArray[np.float64]]] = []  # ply, labels, their returns
        self.solved, self.most = 1, 0

    def advance(self) -> None:
        """From one layer to the next."""
        children, bounds, edges, gains = self._children()
        order = np.argsort(edges[:, 2], kind="stable").astype(np.int64)
        starts = np.searchsorted(edges[order, 2], np.arange(len(children) + 1)).astype(np.int64)
        vectors, parents, actions, ends = self._labels(order, starts, edges, gains, bounds)
        spans = np.column_stack([np.concatenate([[0], ends])[:-1], ends]).astype(np.int64)
        self._came.append((parents, actions))
        over = children["over"] != 0
        last = np.concatenate([np.arange(a, b) for a, b in spans[over]] or [np.zeros(0, np.int64)])
        if len(last):
            best = is_nondominated(vectors[last])
            self._ended.append((len(self._came), last[best], vectors[last[best]]))
        self.positions, self._spans, self._vectors = children[~over], spans[~over], vectors

    def _children(self) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """The different children of the layer and their bounds; the edges, int32[E, 3] as parent, action, child; what those
        gain."""
        game, most, goals = self.game, self.game.mask_size, len(self.game.objectives)
        step = max(1, min(CHUNK, len(self.positions)))
        children, table = np.empty(step * most + 1, game.dtype), np.full(4, FREE, np.int32)
        bounds = np.empty((len(children), goals))
        edges, gains = np.empty((step * most, 3), np.int32), np.empty((step * most, goals))
        made = count = 0
        mask, spare, trial = np.zeros(most, np.int8), np.zeros(1, game.dtype), np.zeros(goals)
        for first in range(0, len(self.positions), step):
            children, bounds = _room(children, made, step * most + 1), _room(bounds, made, step * most + 1)
            edges, gains = _room(edges, count, step * most), _room(gains, count, step * most)
            words = children.view(np.uint64).reshape(len(children), -1)
            if len(table) < 2 * (made + step * most):
                table = np.full(1 << (2 * (made + step * most)).bit_length(), FREE, np.int32)
                enter(words, made, table)
            last = min(first + step, len(self.positions))
            before = made
            made, count = self._expand(
                self.positions, first, last, self._spans, self._vectors, self._known, children, words, bounds, made, table,
                edges, gains, count, mask, *buffers(game), spare, trial,
            )  # fmt: skip
            self.solved += made - before
            rows = game.dtype.itemsize + bounds[0].nbytes
            self._look(made * rows + count * (edges[0].nbytes + gains[0].nbytes) + table.nbytes)
        return children[:made], bounds[:made], edges[:count], gains[:count]

    def _labels(
        self,
        order: NDArray[np.int64],
        starts: NDArray[np.int64],
        edges: NDArray[np.int32],
        gains: NDArray[np.float64],
        bounds: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """The labels of all children: returns, label before, action; and where those of each child end."""
        count = len(bounds)
        lengths = (self._spans[:, 1] - self._spans[:, 0])[edges[order, 0]]
        widest = int(np.add.reduceat(lengths, starts[:-1]).max()) if count else 0
        room = max(widest, 2 * count)
        vectors, parents, actions = np.empty((room, gains.shape[1])), np.empty(room, np.int32), np.empty(room, np.int32)
        ends, first, top = np.zeros(count, np.int64), 0, 0
        while first < count:
            vectors, parents, actions = _room(vectors, top, widest), _room(parents, top, widest), _room(actions, top, widest)
            first, top = merge(
                first, min(first + CHUNK, count), order, starts, edges, gains, self._spans, self._vectors,
                bounds, self._known, vectors, parents, actions, ends, top, np.zeros(gains.shape[1]),
            )  # fmt: skip
            self._look(count * self.game.dtype.itemsize + edges.nbytes + gains.nbytes + top * vectors[0].nbytes)
        return vectors[:top].copy(), parents[:top].copy(), actions[:top].copy(), ends

    def _look(self, used: int) -> None:
        """Keep to the bounds, and tell how far it is. `used`: bytes of what is being made."""
        kept = sum(one.nbytes for pair in self._came for one in pair)
        used += kept + self.positions.nbytes + self._vectors.nbytes + self._spans.nbytes
        self.most = max(self.most, used)
        if self.solved > self._max_states:
            raise TooLarge(f"{self.game.id}: more than max_states={self._max_states:,} positions")
        if used > self._max_bytes:
            raise TooLarge(f"{self.game.id}: more than max_bytes={self._max_bytes:,}, at {self.solved:,} positions")
        if self._progress is not None:
            self._progress(self.solved, used)

    def front(self) -> tuple[NDArray[np.float64], list[list[int]]]:
        """The points in ascending order, and for each the actions that attain it."""
        if not self._ended and not self._plans:  # the start was over
            return np.zeros((1, len(self.game.objectives))), [[]]
        values = np.concatenate([self._values, *(found for _, _, found in self._ended)])
        where = [(ply, int(label)) for ply, labels, _ in self._ended for label in labels]
        best = np.flatnonzero(is_nondominated(values))
        best = best[np.lexsort(values[best].T[::-1])]
        ways = [
            list(self._plans[i].actions) if i < len(self._plans) else self._way(*where[i - len(self._plans)])
            for i in best.tolist()
        ]
        return values[best], ways

    def _way(self, ply: int, label: int) -> list[int]:
        actions = []
        for parents, chosen in reversed(self._came[:ply]):
            actions.append(int(chosen[label]))
            label = int(parents[label])
        return actions[::-1]


def _room(array: NDArray[Any], used: int, more: int) -> NDArray[Any]:
    """The array with room for `more` rows after those in use: itself, or a copy of twice the length."""
    if used + more <= len(array):
        return array
    wider = np.empty((max(2 * len(array), used + more), *array.shape[1:]), array.dtype)
    wider[:used] = array[:used]
    return wider
