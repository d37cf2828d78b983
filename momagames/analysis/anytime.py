"""Anytime performance of a search: an indicator over environment steps, with a confidence band over runs.

steps     int[n], environment steps used when each plan was found
values    float[n, K], the return of each plan: the final archive, and plans that were in the archive at a snapshot and were
          dominated later. Without the latter a search that keeps improving would appear to have found nothing early
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import Array, as_matrix
from momagames.analysis.statistics import SEED, check_confidence, draw_runs
from momagames.baselines.archive import SNAPSHOT_STEPS
from momagames.errors import InvalidParameter, check_range

DECADES = 3  # of the budget that a curve covers: about 50 budgets


class Band(NamedTuple):
    """Means over runs at each budget with pointwise bootstrap intervals, float[M] each."""

    mean: Array
    low: Array
    high: Array


def anytime_budgets(budget: int) -> NDArray[np.int64]:
    """Return the budgets of a curve, int64[M]: spaced evenly in logarithms over the last three decades, and the full budget."""
    check_range("budget", budget, 1)
    return np.array([*(step for step in SNAPSHOT_STEPS if budget / 10**DECADES <= step < budget), budget], np.int64)


def anytime_curve(steps: ArrayLike, values: ArrayLike, budgets: ArrayLike, indicator: Callable[[Array], float]) -> Array:
    """Return the indicator of the points found within each of `budgets`, float[M].

    indicator    must accept float[0, K]; it is called again only where points were added
    """
    points, times = as_matrix("values", values), np.asarray(steps, np.int64)
    if times.shape != (len(points),):
        raise InvalidParameter(f"invalid shape {times.shape} of steps: expected ({len(points)},), one for each row of values")
    by_count: dict[int, float] = {}
    curve = []
    for budget in np.asarray(budgets):
        found = times <= budget
        count = int(found.sum())
        if count not in by_count:
            by_count[count] = indicator(points[found])
        curve.append(by_count[count])
    return np.array(curve, np.float64)


def bootstrap_band(curves: ArrayLike, confidence: float = 0.95, resamples: int = 10_000) -> Band:
    """Return means over the runs, float[S, M], with pointwise percentile bootstrap intervals; whole runs are resampled."""
    checked = as_matrix("curves", curves, min_rows=1)
    check_confidence(confidence)
    draws = draw_runs((len(checked), 1), resamples, True, np.random.default_rng(SEED))[:, :, 0]
    counts = (draws[:, :, None] == np.arange(len(checked))).sum(axis=1)
    low, high = np.quantile(counts @ checked / len(checked), [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return Band(checked.mean(axis=0), low, high)
