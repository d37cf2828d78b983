"""Performance profiles: the distribution of scores instead of a mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import Array, as_array
from momagames.analysis.statistics import SEED, as_scores, check_confidence, draw_runs
from momagames.errors import InvalidParameter


@dataclass(frozen=True)
class PerformanceProfile:
    """Share of the scores above each threshold, with a pointwise bootstrap band; float[T] each."""

    thresholds: Array
    share: Array
    low: Array
    high: Array


def performance_profile(
    scores: ArrayLike,
    thresholds: ArrayLike | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    *,
    paired_runs: bool = False,
) -> PerformanceProfile:
    """Return the performance profile of float[S, K] (see `statistics`).

    thresholds    float[T]; default: 101 evenly spaced ones from 0 to the larger of 1 and the best score

    A method whose profile is nowhere below another's is stochastically better. The band is pointwise: it covers each
    threshold separately, not the curve as a whole.

    Source: Dolan and Moré, "Benchmarking optimization software with performance profiles", Math. Programming 91, 2002;
    Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", NeurIPS 2021.
    """
    given = as_scores(scores)
    levels = np.linspace(0, max(1.0, float(given.max())), 101) if thresholds is None else as_array("thresholds", thresholds)
    check_confidence(confidence)
    if levels.ndim != 1 or not np.isfinite(levels).all():
        raise InvalidParameter(f"invalid thresholds of shape {levels.shape}: expected finite numbers of shape (T,)")
    above = given[:, :, None] > levels
    draws = draw_runs(given.shape, resamples, paired_runs, np.random.default_rng(SEED))
    shares = np.zeros((resamples, len(levels)))
    for k in range(given.shape[1]):  # one game at a time, to save memory
        game_draws = draws[:, :, 0 if paired_runs else k]
        counts = np.stack([(game_draws == s).sum(axis=1) for s in range(len(given))], axis=1)
        shares += counts @ above[:, k].astype(np.float64)
    shares /= given.size
    low, high = np.quantile(shares, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return PerformanceProfile(levels, above.mean(axis=(0, 1)), low, high)
