"""Policies that are conditioned on weights, from the episodes of a method."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from momagames.analysis.episode_returns import mean_returns
from momagames.analysis.named_indicators import WeightedPolicies
from momagames.analysis.reference import Reference
from momagames.reports.data.points import PolicyEpisodes

Weights = Mapping[str, list[float]]  # policy -> the weights that it is conditioned on


def find_weighted_policies(
    episodes: Mapping[int, PolicyEpisodes], known: Mapping[int, Reference], weights: Mapping[int, Weights]
) -> dict[int, WeightedPolicies]:
    """Return the policies for weights of each run of a method that has some, by its seed, with their report episodes."""
    found = {}
    for seed, one in sorted(episodes.items()):
        own = weights.get(seed, {})
        if places := [i for i, label in enumerate(one.labels) if label in own]:
            given = np.array([own[one.labels[i]] for i in places], np.float64)
            given = given / given.sum(axis=1, keepdims=True)
            select, report = (known[seed].normalize(mean_returns(games)) for games in (one.select, one.report))
            found[seed] = WeightedPolicies(given, report[places], report[(given @ select.T).argmax(axis=1)])
    return found
