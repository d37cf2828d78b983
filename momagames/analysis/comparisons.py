"""Comparison of two methods: probability of improvement, size of the difference, and permutation test.

first, second    float[S, K] (see `statistics`) on the same K games; the numbers of runs may differ unless runs are paired
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import Array
from momagames.analysis.statistics import SEED, Interval, Statistic, as_scores, draw_runs, mean, percentile_interval
from momagames.errors import InvalidParameter

Key = TypeVar("Key")


@dataclass(frozen=True)
class Difference:
    """A statistic of `first` minus that of `second`.

    interval    the difference with its bootstrap interval
    p           two-sided p value of the permutation test: probability of a difference at least as large if the runs of both
                methods came from one distribution; at least 1 / (resamples + 1)
    """

    interval: Interval
    p: float


def probability_of_improvement(
    first: ArrayLike,
    second: ArrayLike,
    confidence: float = 0.95,
    resamples: int = 10_000,
    *,
    paired: bool = False,
    paired_runs: bool = False,
) -> Interval:
    """Return the probability that a run of `first` beats a run of `second` on a random game; a tie counts half.

    This is the Mann-Whitney statistic as a share of the pairs of runs, averaged over games. It measures how often a method
    is better, not by how much. `paired` and `paired_runs` are those of `statistic_difference` and affect the interval only.

    Source: Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than the other",
    Ann. Math. Stat. 18, 1947; Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", 2021.
    """
    a, b = _check_pair(first, second, paired or paired_runs)
    wins = np.sign(a[:, None, :] - b[None, :, :]) / 2 + 0.5  # [Sa, Sb, K]
    rng = np.random.default_rng(SEED)
    draws_a = draw_runs(a.shape, resamples, paired_runs, rng)
    draws_b = draws_a if paired or paired_runs else draw_runs(b.shape, resamples, paired_runs, rng)
    # number of draws of each run, [B, S, K]: gives the mean over all pairs without storing the pairs of each sample
    counts_a, counts_b = _count_draws(draws_a, a.shape), _count_draws(draws_b, b.shape)
    samples = np.einsum("bik,ijk,bjk->b", counts_a, wins, counts_b, optimize=True) / (len(a) * len(b) * a.shape[1])
    low, high = percentile_interval(samples, confidence)
    return Interval(float(wins.mean()), low, high, min(len(a), len(b)))


def statistic_difference(
    first: ArrayLike,
    second: ArrayLike,
    confidence: float = 0.95,
    resamples: int = 10_000,
    *,
    statistic: Statistic = mean,
    paired: bool = False,
    paired_runs: bool = False,
) -> Difference:
    """Return a statistic of `first` minus that of `second`, with a bootstrap interval and a permutation test.

    paired         run s of both methods uses the same random seed (the same instance, say): pairs are resampled together, and
                   permuted within the pair
    paired_runs    run s also uses the same random seed on every game

    Source: Ernst, "Permutation methods: a basis for exact inference", Statist. Sci. 19, 2004.
    """
    a, b = _check_pair(first, second, paired or paired_runs)
    rng = np.random.default_rng(SEED)
    games = np.arange(a.shape[1])
    draws_a = draw_runs(a.shape, resamples, paired_runs, rng)
    draws_b = draws_a if paired or paired_runs else draw_runs(b.shape, resamples, paired_runs, rng)
    samples = statistic(_flatten(a[draws_a, games])) - statistic(_flatten(b[draws_b, games]))
    observed = float(statistic(a.reshape(-1)) - statistic(b.reshape(-1)))
    low, high = percentile_interval(samples, confidence)
    permuted = _permuted_differences(a, b, resamples, statistic, paired or paired_runs, paired_runs, rng)
    as_large = int((np.abs(permuted) >= abs(observed) - 1e-12).sum())
    return Difference(Interval(observed, low, high, min(len(a), len(b))), (1 + as_large) / (1 + resamples))


def holm_correction(p_values: Mapping[Key, float]) -> dict[Key, float]:
    """Adjust the p values of several comparisons so that the family-wise error rate stays below the level.

    Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6, 1979.
    """
    if any(not 0 <= p <= 1 for p in p_values.values()):
        raise InvalidParameter(f"invalid p_values={list(p_values.values())}: expected numbers from 0 to 1")
    adjusted: dict[Key, float] = {}
    highest = 0.0
    for rank, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p))
        adjusted[key] = highest
    return {key: adjusted[key] for key in p_values}


# ------------------------------------------------------------------------------------------------------------ helpers


def _check_pair(first: ArrayLike, second: ArrayLike, paired: bool) -> tuple[Array, Array]:
    a, b = as_scores(first), as_scores(second)
    if a.shape[1] != b.shape[1] or (paired and len(a) != len(b)):
        expected = "the same shape" if paired else "the same number of games"
        raise InvalidParameter(f"invalid shapes of scores {a.shape} and {b.shape}: expected {expected}")
    return a, b


def _count_draws(draws: np.ndarray[tuple[int, ...], np.dtype[np.int64]], shape: tuple[int, ...]) -> Array:
    """Return how often each sample drew each run, int[B, S, K or 1] -> float[B, S, K]."""
    counts = np.stack([(draws == run).sum(axis=1) for run in range(shape[0])], axis=1)
    return np.broadcast_to(counts, (len(draws), *shape)).astype(np.float64)


def _flatten(samples: Array) -> Array:
    return samples.reshape(len(samples), -1)


def _permuted_differences(
    a: Array, b: Array, resamples: int, statistic: Statistic, paired: bool, paired_runs: bool, rng: np.random.Generator
) -> Array:
    """Return the differences after runs were assigned to the methods at random, float[B]; runs keep their games."""
    if paired:
        swap = rng.integers(2, size=(resamples, len(a), 1 if paired_runs else a.shape[1])).astype(bool)
        return statistic(_flatten(np.where(swap, b, a))) - statistic(_flatten(np.where(swap, a, b)))
    pool = np.concatenate([a, b])
    order = rng.random((resamples, *pool.shape)).argsort(axis=1)
    mixed = pool[order, np.arange(pool.shape[1])]
    return statistic(_flatten(mixed[:, : len(a)])) - statistic(_flatten(mixed[:, len(a) :]))
