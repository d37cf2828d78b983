"""Performance profiles: the whole distribution of scores, where a mean shows one number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import Array
from momagames.analysis.statistics import SEED, draws, matrix
from momagames.errors import InvalidParameter


@dataclass(frozen=True)
class Profile:
    """For each threshold the share of scores above it, with a pointwise bootstrap band; float[T] each."""

    thresholds: Array
    share: Array
    low: Array
    high: Array


def profile(
    scores: ArrayLike,
    thresholds: ArrayLike | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    *,
    paired_runs: bool = False,
) -> Profile:
    """The performance profile of float[S, K] (see `statistics`).

    thresholds    float[T]; 101 even ones from 0 to the larger of 1 and the best score if none are given

    A method whose profile is nowhere below another's is better in distribution. The band holds at each threshold for
    itself, not for the curve as a whole.

    Source: Dolan and Moré, "Benchmarking optimization software with performance profiles", Math. Programming 91, 2002;
    Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", NeurIPS 2021.
    """
    given = matrix(scores)
    levels = np.linspace(0, max(1.0, float(given.max())), 101) if thresholds is None else np.asarray(thresholds, np.float64)
    if levels.ndim != 1 or not np.isfinite(levels).all() or not 0 < confidence < 1:
        raise InvalidParameter(f"thresholds of shape {levels.shape}, confidence={confidence} are not possible")
    above = given[:, :, None] > levels
    chosen = draws(given.shape, resamples, paired_runs, np.random.default_rng(SEED))
    shares = np.zeros((resamples, len(levels)))
    for k in range(given.shape[1]):  # one game after the other: few numbers at a time
        picks = chosen[:, :, 0 if paired_runs else k]
        often = np.stack([(picks == s).sum(axis=1) for s in range(len(given))], axis=1)
        shares += often @ above[:, k].astype(np.float64)
    shares /= given.size
    low, high = np.quantile(shares, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return Profile(levels, above.mean(axis=(0, 1)), low, high)
