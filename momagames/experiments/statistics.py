"""Means over runs, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from momagames.errors import BadParameter

SEED = 20240  # of the resampling, so that a report is reproducible


@dataclass(frozen=True)
class Interval:
    """A mean over `runs` runs with a bootstrap interval. With one run the interval is that value and says nothing."""

    mean: float
    low: float
    high: float
    runs: int


def bootstrap(values: ArrayLike, confidence: float = 0.95, resamples: int = 10_000) -> Interval:
    """Mean of float[S], one value for each run, with its percentile bootstrap interval.

    With few runs the interval is too narrow: it covers the truth in about 83 % of cases for 5 runs and 90 % for 10.

    Raises BadParameter for no values or values that are not finite
    Source: Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.
    """
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or not len(array) or not np.isfinite(array).all():
        raise BadParameter(f"bootstrap needs one or more finite numbers; given: {values!r}")
    chosen = np.random.default_rng(SEED).integers(len(array), size=(resamples, len(array)))
    low, high = np.quantile(array[chosen].mean(axis=1), [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(array.mean()), float(low), float(high), len(array))
