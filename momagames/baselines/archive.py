"""The plans of a search that no other plan dominates."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from typing import Any

import moocore
import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Passed, Plan

MARKS = (*sorted({int(10 ** (k / 16)) for k in range(16 * 12)}), 2**62)  # steps of the engine at which progress is looked at


def undominated(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows of float64[n, K] no other row dominates, all maximized; of equal rows the first."""
    if not len(points):
        return np.zeros(0, np.bool_)
    kept: NDArray[np.bool_] = np.asarray(moocore.is_nondominated(points, maximize=True, keep_weakly=False), np.bool_)
    return kept


class Archive:
    """Plans whose values are non-dominated; of equal values the one that was found first.

    passed    what stood at one of MARKS and was beaten later: with the plans, what had been found by each mark
    """

    def __init__(self, objectives: int) -> None:
        self.values = np.zeros((0, objectives))
        self.plans: list[Plan] = []
        self.passed: list[Passed] = []

    def offer(self, values: NDArray[np.float64], plan: Callable[[int], Plan]) -> None:
        """Take in the rows of `values`, float64[n, K], that stand; `plan(i)` is asked for few but those. Rows are in the
        order in which they were found."""

        def found(i: int) -> int:
            return plan(i).found

        first = 0
        while first < len(values):
            mark = MARKS[bisect_left(MARKS, found(first))]
            end = bisect_right(range(len(values)), mark, lo=first, key=found)
            self._take(first, values[first:end], plan)
            first = end

    def _take(self, first: int, values: NDArray[np.float64], plan: Callable[[int], Plan]) -> None:
        """Take in rows that were found between two marks, the number of whose first plan is `first`."""
        known = len(self.plans)
        every = np.concatenate([self.values, values])
        stand = np.flatnonzero(undominated(every))
        if stand[-1] < known:  # nothing new: nobody beats what stands already
            return
        beaten = np.setdiff1d(np.arange(known), stand, assume_unique=True)
        now = bisect_left(MARKS, plan(first).found)
        self.passed += [
            Passed(self.plans[i].found, self.values[i]) for i in beaten if bisect_left(MARKS, self.plans[i].found) < now
        ]
        self.plans = [self.plans[i] if i < known else plan(first + int(i) - known) for i in stand]
        self.values = every[stand]

    def front(self) -> tuple[Plan, ...]:
        """The plans, ordered by their values."""
        return tuple(self.plans[i] for i in np.lexsort(self.values.T[::-1]))

    def kept(self) -> dict[str, Any]:
        """All that it holds, as JSON-able data."""
        plans = [[list(one.actions), one.value.tolist(), one.found, one.label] for one in self.plans]
        return {"plans": plans, "passed": [[one.found, one.value.tolist()] for one in self.passed]}

    def take_up(self, kept: Mapping[str, Any]) -> None:
        """Hold what another one held."""
        self.plans = [Plan(tuple(actions), np.array(value), found, label) for actions, value, found, label in kept["plans"]]
        self.passed = [Passed(found, np.array(value)) for found, value in kept["passed"]]
        self.values = np.array([one.value for one in self.plans]).reshape(len(self.plans), self.values.shape[1])
