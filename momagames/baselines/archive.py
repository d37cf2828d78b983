"""Non-dominated plans of a search."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from typing import Any

import moocore
import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import DominatedPoint, Plan

SNAPSHOT_STEPS = (
    *sorted({int(10 ** (k / 16)) for k in range(16 * 12)}),
    2**62,
)  # environment steps at which anytime performance is measured


def is_nondominated(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask of the non-dominated rows of float64[n, K], all objectives maximized; of equal rows only the first."""
    if not len(points):
        return np.zeros(0, np.bool_)
    mask: NDArray[np.bool_] = np.asarray(moocore.is_nondominated(points, maximise=True, keep_weakly=False), np.bool_)
    return mask


class Archive:
    """Anytime archive of non-dominated plans; of equal values it holds the plan that was found first.

    dominated    values that were non-dominated at one of SNAPSHOT_STEPS and dominated later. Together with the plans they
                 give the front at each of these steps
    """

    def __init__(self, objectives: int) -> None:
        self.values = np.zeros((0, objectives))
        self.plans: list[Plan] = []
        self.dominated: list[DominatedPoint] = []

    def add(self, values: NDArray[np.float64], plan: Callable[[int], Plan]) -> None:
        """Add the non-dominated rows of `values`, float64[n, K], in the order in which they were found.

        plan    makes the plan of a row; it is called for few rows that are not added
        """

        def step_of_row(i: int) -> int:
            return plan(i).step

        first = 0
        while first < len(values):
            snapshot = SNAPSHOT_STEPS[bisect_left(SNAPSHOT_STEPS, step_of_row(first))]
            end = bisect_right(range(len(values)), snapshot, lo=first, key=step_of_row)
            self._add_until_snapshot(first, values[first:end], plan)
            first = end

    def _add_until_snapshot(self, first: int, values: NDArray[np.float64], plan: Callable[[int], Plan]) -> None:
        """Add rows that were found between two snapshots; `first` is the index of the first row for `plan`."""
        known = len(self.plans)
        candidates = np.concatenate([self.values, values])
        front = np.flatnonzero(is_nondominated(candidates))
        if front[-1] < known:  # no new row is non-dominated
            return
        dominated = np.setdiff1d(np.arange(known), front, assume_unique=True)
        interval = bisect_left(SNAPSHOT_STEPS, plan(first).step)
        self.dominated += [
            DominatedPoint(self.plans[i].step, self.values[i])
            for i in dominated
            if bisect_left(SNAPSHOT_STEPS, self.plans[i].step) < interval
        ]
        self.plans = [self.plans[i] if i < known else plan(first + int(i) - known) for i in front]
        self.values = candidates[front]

    def front(self) -> tuple[Plan, ...]:
        """Return the plans in ascending order of their values."""
        return tuple(self.plans[i] for i in np.lexsort(self.values.T[::-1]))

    def state_dict(self) -> dict[str, Any]:
        """Return the content as JSON-able data."""
        plans = [[list(one.actions), one.value.tolist(), one.step, one.label] for one in self.plans]
        return {"plans": plans, "dominated": [[one.step, one.value.tolist()] for one in self.dominated]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace the content with that of a `state_dict`."""
        self.plans = [Plan(tuple(actions), np.array(value), step, label) for actions, value, step, label in state["plans"]]
        self.dominated = [DominatedPoint(step, np.array(value)) for step, value in state["dominated"]]
        self.values = np.array([one.value for one in self.plans]).reshape(len(self.plans), self.values.shape[1])
