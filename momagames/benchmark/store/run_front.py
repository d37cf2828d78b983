"""What a run offers: the points of its front, each with the policy behind it as plain data.

    {"point": 3, "policy": LABEL, "return": [...], "actions": [...]}     a plan: play these actions from the dealt position
    {"point": 3, "policy": LABEL, "return": [...], "weights": [...], "rule": "greedy", "episodes": 48}
                                                                         a policy: that member of the method's family

The return of a policy is its mean in the games for the report, over all opponents and seats. With the run's config.json
(game, method, options, seed) a point can be played again: see `experiments.replays`. Policies that were found in the run are
stored beside it, see `experiments.results.policies`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from momagames.baselines.archive import is_nondominated
from momagames.engine.policies import BatchPolicy

if TYPE_CHECKING:
    from momagames.benchmark.plan import Run

Point = dict[str, Any]


class Collector:
    """Takes in the rows of a run as they come, and says at the end what the points of its front are.

    policies   those that played, known when the rows have ended; empty: the policies that the method offers
    """

    def __init__(self, run: Run, policies: Sequence[BatchPolicy] = ()) -> None:
        self._run, self._policies = run, policies
        self._plans: list[Point] = []
        self._sums: dict[str, dict[str, tuple[int, Any]]] = {}  # policy -> set -> (episodes, sum of returns)

    def add(self, row: dict[str, Any]) -> None:
        if self._run.kind == "plans":
            kept = {key: value for key, value in row.items() if key in ("policy", "return", "actions")}
            self._plans.append({"point": len(self._plans), **kept})
        elif {"policy", "set", "return"} <= row.keys():
            sets = self._sums.setdefault(row["policy"], {})
            count, total = sets.get(row["set"], (0, 0.0))
            sets[row["set"]] = count + 1, total + np.array(row["return"], np.float64)

    def points(self) -> list[Point]:
        """The points, numbered; policies as `analysis` chooses them from the games for selection."""
        if self._run.kind == "plans":
            return self._plans
        if not self._sums:
            return []
        means, labels = self._chosen()
        policies = {policy.label: policy for policy in self._known()}
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

    def trained(self) -> list[BatchPolicy]:
        """The policies behind the points, if they were found in the run; else none."""
        found = {policy.label: policy for policy in self._policies if policy.arrays}
        return [found[label] for label in self._chosen()[1]] if found else []

    def _known(self) -> Sequence[BatchPolicy]:
        game = self._run.game.game()
        return self._policies or self._run.method.method(game).policies(game)

    def _chosen(self) -> tuple[dict[str, dict[str, Any]], list[str]]:
        """The mean returns of all policies in both sets of games, and the labels of those that make the points."""
        means = {label: {kind: total / count for kind, (count, total) in sets.items()} for label, sets in self._sums.items()}
        chosen = is_nondominated(np.array([mean["select"] for mean in means.values()]))
        return means, [label for label, stays in zip(means, chosen, strict=True) if stays]


def _describe(policy: BatchPolicy, objectives: int) -> dict[str, Any]:
    return {"rule": policy.name, "weights": list(policy.weights) or [0.0] * objectives}
