"""How far the weights of the objectives steer policies.

weights   float[n, K], those of n policies, at least 0 and not all 0: their sums do not matter
points    float[n, K], the mean returns of these policies

A policy set can cover a front perfectly and still ignore what it is asked for: indicators of fronts do not see which policy was
conditioned on which weights. These numbers do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import ROUNDING, Array, as_matrix, number_levels
from momagames.errors import InvalidParameter

DIGITS = 9  # to which correlations are rounded


def compute_controllability(weights: ArrayLike, points: ArrayLike) -> Array:
    """Return Spearman's rank correlation of weight and mean return in each objective, float64[K].

    1: a policy with a higher weight has a higher return in each pair. 0 where all weights or all returns are equal.

    Source: de las Heras Molins et al., "Controllability in preference-conditioned multi-objective reinforcement learning",
    arXiv 2605.10585, 2026.
    """
    given, array = _as_pairs(weights, points)
    levels = number_levels(given)
    return np.array([_correlate(levels[:, k], array[:, k]) for k in range(given.shape[1])])


def ordering_score(weights: ArrayLike, points: ArrayLike) -> float | None:
    """Return how far returns are in the order of the weights along sweeps, from 0 (reversed) to 1; None without a sweep.

    A sweep of an objective has the policies between whose weights only that of the objective moves, while the others share
    the rest in fixed proportions. It scores (1 + r) / 2, where r is Spearman's rank correlation of the returns in the order of
    the weights with the same returns sorted; and 1 where all returns are equal, since none is out of order. The result is the
    mean over all sweeps with two or more different weights. Policies of equal weights count as one, with their mean return.

    Source: Jiang et al., "GraphAllocBench: a flexible benchmark for preference-conditioned multi-objective policy learning",
    arXiv 2601.20753, 2026, as in the code of its authors, which draws its sweeps at random.
    """
    given, array = _as_pairs(weights, points)
    scores = [_score_order(np.array([array[members, k].mean() for members in levels])) for k, levels in _list_sweeps(given)]
    return float(np.mean(scores)) if scores else None


def _list_sweeps(weights: Array) -> Iterator[tuple[int, list[NDArray[np.int64]]]]:
    """Yield each sweep: its objective, and the indices of the policies for each of its weights, in ascending order."""
    numbers = number_levels(weights)
    for k in range(weights.shape[1]):
        rest = np.delete(weights, k, axis=1)
        sums = rest.sum(axis=1)
        ends = np.flatnonzero(sums <= ROUNDING)  # all weight on this objective: the end of each of its sweeps
        inside = np.flatnonzero(sums > ROUNDING)
        directions = number_levels(rest[inside] / sums[inside, None])
        for direction in np.unique(directions, axis=0):
            members = np.concatenate([inside[(directions == direction).all(axis=1)], ends])
            levels = np.unique(numbers[members, k])
            if len(levels) > 1:
                yield k, [members[numbers[members, k] == level] for level in levels]


def _score_order(returns: Array) -> float:
    """Return the score of one sweep, from its returns in the order of the weights."""
    return 1.0 if np.ptp(returns) == 0 else (1 + _correlate(returns, np.sort(returns))) / 2


def _as_pairs(weights: ArrayLike, points: ArrayLike) -> tuple[Array, Array]:
    """Return the weights, normalized to a sum of 1, and the points; InvalidParameter for other shapes or values."""
    array = as_matrix("points", points, min_rows=1)
    given = as_matrix("weights", weights, array.shape[1], min_rows=1)
    if len(given) != len(array):
        raise InvalidParameter(f"invalid weights of length {len(given)}: expected {len(array)}, one for each row of points")
    if (given < 0).any() or not given.any(axis=1).all():
        raise InvalidParameter("invalid weights: expected numbers of at least 0, and one above 0 in each row")
    return given / given.sum(axis=1, keepdims=True), array


def _correlate(first: Array, second: Array) -> float:
    """Return Spearman's rank correlation, 0 where all values of one side are equal."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return round(float(np.corrcoef(_rank(first), _rank(second))[0, 1]), DIGITS) + 0.0  # never -0.0


def _rank(values: Array) -> Array:
    """Return the ranks of values, the mean rank for equal ones; scipy's function is slow for the few values of a sweep."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]
