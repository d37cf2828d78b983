# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Choice by upper confidence bounds, UCB1 or UCB1-Tuned (Auer, Cesa-Bianchi and Fischer 2002).

Utilities have no known range: radii are those of utilities in 0..1, times the difference of the largest and the smallest
utility that the agent has seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, uniform, update_best

Floats = NDArray[np.float64]


class UcbTables(NamedTuple):
    """Statistics of the arms of A agents.

    counts        float64[A, M], pulls
    means         float64[A, M], mean utilities
    deviations    float64[A, M], sums of squared deviations from the mean
    lows, highs   float64[A], the smallest and the largest utility
    last          int64[A], the arm of the last pull
    """

    counts: Floats
    means: Floats
    deviations: Floats
    lows: Floats
    highs: Floats
    last: NDArray[np.int64]


class UcbOptions(NamedTuple):
    """Options, see `method.BanditUcb`."""

    exploration: float
    is_tuned: bool
    inertia: float


def make_ucb_tables(agents: int, arms: int) -> UcbTables:
    """Return the tables before the first pull."""
    counts, means, deviations = np.zeros((3, agents, arms))
    return UcbTables(counts, means, deviations, np.full(agents, np.inf), np.full(agents, -np.inf), np.full(agents, -1))


@kernel
def choose_by_bound(tables, agent, mask, pulls, options, word):
    """Return an untried arm at random, else that with the highest bound, and the generator word; or the last arm again."""
    if pulls > 0 and options.inertia > 0.0:
        word = advance(word)
        if uniform(word) < options.inertia:
            return tables.last[agent], word
    spread, log = tables.highs[agent] - tables.lows[agent], np.log(max(pulls, 1.0))
    chosen, best, ties = 0, -np.inf, 0
    for arm in range(mask.shape[0]):
        if mask[arm]:
            count, bound = tables.counts[agent, arm], np.inf
            if count > 0.0:
                radius = np.sqrt(2.0 * log / count)
                if options.is_tuned and spread > 0.0:
                    variance = tables.deviations[agent, arm] / (count * spread * spread)
                    radius = np.sqrt(log / count * min(0.25, variance + radius))
                bound = tables.means[agent, arm] + options.exploration * spread * radius
            is_best, best, ties, word = update_best(bound, best, ties, word)
            if is_best:
                chosen = arm
    return chosen, word


@kernel
def update_statistics(tables, agent, mask, arm, utility, options):
    """Add the utility of a pull."""
    tables.last[agent] = arm
    tables.lows[agent] = min(tables.lows[agent], utility)
    tables.highs[agent] = max(tables.highs[agent], utility)
    tables.counts[agent, arm] += 1.0
    error = utility - tables.means[agent, arm]
    tables.means[agent, arm] += error / tables.counts[agent, arm]
    tables.deviations[agent, arm] += error * (utility - tables.means[agent, arm])


def compute_frequencies(tables: UcbTables) -> Floats:
    """Return how often each arm was pulled, float64[A, M], each row divided by its sum."""
    shares: Floats = tables.counts / np.maximum(tables.counts.sum(axis=1, keepdims=True), 1)
    return shares
