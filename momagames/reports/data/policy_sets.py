"""Summary of a method's policy set: its size, its non-dominated part, and the indicators of weight-conditioned policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from momagames.analysis.episode_returns import esr_set
from momagames.analysis.named_indicators import WEIGHT_INDICATORS, MeasuredRun
from momagames.analysis.statistics import Interval
from momagames.benchmark.suites import Indicators
from momagames.errors import InvalidParameter
from momagames.reports.data.panels import Panel
from momagames.reports.data.points import PolicyEpisodes
from momagames.reports.data.scores import find_weighted_policies, score_runs


@dataclass(frozen=True)
class PolicySetSummary:
    """Means over runs.

    policies      number of policies in the set
    front         number of them that are non-dominated by their mean returns
    esr           number of them that are non-dominated in distribution, see `episode_returns.esr_set`; None for more than three
                  objectives, and for more episodes than can be compared
    control       indicator of `WEIGHT_INDICATORS` -> value, as far as the policies are conditioned on weights
    """

    policies: Interval
    front: Interval
    esr: Interval | None
    control: Mapping[str, Interval]


def summarize_policy_sets(panel: Panel, settings: Indicators) -> dict[str, PolicySetSummary]:
    """Summarize the policy set of each method of a panel of policies."""
    found = {}
    for method, runs in panel.policy_episodes.items():
        games = list(runs.values())
        sizes = [_esr_set_size(one) for one in games]
        policies = find_weighted_policies(runs, panel.references, panel.weights.get(method, {}))
        measured = {
            seed: MeasuredRun(points.values, panel.references[seed], policies.get(seed))
            for seed, points in panel.points[method].items()
        }
        found[method] = PolicySetSummary(
            policies=settings.bootstrap([len(one.labels) for one in games]),
            front=settings.bootstrap([len(one.nondominated_points().labels) for one in games]),
            esr=None if None in sizes else settings.bootstrap([size for size in sizes if size is not None]),
            control={
                name: score.interval
                for name, one in WEIGHT_INDICATORS.items()
                if (score := score_runs(one, measured, settings)) is not None
            },
        )
    return found


def _esr_set_size(games: PolicyEpisodes) -> int | None:
    """Return the size of the ESR set, or None if it cannot be computed."""
    try:
        return int(esr_set(games.select).sum())
    except InvalidParameter:
        return None
