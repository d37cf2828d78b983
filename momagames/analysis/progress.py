"""What a search had found by each point of its budget: an indicator over steps of the engine, with a band over runs.

found     int[n], steps of the engine that had been made when a plan was found
values    float[n, K], its return. Beside the plans that stand in the end these are those that stood at a mark and were
          beaten later; without them a search that goes on improving would seem to have had nothing before
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momagames.analysis.arrays import Array, rows
from momagames.analysis.statistics import SEED, draws
from momagames.baselines.archive import SNAPSHOT_STEPS
from momagames.errors import InvalidParameter, check_range

DECADES = 3  # of the budget that are looked at: about 50 marks


class Band(NamedTuple):
    """Means over runs at each mark with their pointwise bootstrap intervals, float[M] each."""

    mean: Array
    low: Array
    high: Array


def marks(budget: int) -> NDArray[np.int64]:
    """The budgets to look at, int64[M]: evenly spread over the last three decades in logarithms, and the whole budget."""
    check_range("budget", budget, 1)
    return np.array([*(mark for mark in SNAPSHOT_STEPS if budget / 10**DECADES <= mark < budget), budget], np.int64)


def progress(found: ArrayLike, values: ArrayLike, budgets: ArrayLike, indicator: Callable[[Array], float]) -> Array:
    """The indicator of all that had been found by each of `budgets`, float[M]; `indicator` takes float[0, K] as well.

    It is asked again only where something was added.
    """
    points, times = rows("values", values), np.asarray(found, np.int64)
    if times.shape != (len(points),):
        raise InvalidParameter(f"found has shape {times.shape}; needed: ({len(points)},), as many as values")
    known: dict[int, float] = {}
    told = []
    for budget in np.asarray(budgets):
        there = times <= budget
        count = int(there.sum())
        if count not in known:
            known[count] = indicator(points[there])
        told.append(known[count])
    return np.array(told, np.float64)


def band(curves: ArrayLike, confidence: float = 0.95, resamples: int = 10_000) -> Band:
    """Means over the runs, float[S, M], with percentile bootstrap intervals at each mark by itself; whole runs are drawn."""
    given = rows("curves", curves, least=1)
    if not 0 < confidence < 1:
        raise InvalidParameter(f"invalid confidence={confidence}: expected a number between 0 and 1")
    chosen = draws((len(given), 1), resamples, True, np.random.default_rng(SEED))[:, :, 0]
    often = (chosen[:, :, None] == np.arange(len(given))).sum(axis=1)
    low, high = np.quantile(often @ given / len(given), [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return Band(given.mean(axis=0), low, high)
