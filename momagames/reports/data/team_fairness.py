"""Fairness over the agents of a team whose members all play one policy, in panels that evaluate each of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.fairness import FAIRNESS_MEASURES, agent_utilities, lorenz_front
from momagames.analysis.reference import Reference
from momagames.analysis.statistics import Interval
from momagames.benchmark.suites import Indicators
from momagames.reports.data.panels import Panel
from momagames.reports.data.points import PolicyEpisodes
from momagames.reports.data.scores import Weights

LORENZ_FRONT = "Lorenz front"  # number of policies of a method; the other columns are means over them
FAIRNESS_COLUMNS = (*FAIRNESS_MEASURES, LORENZ_FRONT)


def measure_team_fairness(panel: Panel, settings: Indicators) -> dict[str, dict[str, Interval]]:
    """Compute FAIRNESS_COLUMNS for each method of a panel of policies; {} without a team of several evaluated agents.

    A policy plays all agents of a team in the same episodes, from whichever of their seats it is evaluated. The utility of an
    agent is the weighted sum of its normalized mean returns, under the weights of the policy, or equal ones.
    """
    found = {}
    for method, runs in panel.policy_episodes.items():
        weights = panel.weights.get(method, {})
        values = [
            measured
            for seed, episodes in runs.items()
            if (measured := _measure_run(panel, episodes, panel.references[seed], weights.get(seed, {})))
        ]
        if values:
            found[method] = {name: settings.bootstrap([one[name] for one in values]) for name in FAIRNESS_COLUMNS}
    return found


def _measure_run(panel: Panel, episodes: PolicyEpisodes, reference: Reference, weights: Weights) -> dict[str, float]:
    equal = [1.0] * len(panel.game.objectives)
    given = [weights.get(label, equal) for label in episodes.labels]
    teams = [_measure_outcomes(agent_utilities(reference.normalize(values), given)) for values in _list_teams(panel, episodes)]
    return {name: float(np.mean([team[name] for team in teams])) for name in FAIRNESS_COLUMNS} if teams else {}


def _measure_outcomes(utilities: Array) -> dict[str, float]:
    """Return the measures of utilities float64[n, A] of the agents of a team under n policies."""
    means = {name: float(measure(utilities).mean()) for name, measure in FAIRNESS_MEASURES.items()}
    return {**means, LORENZ_FRONT: float(lorenz_front(utilities).sum())}


def _list_teams(panel: Panel, episodes: PolicyEpisodes) -> Iterator[Array]:
    """Yield the mean returns of the agents of each team that is evaluated as a whole, float64[n, A, K], report episodes."""
    names, teams = panel.game.agents, panel.game.teams
    for team in dict.fromkeys(teams):
        members = [name for name, own in zip(names, teams, strict=True) if own == team]
        matches = [[match for match in episodes.matches if match[1] == member] for member in members]
        if len(members) > 1 and all(matches):
            yield np.stack([episodes.select_matches(own).report_means for own in matches], axis=1)
