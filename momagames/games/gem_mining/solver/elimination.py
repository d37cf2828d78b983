"""Exact Pareto fronts of the expected gems, by elimination of the villages along the chain.

When a village has chosen, no later village reaches its first mine, so the gems of that mine are known. What later villages need
to know is how many workers already are in the next K - 1 mines. For each such state the front of the gems so far is stored:
multi-objective variable elimination (Rollón and Larrosa, 2006; Roijers, Whiteson and Oliehoek, 2015) in the order of the
chain, whose width does not grow with the number of villages.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import is_nondominated
from momagames.errors import TooLarge

Floats = NDArray[np.float64]
Prune = Callable[[Floats], NDArray[np.bool_]]  # values float64[n, m] -> rows to continue with, bool[n]


@dataclass(frozen=True)
class Chain:
    """An instance, and how the chances of its mines grow.

    workers         int[n]
    reach           int[n], number of mines of each village: it reaches mines i .. i + reach[i] - 1
    chances         float64[M, m], base probabilities
    first           1 if the first worker of a mine does not add to its chance, else 0
    ends_together   the mirrored form: village i reaches mines i + K - reach[i] .. i + K - 1, K = M - n + 1
    """

    workers: NDArray[np.int64]
    reach: NDArray[np.int64]
    chances: Floats
    bonus: float
    most: float
    first: int
    ends_together: bool = False

    @classmethod
    def from_state(cls, state: Any) -> Chain:
        """Return the chain of a position of the game."""
        agents, mines, types = int(state["agents"]), int(state["mines"]), int(state["types"])
        return cls(
            state["workers"][:agents].astype(np.int64),
            state["reach"][:agents].astype(np.int64),
            state["chance"][:mines, :types].copy(),
            float(state["bonus"]),
            float(state["most"]),
            int(state["first"]),
        )

    @property
    def width(self) -> int:
        return len(self.chances) - len(self.workers) + 1

    @property
    def joint_actions(self) -> int:
        return prod(self.reach.tolist())

    def list_offsets(self, village: int) -> range:
        """Return the mines of a village, counted from the mine of its number."""
        skipped = self.width - int(self.reach[village]) if self.ends_together else 0
        return range(skipped, skipped + int(self.reach[village]))

    def expect_gems(self, mine: int, workers: int) -> Floats:
        """Return the expected gems of a mine with so many workers, float64[m]."""
        if not workers:
            return np.zeros(self.chances.shape[1])
        gems: Floats = np.minimum(self.chances[mine] * self.bonus ** float(workers - self.first), self.most)
        return gems

    def evaluate(self, actions: Any) -> Floats:
        """Return the expected gems of a joint action, int[n], in ascending order of mines: float64[m]."""
        arrived = np.bincount(np.arange(len(self.workers)) + np.asarray(actions), self.workers, len(self.chances))
        gems = np.zeros(self.chances.shape[1])
        for mine, workers in enumerate(arrived.astype(np.int64).tolist()):
            gems += self.expect_gems(mine, workers)
        return gems

    def mirror(self) -> Chain:
        """Return the same chain from its other end."""
        return Chain(
            self.workers[::-1], self.reach[::-1], self.chances[::-1], self.bonus, self.most, self.first, not self.ends_together
        )


@dataclass(frozen=True)
class ChainFront:
    """A front of expected gems.

    values     float64[n, m], in ascending order
    actions    int64[n, A], a joint action of each point
    states     fronts that were stored
    bytes      of all of them
    """

    values: Floats
    actions: NDArray[np.int64]
    states: int
    bytes: int
    seconds: float


@dataclass
class Layer:
    """What a village adds: for each point the point of the layer before from which it comes, and the action."""

    sources: NDArray[np.int32]
    actions: NDArray[np.int8]
    fronts: dict[tuple[int, ...], tuple[int, Floats]] = field(default_factory=dict)  # state -> its first point, its values


def solve_chain(
    chain: Chain,
    prune: Prune = is_nondominated,
    max_states: int = 10_000_000,
    max_bytes: int = 8 << 30,
    progress: Callable[[int, int], None] | None = None,
) -> ChainFront:
    """Return the front of the expected gems of all joint actions. Raises TooLarge beyond the limits.

    prune    which points of a state to go on with: by default those that no other one dominates
    """
    begin, width = time.perf_counter(), chain.width
    layer = Layer(np.zeros(1, np.int32), np.zeros(1, np.int8), {(0,) * width: (0, np.zeros((1, chain.chances.shape[1])))})
    layers, states, used = [], 1, 0
    for village, workers in enumerate(chain.workers.tolist()):
        layer = add_village(layer, chain, village, workers, prune)
        layers.append((layer.sources, layer.actions))
        states += len(layer.fronts)
        used += len(layer.actions) * 5
        held = used + sum(values.nbytes for _, values in layer.fronts.values())
        if states > max_states or held > max_bytes:
            raise TooLarge(
                f"front of {len(chain.workers)} villages: {states:,} states and {held:,} bytes after {village + 1} of them: "
                f"expected at most {max_states:,} and {max_bytes:,}"
            )
        if progress:
            progress(states, held)
    ends = [(first, close_mines(chain, arrived, values)) for arrived, (first, values) in layer.fronts.items()]
    found = np.concatenate([first + np.arange(len(values)) for first, values in ends])
    values = np.concatenate([values for _, values in ends])
    chosen = np.flatnonzero(prune(values))
    chosen = chosen[np.lexsort(values[chosen].T[::-1])]
    return ChainFront(values[chosen], trace(layers, found[chosen]), states, held, time.perf_counter() - begin)


def add_village(before: Layer, chain: Chain, village: int, workers: int, prune: Prune) -> Layer:
    """Return the fronts after the choice of a village, by the workers in the mines after its own."""
    candidates: dict[tuple[int, ...], list[tuple[Floats, int, int]]] = {}
    for arrived, (first, values) in before.fronts.items():
        for action in chain.list_offsets(village):
            now = list(arrived)
            now[action] += workers
            total = values + chain.expect_gems(village, now[0]) if now[0] else values
            candidates.setdefault((*now[1:], 0), []).append((total, first, action))
    sources, actions, fronts, start = [], [], {}, 0
    for state, parts in candidates.items():
        values = np.concatenate([total for total, _, _ in parts]) if len(parts) > 1 else parts[0][0]
        rows = np.flatnonzero(prune(values)) if len(values) > 1 else np.zeros(1, np.int64)
        sizes = [len(total) for total, _, _ in parts]
        places = np.concatenate([np.arange(first, first + size) for (_, first, _), size in zip(parts, sizes, strict=True)])
        sources.append(places[rows].astype(np.int32))
        actions.append(np.repeat([action for _, _, action in parts], sizes)[rows].astype(np.int8))
        fronts[state] = start, values[rows]
        start += len(rows)
    return Layer(np.concatenate(sources), np.concatenate(actions), fronts)


def close_mines(chain: Chain, arrived: tuple[int, ...], values: Floats) -> Floats:
    """Return values, float64[n, m], with the expected gems of the mines after the last village."""
    for k, workers in enumerate(arrived[:-1]):
        values = values + chain.expect_gems(len(chain.workers) + k, workers)
    return values


def trace(layers: list[tuple[NDArray[np.int32], NDArray[np.int8]]], points: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the joint actions that lead to points of the last layer, int64[n, A]."""
    actions = np.zeros((len(points), len(layers)), np.int64)
    for village in reversed(range(len(layers))):
        sources, chosen = layers[village]
        actions[:, village] = chosen[points]
        points = sources[points].astype(np.int64)
    return actions
