"""Two methods: how often and by how much one is better, and whether that may be chance.

first, second    float[S, K] (see `statistics`), on the same K games; the numbers of runs may differ unless they are paired
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import Array
from momagames.analysis.statistics import SEED, Interval, Statistic, draws, interval, matrix, mean
from momagames.errors import InvalidParameter

Key = TypeVar("Key")


@dataclass(frozen=True)
class Difference:
    """`first` less `second`.

    interval    the difference of a statistic, with its bootstrap interval
    p           chance of a difference at least as large if both methods were the same, by exchanging their runs at random;
                two-sided, never below 1 / (resamples + 1)
    """

    interval: Interval
    p: float


def improvement(
    first: ArrayLike,
    second: ArrayLike,
    confidence: float = 0.95,
    resamples: int = 10_000,
    *,
    paired: bool = False,
    paired_runs: bool = False,
) -> Interval:
    """Chance that a run of `first` beats a run of `second` on a game taken at random; a tie counts half.

    It is the mean over games of the Mann-Whitney statistic as a share of the pairs of runs. It says how often, not by how
    much. `paired` and `paired_runs` as in `difference`: they concern the interval, the chance is over all pairs.

    Source: Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than the other",
    Ann. Math. Stat. 18, 1947; Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", 2021.
    """
    a, b = _both(first, second, paired or paired_runs)
    wins = np.sign(a[:, None, :] - b[None, :, :]) / 2 + 0.5  # [Sa, Sb, K]
    rng = np.random.default_rng(SEED)
    ours = draws(a.shape, resamples, paired_runs, rng)
    theirs = ours if paired or paired_runs else draws(b.shape, resamples, paired_runs, rng)
    # how often each run was drawn, [B, S, K]: the mean over all pairs without writing the pairs of each sample down
    often_a, often_b = _counts(ours, a.shape), _counts(theirs, b.shape)
    drawn = np.einsum("bik,ijk,bjk->b", often_a, wins, often_b, optimize=True) / (len(a) * len(b) * a.shape[1])
    low, high = interval(drawn, confidence)
    return Interval(float(wins.mean()), low, high, min(len(a), len(b)))


def difference(
    first: ArrayLike,
    second: ArrayLike,
    confidence: float = 0.95,
    resamples: int = 10_000,
    *,
    statistic: Statistic = mean,
    paired: bool = False,
    paired_runs: bool = False,
) -> Difference:
    """By how much a statistic of `first` exceeds that of `second`.

    paired         run s of both methods has the same luck (the same deal, say): pairs are drawn together, and exchanged
                   within themselves
    paired_runs    run s has the same luck on every game, too

    Source: Ernst, "Permutation methods: a basis for exact inference", Statist. Sci. 19, 2004.
    """
    a, b = _both(first, second, paired or paired_runs)
    rng = np.random.default_rng(SEED)
    games = np.arange(a.shape[1])
    ours = draws(a.shape, resamples, paired_runs, rng)
    theirs = ours if paired or paired_runs else draws(b.shape, resamples, paired_runs, rng)
    moved = statistic(_flat(a[ours, games])) - statistic(_flat(b[theirs, games]))
    observed = float(statistic(a.reshape(-1)) - statistic(b.reshape(-1)))
    low, high = interval(moved, confidence)
    exchanged = _exchanged(a, b, resamples, statistic, paired or paired_runs, paired_runs, rng)
    as_large = int((np.abs(exchanged) >= abs(observed) - 1e-12).sum())
    return Difference(Interval(observed, low, high, min(len(a), len(b))), (1 + as_large) / (1 + resamples))


def holm(p_values: Mapping[Key, float]) -> dict[Key, float]:
    """P values of several comparisons, corrected so that the chance of any false alarm stays below the level.

    Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6, 1979.
    """
    if any(not 0 <= p <= 1 for p in p_values.values()):
        raise InvalidParameter(f"p values {list(p_values.values())} are not possible; allowed: 0..1")
    corrected: dict[Key, float] = {}
    highest = 0.0
    for rank, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p))
        corrected[key] = highest
    return {key: corrected[key] for key in p_values}


# --------------------------------------------------------------------------------------------------------------- parts


def _both(first: ArrayLike, second: ArrayLike, paired: bool) -> tuple[Array, Array]:
    a, b = matrix(first), matrix(second)
    if a.shape[1] != b.shape[1] or (paired and len(a) != len(b)):
        needed = "the same shape" if paired else "the same number of games"
        raise InvalidParameter(f"scores of shapes {a.shape} and {b.shape} cannot be compared; needed: {needed}")
    return a, b


def _counts(chosen: np.ndarray[tuple[int, ...], np.dtype[np.int64]], shape: tuple[int, ...]) -> Array:
    """How often each sample drew each run, int[B, S, K or 1] -> float[B, S, K]."""
    often = np.stack([(chosen == run).sum(axis=1) for run in range(shape[0])], axis=1)
    return np.broadcast_to(often, (len(chosen), *shape)).astype(np.float64)


def _flat(samples: Array) -> Array:
    return samples.reshape(len(samples), -1)


def _exchanged(
    a: Array, b: Array, resamples: int, statistic: Statistic, paired: bool, paired_runs: bool, rng: np.random.Generator
) -> Array:
    """Differences if it does not matter which method a run belongs to, float[B]. Runs stay with their games."""
    if paired:
        swap = rng.integers(2, size=(resamples, len(a), 1 if paired_runs else a.shape[1])).astype(bool)
        return statistic(_flat(np.where(swap, b, a))) - statistic(_flat(np.where(swap, a, b)))
    pool = np.concatenate([a, b])
    order = rng.random((resamples, *pool.shape)).argsort(axis=1)
    mixed = pool[order, np.arange(pool.shape[1])]
    return statistic(_flat(mixed[:, : len(a)])) - statistic(_flat(mixed[:, len(a) :]))
