"""Normalized advantages: with mean 0 and standard deviation 1 among decisions with like weights."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.weight_lattice import simplex_lattice

MAX_GROUPS = 21  # of weights: 20 divisions of a lattice for two objectives, 5 for three
BORROWED = 16  # decisions with the variance of all that count in each group, so that small groups are not blown up
EPSILON = 1e-8


def list_group_centers(objectives: int) -> NDArray[np.float64]:
    """Return the largest simplex lattice of at most MAX_GROUPS weight vectors, float64[G, K]; K vectors at least."""
    fitting = [n for n in range(1, MAX_GROUPS) if comb(n + objectives - 1, n) <= MAX_GROUPS]
    return simplex_lattice(objectives, max(fitting, default=1))


def normalize_by_weights(
    advantages: NDArray[np.float64], weights: NDArray[np.float32], centers: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return advantages, float64[n], divided by the standard deviation in their group, less its mean.

    weights    float32[n, K]; a group has those with the same nearest center, of float64[G, K]
    """
    groups = ((weights[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    counts = np.bincount(groups, minlength=len(centers))
    means = np.bincount(groups, advantages, len(centers)) / np.maximum(counts, 1)
    centered = advantages - means[groups]
    sums = np.bincount(groups, centered**2, len(centers))
    variances = (sums + BORROWED * (centered**2).mean()) / (counts + BORROWED)
    normalized: NDArray[np.float64] = centered / (np.sqrt(variances[groups]) + EPSILON)
    return normalized
