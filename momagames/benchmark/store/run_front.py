"""Front of a run: its points, each with the policy behind it as plain data.

    {"point": 3, "policy": LABEL, "return": [...], "actions": [...]}     a plan: actions from the start position
    {"point": 3, "policy": LABEL, "return": [...], "weights": [...], "rule": "greedy", "episodes": 48}
                                                                         a policy: that member of the method's family

The return of a policy is its mean over the report episodes of all opponents and seats. Together with the run's config.json
(game, method, options, seed) a point can be replayed, see `momagames.benchmark.replays`. Trained policies are stored in the
same directory, see `store.policy_files`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from momagames.baselines.archive import is_nondominated
from momagames.benchmark.episodes import SETS
from momagames.engine.policies import BatchPolicy

if TYPE_CHECKING:
    from momagames.benchmark.runs import Run

Point = dict[str, Any]


class FrontCollector:
    """Collector of the rows of a run, which computes the points of its front.

    policies   the evaluated policies, complete after the last row
    """

    def __init__(self, run: Run, policies: Sequence[BatchPolicy] = ()) -> None:
        self._run, self._policies = run, policies
        self._value = "return" if run.kind == "plans" or run.stored_episodes is None else "sums"
        self._plans: list[Point] = []
        self._sums: dict[str, dict[str, tuple[int, Any]]] = {}  # policy -> set -> (episodes, sum of returns)

    def add(self, row: dict[str, Any]) -> None:
        if self._run.kind == "plans":
            fields = {key: value for key, value in row.items() if key in ("policy", "return", "actions")}
            self._plans.append({"point": len(self._plans), **fields})
        elif {"policy", "set", self._value} <= row.keys() and row["set"] in SETS:
            sets = self._sums.setdefault(row["policy"], {})
            count, total = sets.get(row["set"], (0, 0.0))
            sets[row["set"]] = count + row.get("episodes", 1), total + np.array(row[self._value], np.float64)

    def compute_points(self) -> list[Point]:
        """Return the numbered points. Policies are those that are non-dominated in the selection episodes."""
        if self._run.kind == "plans":
            return self._plans
        if not self._sums:
            return []
        means, labels = self._select_policies()
        policies = {policy.label: policy for policy in self._policies}
        return [
            {
                "point": number,
                "policy": label,
                "return": means[label]["report"].tolist(),
                **_describe(policies[label], len(means[label]["report"])),
                "episodes": self._sums[label]["report"][0],
            }
            for number, label in enumerate(labels)
        ]

    def select_trained_policies(self) -> list[BatchPolicy]:
        """Return the policies behind the points if they were trained in the run, else none."""
        found = {policy.label: policy for policy in self._policies if policy.arrays}
        return [found[label] for label in self._select_policies()[1]] if found else []

    def _select_policies(self) -> tuple[dict[str, dict[str, Any]], list[str]]:
        """Return the mean returns of all policies in both sets of episodes, and the labels of the selected policies."""
        means = {label: {kind: total / count for kind, (count, total) in sets.items()} for label, sets in self._sums.items()}
        if any("select" not in mean for mean in means.values()):  # head to head: the policy that was selected before
            return means, list(means)
        chosen = is_nondominated(np.array([mean["select"] for mean in means.values()]))
        return means, [label for label, stays in zip(means, chosen, strict=True) if stays]


def _describe(policy: BatchPolicy, objectives: int) -> dict[str, Any]:
    return {"rule": policy.name, "weights": list(policy.weights) or [0.0] * objectives}
