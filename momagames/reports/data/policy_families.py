"""What a method's policies are as a family: how many are worth keeping, and what a user gets who only states weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from momagames.analysis.episode_returns import esr_set, means
from momagames.analysis.statistics import Interval, bootstrap
from momagames.analysis.utilities import delivered_utility
from momagames.benchmark.plan import Indicators
from momagames.errors import InvalidParameter
from momagames.reports.data.panels import Panel
from momagames.reports.data.points import Played
from momagames.reports.data.scores import Reference


@dataclass(frozen=True)
class Family:
    """Means over runs.

    policies     that the method offers
    front        of these non-dominated by their mean returns
    esr          of these not dominated in distribution, see `science.episodes.esr_set`; None for more than three objectives,
                 and for more episodes than can be compared
    delivered    mean of w·v over the policies that were told weights w, v the normalized return under w; None if none was
    offered      the same with the family's best policy for each w, chosen by the games for selection
    """

    policies: Interval
    front: Interval
    esr: Interval | None
    delivered: Interval | None
    offered: Interval | None


def families(panel: Panel, wanted: Indicators) -> dict[str, Family]:
    """Of each method of a panel of policies."""
    found = {}
    for method, runs in panel.played.items():
        games = list(runs.values())
        sizes = [_distributions(one) for one in games]
        told = [
            _told(one, panel.references[seed], weights)
            for seed, one in runs.items()
            if (weights := panel.weights.get(method, {}).get(seed))
        ]
        found[method] = Family(
            policies=_interval([len(one.labels) for one in games], wanted),
            front=_interval([len(one.points().labels) for one in games], wanted),
            esr=None if None in sizes else _interval([size for size in sizes if size is not None], wanted),
            delivered=_interval([pair[0] for pair in told], wanted) if told else None,
            offered=_interval([pair[1] for pair in told], wanted) if told else None,
        )
    return found


def _interval(values: list[float], wanted: Indicators) -> Interval:
    return bootstrap(values, wanted.confidence, wanted.resamples)


def _distributions(games: Played) -> int | None:
    """Size of the ESR set, or None if it cannot be found."""
    try:
        return int(esr_set(games.select).sum())
    except InvalidParameter:
        return None


def _told(games: Played, reference: Reference, weights: Mapping[str, list[float]]) -> tuple[float, float]:
    """Utility that is delivered, and that the family offers, for the weights that its policies were told."""
    places = [i for i, label in enumerate(games.labels) if label in weights]
    given = np.array([weights[games.labels[i]] for i in places], np.float64)
    given = given / given.sum(axis=1, keepdims=True)
    select, report = reference.shares(means(games.select)), reference.shares(means(games.report))
    best = (given @ select.T).argmax(axis=1)
    return delivered_utility(report[places], given), delivered_utility(report[best], given)
