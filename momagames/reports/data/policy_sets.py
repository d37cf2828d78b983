"""Summary of a method's policy set: its size, its non-dominated part, and the utility of weight-conditioned policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from momagames.analysis.episode_returns import esr_set, mean_returns
from momagames.analysis.statistics import Interval, bootstrap
from momagames.analysis.utilities import delivered_utility
from momagames.benchmark.plan import Indicators
from momagames.errors import InvalidParameter
from momagames.reports.data.panels import Panel
from momagames.reports.data.points import PolicyEpisodes
from momagames.reports.data.scores import Reference


@dataclass(frozen=True)
class PolicySetSummary:
    """Means over runs.

    policies      number of policies in the set
    front         number of them that are non-dominated by their mean returns
    esr           number of them that are non-dominated in distribution, see `episode_returns.esr_set`; None for more than three
                  objectives, and for more episodes than can be compared
    realized      mean of w·v over the policies conditioned on weights w, where v is the normalized return; None without them
    attainable    mean of w·v with the best policy of the set for each w, selected on the selection episodes
    """

    policies: Interval
    front: Interval
    esr: Interval | None
    realized: Interval | None
    attainable: Interval | None


def summarize_policy_sets(panel: Panel, settings: Indicators) -> dict[str, PolicySetSummary]:
    """Summarize the policy set of each method of a panel of policies."""
    found = {}
    for method, runs in panel.policy_episodes.items():
        games = list(runs.values())
        sizes = [_esr_set_size(one) for one in games]
        utilities = [
            _weighted_utilities(one, panel.references[seed], weights)
            for seed, one in runs.items()
            if (weights := panel.weights.get(method, {}).get(seed))
        ]
        found[method] = PolicySetSummary(
            policies=_bootstrap([len(one.labels) for one in games], settings),
            front=_bootstrap([len(one.nondominated_points().labels) for one in games], settings),
            esr=None if None in sizes else _bootstrap([size for size in sizes if size is not None], settings),
            realized=_bootstrap([pair[0] for pair in utilities], settings) if utilities else None,
            attainable=_bootstrap([pair[1] for pair in utilities], settings) if utilities else None,
        )
    return found


def _bootstrap(values: list[float], settings: Indicators) -> Interval:
    return bootstrap(values, settings.confidence, settings.resamples)


def _esr_set_size(games: PolicyEpisodes) -> int | None:
    """Return the size of the ESR set, or None if it cannot be computed."""
    try:
        return int(esr_set(games.select).sum())
    except InvalidParameter:
        return None


def _weighted_utilities(games: PolicyEpisodes, reference: Reference, weights: Mapping[str, list[float]]) -> tuple[float, float]:
    """Return the realized and the attainable utility for the weights on which the policies are conditioned."""
    places = [i for i, label in enumerate(games.labels) if label in weights]
    given = np.array([weights[games.labels[i]] for i in places], np.float64)
    given = given / given.sum(axis=1, keepdims=True)
    select, report = reference.normalize(mean_returns(games.select)), reference.normalize(mean_returns(games.report))
    best = (given @ select.T).argmax(axis=1)
    return delivered_utility(report[places], given), delivered_utility(report[best], given)
