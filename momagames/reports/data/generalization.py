"""Generalization over instances: scores against the exact front of each instance, in training and in unseen instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from momagames.analysis.arrays import Array
from momagames.analysis.generalization import choose_policies, expected_utility_regrets, instance_ratios
from momagames.analysis.reference import Reference
from momagames.analysis.statistics import Interval
from momagames.analysis.utilities import utility_weights
from momagames.benchmark.episodes import make_episode_seeds
from momagames.benchmark.runs import PoliciesRun
from momagames.benchmark.suites import Generalization, Indicators
from momagames.contract import Game
from momagames.fronts import SearchLimits
from momagames.fronts.instances import solve_instances
from momagames.reports.data.points import PolicyEpisodes
from momagames.reports.data.scores import make_reference

RATIO, REGRET = "exact HV ratio", "expected-utility regret"
MORE_IS_BETTER = {RATIO: True, REGRET: False}


@dataclass(frozen=True)
class InstanceScore:
    """An indicator in the mean over instances, with intervals over runs.

    gap      how much worse it is in test than in training instances
    tests    seed -> the indicator of the run in test instances
    gaps     seed -> the gap of the run
    """

    training: Interval
    test: Interval
    gap: Interval
    tests: Mapping[int, float]
    gaps: Mapping[int, float]


def list_intervals(scores: Mapping[str, InstanceScore]) -> list[Interval]:
    """Return the intervals of a method in the order of the columns of tables: training, test and gap of each indicator."""
    return [at for name in MORE_IS_BETTER for at in (scores[name].training, scores[name].test, scores[name].gap)]


def measure_generalization(
    run: PoliciesRun,
    game: Game,
    episodes: Mapping[str, Mapping[int, PolicyEpisodes]],
    given: Generalization,
    ideal: str,
    settings: Indicators,
) -> dict[str, dict[str, InstanceScore]]:
    """Score each method: method -> `RATIO` or `REGRET` -> score.

    run         any run of the game
    episodes    method -> seed -> episodes
    """
    limits = SearchLimits(given.max_states, given.max_bytes)

    @cache
    def solve(seeds: tuple[int, ...]) -> list[Reference]:
        fronts = solve_instances(run.game, np.array(seeds, np.uint64), limits)
        return [make_reference(values, "exact", game, ideal, settings.margin) for values in fronts]

    found = {}
    for method, runs in episodes.items():
        scores: dict[str, dict[int, tuple[float, float]]] = {RATIO: {}, REGRET: {}}
        for seed, one in sorted(runs.items()):
            starts, _ = make_episode_seeds(run.model_copy(update={"seed": seed}), game)
            for name, values in _score_run(one, starts, run.select_episodes, solve, given.plays).items():
                scores[name][seed] = values
        found[method] = {name: _summarize(values, MORE_IS_BETTER[name], settings) for name, values in scores.items()}
    return found


def _score_run(
    episodes: PolicyEpisodes,
    starts: NDArray[np.uint64],
    training: int,
    solve: Callable[[tuple[int, ...]], list[Reference]],
    plays: int,
) -> dict[str, tuple[float, float]]:
    """Return the scores of a run in training and in test instances. Users choose policies in training instances."""
    sets = [
        _normalize(returns, solve(tuple(seeds.tolist())))
        for returns, seeds in ((episodes.select, starts[:training]), (episodes.report, starts[training:]))
    ]
    weights = utility_weights(episodes.report.shape[-1])
    chosen = choose_policies(sets[0][0], weights)
    ratios = [float(instance_ratios(returns, fronts, plays).mean()) for returns, fronts in sets]
    regrets = [float(expected_utility_regrets(returns, fronts, weights, chosen).mean()) for returns, fronts in sets]
    return {RATIO: (ratios[0], ratios[1]), REGRET: (regrets[0], regrets[1])}


def _normalize(returns: Array, references: list[Reference]) -> tuple[Array, list[Array]]:
    """Return the returns float64[n, P, S, K] of a set and the front of each instance, both normalized by the front.

    returns    float64[n, P * S, 1, K]: one episode in each instance first, then a second one in each
    """
    policies, _, _, objectives = returns.shape
    split = returns.reshape(policies, -1, len(references), objectives)
    normalized = np.stack([one.normalize(split[:, :, i]) for i, one in enumerate(references)], axis=2)
    return normalized, [one.normalize(one.values) for one in references]


def _summarize(runs: Mapping[int, tuple[float, float]], more_is_better: bool, settings: Indicators) -> InstanceScore:
    """Return means over runs. runs: seed -> values in training and in test instances"""
    values = np.array(list(runs.values()))
    gaps = (values[:, 0] - values[:, 1]) * (1 if more_is_better else -1)
    columns = [values[:, 0], values[:, 1], gaps]
    training, test, gap = map(settings.bootstrap, columns)
    tests = {seed: found for seed, (_, found) in runs.items()}
    return InstanceScore(training, test, gap, tests, dict(zip(runs, gaps.tolist(), strict=True)))
