"""Scores over runs and games, and how sure they are.

scores    float[S, K]: S runs of one method on K games; or float[S], on one game. More is better.

Intervals are percentile bootstraps that draw runs with replacement, within each game for itself. With few runs they are
too narrow: of nominal 95 %, about 75, 83, 90 and 92 % cover the truth for 3, 5, 10 and 20 normal runs on one game, fewer
for skewed ones.

Source: Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", NeurIPS 2021; Efron and
Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import Array
from momagames.errors import InvalidParameter, check_range

SEED = 20240  # of the resampling, so that a report is reproducible
FEW = 10  # runs; with fewer an interval needs a warning
WORST = 0.25  # share of the scores that `cvar` looks at

Statistic = Callable[[Array], Array]  # float[..., n] -> float[...]


@dataclass(frozen=True)
class Interval:
    """A statistic over `runs` runs with its bootstrap interval. With one run the interval is that value and says nothing."""

    value: float
    low: float
    high: float
    runs: int

    @property
    def warning(self) -> str:
        """What a reader has to know about it; empty if there is nothing."""
        if self.runs == 1:
            return "one run: no interval"
        return f"{self.runs} runs: intervals are too narrow below {FEW}" if self.runs < FEW else ""


# ---------------------------------------------------------------------------------------------------------- statistics


def mean(scores: Array) -> Array:
    return np.asarray(scores.mean(axis=-1))


def median(scores: Array) -> Array:
    return np.asarray(np.median(scores, axis=-1))


def iqm(scores: Array) -> Array:
    """Interquartile mean: the mean without the lowest and the highest quarter, each rounded down."""
    cut = scores.shape[-1] // 4
    return np.asarray(np.sort(scores, axis=-1)[..., cut : scores.shape[-1] - cut].mean(axis=-1))


def cvar(scores: Array) -> Array:
    """Mean of the worst quarter, rounded up: what happens when things go wrong."""
    worst = int(np.ceil(WORST * scores.shape[-1]))
    return np.asarray(np.partition(scores, worst - 1, axis=-1)[..., :worst].mean(axis=-1))


def optimality_gap(scores: Array) -> Array:
    """Mean shortfall from 1; what is above 1 does not make up for what is below. Less is better."""
    return np.asarray(1 - np.minimum(scores, 1).mean(axis=-1))


STATISTICS: dict[str, Statistic] = {
    "iqm": iqm,
    "mean": mean,
    "median": median,
    "cvar": cvar,
    "optimality_gap": optimality_gap,
}


# ----------------------------------------------------------------------------------------------------------- intervals


def bootstrap(
    scores: ArrayLike,
    confidence: float = 0.95,
    resamples: int = 10_000,
    *,
    statistic: Statistic = mean,
    paired_runs: bool = False,
) -> Interval:
    """A statistic of all scores, with its percentile bootstrap interval.

    paired_runs    run s has the same luck on every game: whole rows are drawn

    Raises InvalidParameter for no scores or scores that are not finite
    """
    given = matrix(scores)
    low, high = interval(statistic(resampled(given, resamples, paired_runs)), confidence)
    return Interval(float(statistic(given.reshape(-1))), low, high, len(given))


def interval(values: Array, confidence: float) -> tuple[float, float]:
    """The percentile interval of float[B]."""
    if not 0 < confidence < 1:
        raise InvalidParameter(f"invalid confidence={confidence}: expected a number between 0 and 1")
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def resampled(scores: Array, resamples: int, paired_runs: bool, rng: np.random.Generator | None = None) -> Array:
    """`resamples` bootstrap samples of float[S, K], each flattened: float[B, S * K]."""
    chosen = draws(scores.shape, resamples, paired_runs, rng or np.random.default_rng(SEED))
    return np.asarray(scores[chosen, np.arange(scores.shape[1])].reshape(resamples, -1))


def draws(shape: tuple[int, ...], resamples: int, paired_runs: bool, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which runs each bootstrap sample takes, int[B, S, K]."""
    check_range("resamples", resamples, 1)
    runs, games = shape
    return rng.integers(runs, size=(resamples, runs, 1 if paired_runs else games))


def matrix(scores: ArrayLike) -> Array:
    """Scores as float64[S, K], or InvalidParameter."""
    given = np.asarray(scores, np.float64)
    given = given[:, None] if given.ndim == 1 else given
    if given.ndim != 2 or not given.size or not np.isfinite(given).all():
        raise InvalidParameter(
            f"scores must be one or more finite numbers, of shape (runs, games) or (runs,); given: {scores!r}"
        )
    return given
