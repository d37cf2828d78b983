"""Crowding games: options are alike, and what one is worth depends on who takes it alone.

A crowd is how many agents of each class take an option. Fronts come from a dynamic program over the options, whose states are
the crowds that the options so far have together, each with the set of its undominated sums; equilibria from a search that
leaves a branch when an agent of two options gains by going to the other one.

Source: Milchtaich, "Congestion games with player-specific payoff functions", 1996, for the model; the algorithms are our own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import is_nondominated
from momagames.baselines.symmetric.crowding_kernels import FULL, extend_fronts, list_stable
from momagames.baselines.symmetric.games import TOLERANCE, Counts, Equilibria, Floats, SymmetricGame
from momagames.errors import TooLarge

FIRST_ROOM = 32  # points of a front that a table has place for at first
MAX_BYTES = 4 << 30
Bounds = tuple[Any, Any]


@dataclass(frozen=True)
class CrowdingFront:
    """A Pareto front of sums over the options.

    values    float64[n, K], ascending
    counts    int64[n, C, M], a table of counts for each point
    states    number of states of the dynamic program
    bytes     size of its tables
    """

    values: Floats
    counts: Counts
    states: int
    bytes: int


@dataclass(frozen=True)
class CrowdingGame:
    """A one-shot game with alike options.

    agents     number of agents of each of the C classes
    options    number of options M, which all classes have
    rate       crowds int64[V, C] -> payoffs float64[V, C, K] of an agent of a class in a crowd; entries where the count is 0
               are not read
    """

    agents: tuple[int, ...]
    options: int
    rate: Callable[[Counts], Floats]

    def list_crowds(self) -> Counts:
        """Return all crowds that an option can have, int64[V, C]; the index of a crowd has the counts as digits."""
        sizes = tuple(number + 1 for number in self.agents)
        return np.stack(np.unravel_index(np.arange(prod(sizes)), sizes), axis=1).astype(np.int64)

    def sum_payoffs(self, crowds: Counts) -> Floats:
        """Return what the agents of each crowd, int64[V, C], add to the average payoff of all agents, float64[V, K]."""
        payoffs = np.where(crowds[..., None] > 0, self.rate(crowds), 0)
        sums: Floats = (payoffs * crowds[..., None]).sum(axis=1) / sum(self.agents)
        return sums

    def find_front(
        self,
        worth: Callable[[Counts], Floats] | None = None,
        bounds: Bounds | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> CrowdingFront:
        """Return the Pareto front of the sums of what the options are worth.

        worth     crowds int64[V, C] -> float64[V, K]; by default `sum_payoffs`, so that sums are average payoffs
        bounds    int64[M, C] twice: the least and the most agents of each class that the first options have together,
                  option by option; None: any
        Raises    TooLarge if the tables need more than `max_bytes`
        """
        crowds = self.list_crowds()
        values = np.ascontiguousarray((worth or self.sum_payoffs)(crowds))
        low, high = bounds or (np.zeros((self.options, len(self.agents))), np.tile(self.agents, (self.options, 1)))
        room, size = FIRST_ROOM, len(crowds)
        none = np.zeros(size, np.int32), np.zeros((size, 1, values.shape[1]))
        none[0][0] = 1  # no option has no agents
        layers: list[tuple[NDArray[Any], ...]] = []
        nbytes = 0
        while len(layers) < self.options:
            last = len(layers) == self.options - 1
            is_open = ((crowds >= np.asarray(low)[len(layers)]) & (crowds <= np.asarray(high)[len(layers)])).all(axis=1)
            is_open[:-1] &= not last
            rows = size * room
            if nbytes + rows * (8 * values.shape[1] + 8) > max_bytes:
                raise TooLarge(f"{size:,} crowds of {self.options} options need more than max_bytes={max_bytes:,}")
            before = layers[-1][:2] if layers else none
            layer = (
                np.zeros(size, np.int32), np.zeros((size, room, values.shape[1])),
                np.zeros((size, room), np.int32), np.zeros((size, room), np.int32),
            )  # fmt: skip
            if extend_fronts(crowds, values, is_open, *before, *layer):
                layers.append(layer)
                nbytes += sum(array.nbytes for array in layer)
            else:
                room *= 2
        found = layers[-1][1][-1, : layers[-1][0][-1]]
        best = np.flatnonzero(is_nondominated(found))
        best = best[np.lexsort(found[best].T[::-1])]
        counts = np.array([_trace(crowds, layers, int(point)) for point in best]).reshape(-1, len(self.agents), self.options)
        return CrowdingFront(found[best], counts, size * self.options, nbytes)

    def list_equilibria(self, weights: Any, max_found: int = 100_000, tolerance: float = TOLERANCE) -> Equilibria:
        """Return all pure Nash equilibria, one for all orders of the options.

        weights    of the objectives, float64[K], or for each class float64[C, K]
        Raises     TooLarge if there are more than `max_found`
        """
        crowds, kinds = self.list_crowds(), np.arange(len(self.agents))
        factors = np.broadcast_to(np.asarray(weights, np.float64), (len(kinds), np.shape(weights)[-1]))
        payoffs = (self.rate(crowds) * factors).sum(axis=2)
        stay, join = np.where(crowds > 0, payoffs, np.inf), np.full(crowds.shape, -np.inf)
        steps = np.array([prod(number + 1 for number in self.agents[kind + 1 :]) for kind in kinds])
        for kind in kinds:
            able = np.flatnonzero(crowds[:, kind] < self.agents[kind])
            join[able, kind] = payoffs[able + steps[kind], kind]
        sums = crowds.sum(axis=1)
        order, found = np.argsort(sums, kind="stable"), np.zeros((max_found, self.options), np.int64)
        chosen = np.zeros(self.options + 1, np.int64)
        count, tried = list_stable(crowds, order, sums, stay, join, self.options, tolerance, chosen, found)
        if count == FULL:
            raise TooLarge(f"there are more than max_found={max_found:,} equilibria")
        counts = crowds[found[:count]].transpose(0, 2, 1)
        means = self.sum_payoffs(crowds)[found[:count]].sum(axis=1)
        return Equilibria(counts, means, tried)

    def find_best(self) -> Floats:
        """Return the highest average payoff in each objective, float64[K]."""
        best: Floats = self.find_front().values.max(axis=0)
        return best

    def expand(self) -> SymmetricGame:
        """Return it as a game that is solved by enumeration of all tables."""

        def rate(counts: Counts) -> Floats:
            rows = self.rate(counts.transpose(0, 2, 1).reshape(-1, len(self.agents)))
            return rows.reshape(len(counts), self.options, *rows.shape[1:]).transpose(0, 2, 1, 3)

        return SymmetricGame(self.agents, np.ones((len(self.agents), self.options), np.bool_), rate)


def _trace(crowds: Counts, layers: list[tuple[NDArray[Any], ...]], point: int) -> Counts:
    """Return the table of counts of a point of all agents, int64[C, M]."""
    whole, columns = len(crowds) - 1, []
    for _, _, from_crowd, from_point in reversed(layers):
        rest = int(from_crowd[whole, point])
        columns.append(crowds[whole - rest])
        whole, point = rest, int(from_point[whole, point])
    return np.stack(columns[::-1], axis=1)
