# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Pareto UCB1 (Drugan and Nowé 2013): a random one of the arms whose vectors of upper confidence bounds are non-dominated."""

from __future__ import annotations

import numpy as np

from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, below

MAX_JOINT_ACTIONS = 4096  # each pull compares them in pairs


@kernel
def choose_pareto(tables, pulls, exploration, bounds, word):
    """Return an untried entry at random, else a random one with non-dominated bounds, and the generator word.

    tables    of one factor, see `joint.JointTables`
    bounds    float64[N, K], a buffer
    """
    size, objectives = bounds.shape
    log = np.log(max(pulls, 1.0) * (objectives * size) ** 0.25)  # with all arms in place of the unknown number of optimal ones
    chosen, ties = 0, 0
    for entry in range(size):
        if tables.counts[entry] == 0.0:
            ties += 1
            word = advance(word)
            if below(word, ties) == 0:
                chosen = entry
    if ties > 0:
        return chosen, word
    for entry in range(size):
        radius = exploration * np.sqrt(2.0 * log / tables.counts[entry])
        for k in range(objectives):
            bounds[entry, k] = tables.means[entry, k] + radius * (tables.highs[0, k] - tables.lows[0, k])
    for entry in range(size):
        is_dominated = False
        for other in range(size):
            is_better, is_worse = False, False
            for k in range(objectives):
                is_better |= bounds[other, k] > bounds[entry, k]
                is_worse |= bounds[other, k] < bounds[entry, k]
            if is_better and not is_worse:
                is_dominated = True
                break
        if not is_dominated:
            ties += 1
            word = advance(word)
            if below(word, ties) == 0:
                chosen = entry
    return chosen, word
