"""Fairness over the agents of a team whose members all play one policy, in panels that evaluate each of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.episode_returns import mean_returns
from momagames.analysis.fairness import agent_utilities, alpha_fair_welfare, gini, lorenz_front, nash_welfare
from momagames.analysis.statistics import Interval, bootstrap
from momagames.benchmark.plan import Indicators
from momagames.reports.data.panels import Panel
from momagames.reports.data.points import PolicyEpisodes
from momagames.reports.data.preference_control import Weights
from momagames.reports.data.scores import Reference

# Means over the policies of a method and over the teams, but for the last: the number of policies
FAIRNESS_MEASURES = ("mean utility", "Gini", "Nash welfare", "worst agent", "Lorenz front")


def measure_team_fairness(panel: Panel, settings: Indicators) -> dict[str, dict[str, Interval]]:
    """Compute FAIRNESS_MEASURES for each method of a panel of policies; {} without a team of several evaluated agents.

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
            found[method] = {
                name: bootstrap([one[name] for one in values], settings.confidence, settings.resamples)
                for name in FAIRNESS_MEASURES
            }
    return found


def _measure_run(panel: Panel, episodes: PolicyEpisodes, reference: Reference, weights: Weights) -> dict[str, float]:
    equal = [1.0] * len(panel.game.objectives)
    given = [weights.get(label, equal) for label in episodes.labels]
    teams = [_measure_outcomes(agent_utilities(reference.normalize(values), given)) for values in _list_teams(panel, episodes)]
    return {name: float(np.mean([team[name] for team in teams])) for name in FAIRNESS_MEASURES} if teams else {}


def _measure_outcomes(utilities: Array) -> dict[str, float]:
    """Return the measures of utilities float64[n, A] of the agents of a team under n policies."""
    measured = (
        alpha_fair_welfare(utilities, 0).mean(),
        gini(utilities).mean(),
        nash_welfare(utilities).mean(),
        alpha_fair_welfare(utilities, np.inf).mean(),
        lorenz_front(utilities).sum(),
    )
    return dict(zip(FAIRNESS_MEASURES, map(float, measured), strict=True))


def _list_teams(panel: Panel, episodes: PolicyEpisodes) -> Iterator[Array]:
    """Yield the mean returns of the agents of each team that is evaluated as a whole, float64[n, A, K], report episodes."""
    names, teams = panel.game.agents, panel.game.teams
    for team in dict.fromkeys(teams):
        members = [name for name, own in zip(names, teams, strict=True) if own == team]
        columns = [[i for i, (_, seat) in enumerate(episodes.matches) if seat == member] for member in members]
        if len(members) > 1 and all(columns):
            yield np.stack([mean_returns(episodes.report[:, :, own]) for own in columns], axis=1)
