"""The plans of a search that no other plan dominates."""

from __future__ import annotations

from collections.abc import Callable

import moocore
import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Plan


def undominated(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows of float64[n, K] no other row dominates, all maximised; of equal rows the first."""
    if not len(points):
        return np.zeros(0, np.bool_)
    kept: NDArray[np.bool_] = np.asarray(moocore.is_nondominated(points, maximise=True, keep_weakly=False), np.bool_)
    return kept


class Archive:
    """Plans whose values are non-dominated; of equal values the one that was found first."""

    def __init__(self, objectives: int) -> None:
        self.values = np.zeros((0, objectives))
        self.plans: list[Plan] = []

    def offer(self, values: NDArray[np.float64], plan: Callable[[int], Plan]) -> None:
        """Take in the rows of `values`, float64[n, K], that stand; `plan(i)` is asked for those alone."""
        known = len(self.plans)
        every = np.concatenate([self.values, values])
        stand = np.flatnonzero(undominated(every))
        self.plans = [self.plans[i] if i < known else plan(int(i) - known) for i in stand]
        self.values = every[stand]

    def front(self) -> tuple[Plan, ...]:
        """The plans, ordered by their values."""
        return tuple(self.plans[i] for i in np.lexsort(self.values.T[::-1]))
