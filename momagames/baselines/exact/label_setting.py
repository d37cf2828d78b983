"""Exact Pareto front of one instance by label setting, from the start position ply by ply.

This search supports games without state keys and games with chance during play. A state contains its random generator, so an
instance is a deterministic game. The front of such a game is clairvoyant: it holds for this instance and for a player who
knows all chance outcomes in advance.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import is_nondominated
from momagames.baselines.base import Plan, check_shared_rewards
from momagames.baselines.exact.depth_first import Front, Progress, resolve_start
from momagames.baselines.exact.label_kernels import insert_rows, make_expander, merge_labels
from momagames.baselines.exact.packed_vectors import has_integer_bounds
from momagames.contract import Game
from momagames.engine.lookahead import make_trial
from momagames.errors import InvalidParameter, TooLarge

CHUNK_POSITIONS = 4096  # positions per call of a compiled loop; Ctrl-C and `progress` wait for it
FREE_SLOT = -1  # in a hash table


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
    """Compute the exact Pareto front of the returns of one instance, with all chance outcomes known in advance.

    A layer holds the positions after a number of plies, each once, with labels for the non-dominated returns so far. A
    dominated label stays dominated under every continuation, so it is dropped. Returns are added in double precision, in
    the order of play.

    state, seed, max_states, max_bytes, progress and errors: as for `pareto_front`; the game may have several agents if they
    share all rewards, and chance during play

    known   plans of complete games from this start, for a game with upper bounds and whole rewards. A label is pruned if its
            upper bound does not exceed the values of these plans; plans closer to the front prune more
    """
    check_shared_rewards("exact", game)
    if known and not has_upper_bounds(game):
        raise InvalidParameter(
            f"{game.id}: invalid known={len(known)} plans: expected none, because the game has no upper bound of the return"
        )
    start_time = time.perf_counter()
    search = _LabelSetting(game, resolve_start(game, state, seed), known, max_states, max_bytes, progress)
    while search.positions.size:
        search.expand_layer()
    points, witnesses = search.front()
    return Front(points, witnesses, search.solved, search.peak_bytes, time.perf_counter() - start_time)


def has_upper_bounds(game: Game) -> bool:
    """Return whether known values can prune labels: the game has upper bounds and whole rewards."""
    return game.search.optimistic is not None and has_integer_bounds(game)


class _LabelSetting:
    """Current layer, and the predecessors of the labels of all layers."""

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
        self._known = self._values.copy()  # the search reorders the rows
        self._expand = make_expander(game)
        self.positions = start[start["over"] == 0]
        self._vectors = np.zeros((1, len(game.objectives)))
        self._spans = np.array([[0, 1]], np.int64)
        self._predecessors: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []  # for each ply: parent label, action
        self._final_labels: list[tuple[int, NDArray[np.int64], NDArray[np.float64]]] = []  # ply, labels, their returns
        self.solved, self.peak_bytes = 1, 0

    def expand_layer(self) -> None:
        """Replace the current layer by the next one."""
        children, bounds, edges, gains = self._expand_positions()
        order = np.argsort(edges[:, 2], kind="stable").astype(np.int64)
        starts = np.searchsorted(edges[order, 2], np.arange(len(children) + 1)).astype(np.int64)
        vectors, parents, actions, ends = self._extend_labels(order, starts, edges, gains, bounds)
        spans = np.column_stack([np.concatenate([[0], ends])[:-1], ends]).astype(np.int64)
        self._predecessors.append((parents, actions))
        over = children["over"] != 0
        last = np.concatenate([np.arange(a, b) for a, b in spans[over]] or [np.zeros(0, np.int64)])
        if len(last):
            best = is_nondominated(vectors[last])
            self._final_labels.append((len(self._predecessors), last[best], vectors[last[best]]))
        self.positions, self._spans, self._vectors = children[~over], spans[~over], vectors

    def _expand_positions(self) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """Return the distinct children of the layer, their bounds, the edges and their rewards.

        An edge is int32[3]: parent, action, child.
        """
        game, num_actions, num_objectives = self.game, self.game.mask_size, len(self.game.objectives)
        step = max(1, min(CHUNK_POSITIONS, len(self.positions)))
        children, table = np.empty(step * num_actions + 1, game.dtype), np.full(4, FREE_SLOT, np.int32)
        bounds = np.empty((len(children), num_objectives))
        edges, gains = np.empty((step * num_actions, 3), np.int32), np.empty((step * num_actions, num_objectives))
        num_children = num_edges = 0
        trial, total = make_trial(game), np.zeros(num_objectives)
        for first in range(0, len(self.positions), step):
            needed = step * num_actions
            children, bounds = _grow(children, num_children, needed + 1), _grow(bounds, num_children, needed + 1)
            edges, gains = _grow(edges, num_edges, needed), _grow(gains, num_edges, needed)
            words = children.view(np.uint64).reshape(len(children), -1)
            if len(table) < 2 * (num_children + needed):
                table = np.full(1 << (2 * (num_children + needed)).bit_length(), FREE_SLOT, np.int32)
                insert_rows(words, num_children, table)
            last = min(first + step, len(self.positions))
            previous = num_children
            num_children, num_edges = self._expand(
                self.positions, first, last, self._spans, self._vectors, self._known, children, words, bounds, num_children,
                table, edges, gains, num_edges, trial, total,
            )  # fmt: skip
            self.solved += num_children - previous
            rows = game.dtype.itemsize + bounds[0].nbytes
            self._check_limits(num_children * rows + num_edges * (edges[0].nbytes + gains[0].nbytes) + table.nbytes)
        return children[:num_children], bounds[:num_children], edges[:num_edges], gains[:num_edges]

    def _extend_labels(
        self,
        order: NDArray[np.int64],
        starts: NDArray[np.int64],
        edges: NDArray[np.int32],
        gains: NDArray[np.float64],
        bounds: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Return the labels of all children as returns, parent labels and actions, and the end of the labels of each child."""
        num_children = len(bounds)
        lengths = (self._spans[:, 1] - self._spans[:, 0])[edges[order, 0]]
        widest = int(np.add.reduceat(lengths, starts[:-1]).max()) if num_children else 0
        capacity = max(widest, 2 * num_children)
        vectors, parents, actions = (
            np.empty((capacity, gains.shape[1])),
            np.empty(capacity, np.int32),
            np.empty(capacity, np.int32),
        )
        ends, first, top = np.zeros(num_children, np.int64), 0, 0
        while first < num_children:
            vectors, parents, actions = _grow(vectors, top, widest), _grow(parents, top, widest), _grow(actions, top, widest)
            first, top = merge_labels(
                first, min(first + CHUNK_POSITIONS, num_children), order, starts, edges, gains, self._spans, self._vectors,
                bounds, self._known, vectors, parents, actions, ends, top, np.zeros(gains.shape[1]),
            )  # fmt: skip
            self._check_limits(num_children * self.game.dtype.itemsize + edges.nbytes + gains.nbytes + top * vectors[0].nbytes)
        return vectors[:top].copy(), parents[:top].copy(), actions[:top].copy(), ends

    def _check_limits(self, used: int) -> None:
        """Raise TooLarge beyond the limits, and report the progress. `used`: bytes of the arrays under construction."""
        stored = sum(one.nbytes for pair in self._predecessors for one in pair)
        used += stored + self.positions.nbytes + self._vectors.nbytes + self._spans.nbytes
        self.peak_bytes = max(self.peak_bytes, used)
        if self.solved > self._max_states:
            raise TooLarge(f"{self.game.id}: more than max_states={self._max_states:,} positions")
        if used > self._max_bytes:
            raise TooLarge(f"{self.game.id}: more than max_bytes={self._max_bytes:,}, at {self.solved:,} positions")
        if self._progress is not None:
            self._progress(self.solved, used)

    def front(self) -> tuple[NDArray[np.float64], list[list[int]]]:
        """Return the points in ascending order, and an action sequence for each."""
        if not self._final_labels and not self._plans:  # the start position is terminal
            return np.zeros((1, len(self.game.objectives))), [[]]
        values = np.concatenate([self._values, *(found for _, _, found in self._final_labels)])
        locations = [(ply, int(label)) for ply, labels, _ in self._final_labels for label in labels]
        best = np.flatnonzero(is_nondominated(values))
        best = best[np.lexsort(values[best].T[::-1])]
        witnesses = [
            list(self._plans[i].actions) if i < len(self._plans) else self._trace_actions(*locations[i - len(self._plans)])
            for i in best.tolist()
        ]
        return values[best], witnesses

    def _trace_actions(self, ply: int, label: int) -> list[int]:
        actions = []
        for parents, chosen in reversed(self._predecessors[:ply]):
            actions.append(int(chosen[label]))
            label = int(parents[label])
        return actions[::-1]


def _grow(array: NDArray[Any], used: int, needed: int) -> NDArray[Any]:
    """Return the array, or a copy of at least twice its length, with room for `needed` rows after the used ones."""
    if used + needed <= len(array):
        return array
    grown = np.empty((max(2 * len(array), used + needed), *array.shape[1:]), array.dtype)
    grown[:used] = array[:used]
    return grown
