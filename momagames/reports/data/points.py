"""Points of a run, read from its rows: the returns of plans, and the mean returns of policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.analysis.arrays import Array
from momagames.analysis.episode_returns import mean_returns, standard_errors
from momagames.baselines.archive import is_nondominated
from momagames.benchmark.episode_sums import EpisodeSums, is_sum
from momagames.benchmark.head_to_head import RESPONSE


@dataclass(frozen=True)
class Points:
    """The points of a run: values float64[n, K], and a label for each (the name of a policy, or the actions of a plan).

    errors           float64[n, K], standard errors of the values: 0 for plans, infinite for policies with a single episode
    run              name of the run's directory
    front_indices    index of each point on the run's stored front, -1 if it is not on the front or cannot be replayed
    """

    values: Array
    labels: tuple[str, ...]
    errors: Array
    run: str = ""
    front_indices: tuple[int, ...] = ()

    def with_front_indices(self, run: str, front: Iterable[Mapping[str, Any]]) -> Points:
        """Return the points, which are policies, with their indices on the stored front of a run."""
        known = {one["policy"]: one["point"] for one in front}
        return replace(self, run=run, front_indices=tuple(known.get(label, -1) for label in self.labels))


@dataclass(frozen=True)
class SearchHistory:
    """All points that a search archived, see `analysis.anytime`: steps int64[n], values float64[n, K]."""

    steps: NDArray[np.int64]
    values: Array


@dataclass(frozen=True)
class PolicyEpisodes:
    """The episodes of every policy of a run in some matches (pairs of opponent and seat).

    select, report    float64[n, E, M, K]: policies, episodes, matches, objectives. Policies are selected on the first set of
                      episodes and evaluated on the second. With a single set the values would be biased upwards, because the
                      best of several noisy means is too high.
    matches           opponent and seat of each match
    response          float[E, S, K], head to head: the returns of the response from each seat, in the report episodes
    instances         int[E], the instance of each report episode by number; None: each episode has its own
    sums              those of all episodes, if only the first ones are stored; means and standard errors are of all episodes
    """

    labels: tuple[str, ...]
    select: Array
    report: Array
    matches: tuple[tuple[str, str], ...]
    response: Array | None = None
    instances: NDArray[np.int64] | None = None
    sums: EpisodeSums | None = None

    def select_matches(self, matches: Sequence[tuple[str, str]]) -> PolicyEpisodes:
        """Return the episodes of some matches."""
        at = [self.matches.index(match) for match in matches]
        sums = self.sums and self.sums.select_matches(matches)
        return replace(self, select=self.select[:, :, at], report=self.report[:, :, at], matches=tuple(matches), sums=sums)

    @property
    def select_means(self) -> Array:
        """Mean return of each policy in the selection episodes, float64[n, K]."""
        return mean_returns(self.select) if self.sums is None else self.sums.compute_means("select")

    @property
    def report_means(self) -> Array:
        """Mean return of each policy in the report episodes, float64[n, K]."""
        return mean_returns(self.report) if self.sums is None else self.sums.compute_means("report")

    @property
    def report_errors(self) -> Array:
        """Standard errors of `report_means`, float64[n, K]."""
        return standard_errors(self.report, self.instances) if self.sums is None else self.sums.compute_errors()

    def nondominated_points(self) -> Points:
        """Return the policies that are non-dominated in the selection episodes, with their values in the report episodes."""
        mask = is_nondominated(self.select_means)
        labels = tuple(label for label, selected in zip(self.labels, mask, strict=True) if selected)
        return Points(self.report_means[mask], labels, self.report_errors[mask])


def read_plan_points(rows: Iterable[Mapping[str, Any]], run: str = "") -> Points:
    """Read the plans of a run: their returns are deterministic, so that each is a point of its front."""
    plans = list(rows)
    labels = tuple(f"{row['policy']}: {_describe_actions(row)}" for row in plans)
    values = np.array([row["return"] for row in plans], np.float64)
    indices = tuple(i if "actions" in row else -1 for i, row in enumerate(plans)) if run else ()
    return Points(values, labels, np.zeros_like(values), run, indices)


def _describe_actions(plan: Mapping[str, Any]) -> str:
    return " ".join(map(str, plan["actions"])) if "actions" in plan else "actions not archived"


def read_search_history(rows: Iterable[Mapping[str, Any]], dominated: Iterable[Sequence[float]]) -> SearchHistory:
    """Read the plans of a run and the points dominated later: [steps, *return] each."""
    table = [[row["step"], *row["return"]] for row in rows] + [list(point) for point in dominated]
    array = np.array(table, np.float64)
    return SearchHistory(array[:, 0].astype(np.int64), array[:, 1:])


def read_policy_episodes(
    rows: Iterable[Mapping[str, Any]], opponents: tuple[str, ...], seats: tuple[str, ...]
) -> PolicyEpisodes:
    """Read the episodes of a run's policies against some opponents from some seats.

    A head-to-head run has report episodes of a single policy, which was selected before, and those of the response.
    """
    found: dict[str, dict[str, dict[tuple[str, str], dict[int, list[float]]]]] = {}
    responses: dict[str, dict[int, list[float]]] = {}
    starts: dict[int, int] = {}  # of the report episodes
    sums: list[Mapping[str, Any]] = []
    for row in rows:
        if is_sum(row):
            sums.append(row)
        elif row["set"] == RESPONSE:
            responses.setdefault(row["seat"], {})[row["episode"]] = row["return"]
        elif row["opponent"] in opponents and row["seat"] in seats:
            if row["set"] == "report":
                starts[row["episode"]] = row["start"]
            matches = found.setdefault(row["policy"], {"select": {}, "report": {}})[row["set"]]
            matches.setdefault((row["opponent"], row["seat"]), {})[row["episode"]] = row["return"]

    def stack(which: str) -> Array:
        policies = [
            [[games[episode] for episode in sorted(games)] for _, games in sorted(sets[which].items())]
            for sets in found.values()
        ]
        return np.array(policies, np.float64).swapaxes(1, 2)

    both = tuple(sorted({match for sets in found.values() for match in sets["report"]}))
    report = stack("report")
    instances = np.unique([starts[episode] for episode in sorted(starts)], return_inverse=True)[1].reshape(-1)
    if not responses:
        summed = EpisodeSums.read_rows(sums, tuple(found), both)
        return PolicyEpisodes(tuple(found), stack("select"), report, both, instances=instances, sums=summed)
    played = [[games[episode] for episode in sorted(games)] for seat, games in sorted(responses.items()) if seat in seats]
    return PolicyEpisodes(tuple(found), report, report, both, np.array(played, np.float64).swapaxes(0, 1), instances)
