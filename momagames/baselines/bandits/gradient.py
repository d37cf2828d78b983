# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Gradient bandits: choice by a softmax of preferences (Williams 1992; Sutton and Barto 2018, section 2.8).

A pull with a utility above the mean so far makes its arm more likely. Errors are divided by the standard deviation of the
utilities of the agent, so that the step size has no unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, uniform

Floats = NDArray[np.float64]


class GradientTables(NamedTuple):
    """Preferences of A agents.

    preferences     float64[A, M]
    probabilities   float64[A, M], their softmax in the last pull
    counts          float64[A], pulls
    means           float64[A], mean utilities
    deviations      float64[A], sums of squared deviations from the mean
    """

    preferences: Floats
    probabilities: Floats
    counts: Floats
    means: Floats
    deviations: Floats


class GradientOptions(NamedTuple):
    """Options, see `method.BanditGradient`."""

    alpha: float


def make_gradient_tables(agents: int, arms: int) -> GradientTables:
    """Return the tables before the first pull."""
    return GradientTables(*np.zeros((2, agents, arms)), *np.zeros((3, agents)))


@kernel
def choose_by_preference(tables, agent, mask, pulls, options, word):
    """Return an arm drawn from the softmax of the preferences, and the generator word."""
    highest, total = -np.inf, 0.0
    for arm in range(mask.shape[0]):
        if mask[arm]:
            highest = max(highest, tables.preferences[agent, arm])
    for arm in range(mask.shape[0]):
        if mask[arm]:
            tables.probabilities[agent, arm] = np.exp(tables.preferences[agent, arm] - highest)
            total += tables.probabilities[agent, arm]
    word = advance(word)
    rest, chosen, is_open = uniform(word), 0, True
    for arm in range(mask.shape[0]):
        if mask[arm]:
            tables.probabilities[agent, arm] /= total
            if is_open:
                chosen = arm
                rest -= tables.probabilities[agent, arm]
                is_open = rest >= 0.0
    return chosen, word


@kernel
def update_preferences(tables, agent, mask, arm, utility, options):
    """Move the preferences along the gradient of the expected utility, with the mean utility so far as baseline."""
    error = utility - tables.means[agent]
    tables.counts[agent] += 1.0
    tables.means[agent] += error / tables.counts[agent]
    tables.deviations[agent] += error * (utility - tables.means[agent])
    if tables.counts[agent] < 2.0 or tables.deviations[agent] <= 0.0:
        return
    change = options.alpha * error / np.sqrt(tables.deviations[agent] / tables.counts[agent])
    for other in range(mask.shape[0]):
        if mask[other]:
            tables.preferences[agent, other] += change * ((other == arm) - tables.probabilities[agent, other])


def compute_probabilities(tables: GradientTables, mask: NDArray[np.int8]) -> Floats:
    """Return the softmax of the preferences of the legal arms, float64[A, M]."""
    scores = np.where(mask, tables.preferences, -np.inf)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities: Floats = shares / shares.sum(axis=1, keepdims=True)
    return probabilities
