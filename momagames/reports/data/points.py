"""From the rows of a run to points: the returns of plans, and the mean returns of policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.analysis.arrays import Array
from momagames.analysis.episode_returns import means, standard_errors
from momagames.baselines.archive import is_nondominated


@dataclass(frozen=True)
class Points:
    """What a run offers: values float64[n, K], and for each what it is (a policy's name, or a plan's actions).

    errors    float64[n, K], standard errors of the values: 0 for plans, infinite for policies that played one episode
    run       name of the run's folder, and
    numbers   for each its number on the run's front (`results.run_front`), -1 if it is not there
    """

    values: Array
    labels: tuple[str, ...]
    errors: Array
    run: str = ""
    numbers: tuple[int, ...] = ()

    def known_as(self, run: str, front: Iterable[Mapping[str, Any]], plans: bool) -> Points:
        """The same with their places on the front of a run, as it is stored: plans in its order, policies by their labels."""
        known = {one["policy"]: one["point"] for one in front}
        numbers = range(len(self.labels)) if plans else [known.get(label, -1) for label in self.labels]
        return replace(self, run=run, numbers=tuple(numbers))


@dataclass(frozen=True)
class History:
    """What a search had found on the way, see `science.progress`: found int64[n], values float64[n, K]."""

    found: NDArray[np.int64]
    values: Array


@dataclass(frozen=True)
class Played:
    """The episodes of every policy of a run, by the opponents and seats (the matches) that are looked at.

    select, report    float64[n, E, M, K]: policies, episodes, matches, objectives. Two sets of different episodes: by the
                      first a user chooses, from the second values are taken. Taking both from one set would favor luck:
                      the best of several noisy means is too high.
    matches           opponent and seat of each
    """

    labels: tuple[str, ...]
    select: Array
    report: Array
    matches: tuple[tuple[str, str], ...]

    def only(self, match: tuple[str, str]) -> Played:
        """One match of these, M = 1."""
        at = slice(place := self.matches.index(match), place + 1)
        return Played(self.labels, self.select[:, :, at], self.report[:, :, at], (match,))

    def points(self) -> Points:
        """The policies that are non-dominated in the episodes for selection, with their values in the others."""
        chosen = is_nondominated(means(self.select))
        labels = tuple(label for label, stays in zip(self.labels, chosen, strict=True) if stays)
        kept = self.report[chosen]
        return Points(means(kept), labels, standard_errors(kept))


def plan_points(rows: Iterable[Mapping[str, Any]]) -> Points:
    """The plans of a run: their returns are certain, so each is a point."""
    kept = list(rows)
    labels = tuple(f"{row['policy']}: {' '.join(map(str, row['actions']))}" for row in kept)
    values = np.array([row["return"] for row in kept], np.float64)
    return Points(values, labels, np.zeros_like(values))


def history(rows: Iterable[Mapping[str, Any]], passed: Iterable[Sequence[float]]) -> History:
    """The plans of a run, and what it had passed: [found, *return] each."""
    kept = [[row["found"], *row["return"]] for row in rows] + [list(one) for one in passed]
    table = np.array(kept, np.float64)
    return History(table[:, 0].astype(np.int64), table[:, 1:])


def policy_games(rows: Iterable[Mapping[str, Any]], opponents: tuple[str, ...], seats: tuple[str, ...]) -> Played:
    """The episodes of a run's policies against some opponents from some seats."""
    found: dict[str, dict[str, dict[tuple[str, str], dict[int, list[float]]]]] = {}
    for row in rows:
        if row["opponent"] in opponents and row["seat"] in seats:
            matches = found.setdefault(row["policy"], {"select": {}, "report": {}})[row["set"]]
            matches.setdefault((row["opponent"], row["seat"]), {})[row["episode"]] = row["return"]

    def stacked(which: str) -> Array:
        policies = [
            [[games[episode] for episode in sorted(games)] for _, games in sorted(sets[which].items())]
            for sets in found.values()
        ]
        return np.array(policies, np.float64).swapaxes(1, 2)

    both = tuple(sorted({match for sets in found.values() for match in sets["report"]}))
    return Played(tuple(found), stacked("select"), stacked("report"), both)
