"""Indicators of weight-conditioned policies: whether the weights steer them, and the utility that each of them delivers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from momagames.analysis.controllability import compute_controllability, ordering_score
from momagames.analysis.episode_returns import mean_returns
from momagames.analysis.utilities import delivered_utility
from momagames.reports.data.points import PolicyEpisodes
from momagames.reports.data.scores import Reference

Weights = Mapping[str, list[float]]  # policy -> the weights that it is conditioned on


def measure_control(
    episodes: Mapping[int, PolicyEpisodes], known: Mapping[int, Reference], weights: Mapping[int, Weights]
) -> dict[int, dict[str, float]]:
    """Compute the indicators of `plan.CONTROL_INDICATORS` for each run of a method, by its seed.

    Runs without policies for weights have none, those with policies for equal weights have no order of the weights.
    """
    return {seed: _measure_run(one, known[seed], weights.get(seed, {})) for seed, one in sorted(episodes.items())}


def _measure_run(episodes: PolicyEpisodes, reference: Reference, weights: Weights) -> dict[str, float]:
    """Compute the indicators of a run in the report episodes; the best policy for weights is that of the selection episodes."""
    places = [i for i, label in enumerate(episodes.labels) if label in weights]
    if not places:
        return {}
    given = np.array([weights[episodes.labels[i]] for i in places], np.float64)
    given = given / given.sum(axis=1, keepdims=True)
    select, report = reference.normalize(mean_returns(episodes.select)), reference.normalize(mean_returns(episodes.report))
    best = (given @ select.T).argmax(axis=1)
    delivered, coverage = delivered_utility(report[places], given), delivered_utility(report[best], given)
    found = {"delivered_utility": delivered, "coverage_utility": coverage, "utility_regret": coverage - delivered}
    score = ordering_score(given, report[places])
    if score is not None:
        found |= {"controllability": float(compute_controllability(given, report[places]).mean()), "ordering_score": score}
    return found
