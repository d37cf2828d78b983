"""Scores of runs: reference fronts, indicators with intervals over seeds, and the utilities of users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from momagames.analysis import utilities
from momagames.analysis.arrays import Array, filter_dominated
from momagames.analysis.episode_returns import esr_values, selected_value
from momagames.analysis.named_indicators import Indicator, MeasuredRun, WeightedPolicies
from momagames.analysis.reference import MARGIN, Reference, find_ends, widen
from momagames.analysis.statistics import Interval
from momagames.benchmark.reference_sets import ReferenceFront
from momagames.benchmark.suites import Experiment, Indicators
from momagames.contract import Game
from momagames.reports.data.points import Points, PolicyEpisodes

Weights = Mapping[str, list[float]]  # policy -> the weights that it is conditioned on


@dataclass(frozen=True)
class Score:
    """An indicator over the seeds.

    approx    some hypervolume was estimated
    values    of each seed
    """

    interval: Interval
    approx: bool
    values: Mapping[int, float]


@dataclass(frozen=True)
class UserUtility:
    """Utility of a user: expected utility of an episode (esr), and utility of the mean return (ser)."""

    esr: Interval
    ser: Interval


def build_references(
    points: Mapping[str, Mapping[int, Points]],
    proven: Mapping[int, Array],
    experiment: Experiment,
    game: Game,
    margin: float,
    archived: Mapping[int, Array] | None = None,
    fixed: ReferenceFront | None = None,
) -> dict[int, Reference]:
    """Return the reference of each seed: the exact front, or the union of all points found here and in archived runs.

    fixed     of a set, which takes the place of the union
    """
    seeds = sorted({seed for found in points.values() for seed in found})
    sets = [{seed: one.values for seed, one in found.items()} for found in points.values()] + [archived or {}]
    union = {seed: filter_dominated(np.concatenate([found[seed] for found in sets if seed in found])) for seed in seeds}
    if experiment.pools_references and not proven:
        whole = filter_dominated(np.concatenate(list(union.values())))
        union = dict.fromkeys(seeds, whole)
    if fixed:
        union = dict.fromkeys(seeds, filter_dominated(fixed.values))
    references = {}
    for seed in seeds:
        values = filter_dominated(proven[seed]) if seed in proven else union[seed]
        tag = "exact" if seed in proven else fixed.tag if fixed else "best known"
        methods = fixed.methods if fixed and seed not in proven else ()
        references[seed] = make_reference(values, tag, game, experiment.ideal_point, margin, methods)
    return references


def make_reference(values: Array, tag: str, game: Game, ideal: str, margin: float, methods: tuple[str, ...] = ()) -> Reference:
    """Return the reference of a front, float64[n, K]."""
    bounds = np.array([o.return_high for o in game.objectives]) if ideal != "reference" else values.max(axis=0)
    low = np.array(game.reference_point, np.float64)
    high = widen(low, bounds)
    outer = low - margin * (high - low)
    if ideal != "front":
        return Reference(values, tag, outer, high, methods=methods)
    nadir, best = find_ends(values)
    return Reference(values, tag, nadir - MARGIN * (best - nadir), best, declared=(outer, high), methods=methods)


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
            select, report = (known[seed].normalize(means) for means in (one.select_means, one.report_means))
            found[seed] = WeightedPolicies(given, report[places], report[(given @ select.T).argmax(axis=1)])
    return found


def score_method(
    found: Mapping[int, Points],
    known: Mapping[int, Reference],
    settings: Indicators,
    policies: Mapping[int, WeightedPolicies],
) -> dict[str, Score]:
    """Compute the columns of a method over its seeds, but for those that are not defined for any.

    policies    those for weights, by seed, see `find_weighted_policies`
    """
    runs = {seed: MeasuredRun(one.values, known[seed], policies.get(seed)) for seed, one in sorted(found.items())}
    return {name: score for name, one in settings.list_columns().items() if (score := score_runs(one, runs, settings))}


def score_runs(indicator: Indicator, runs: Mapping[int, MeasuredRun], settings: Indicators) -> Score | None:
    """Compute an indicator over the seeds for which it is defined; None if there are none."""
    values = {seed: value for seed, run in runs.items() if (value := indicator.measure(run)) is not None}
    if not values:
        return None
    interval = settings.bootstrap([v.value for v in values.values()])
    return Score(interval, any(v.approx for v in values.values()), {seed: v.value for seed, v in values.items()})


def compute_user_utilities(
    episodes: Mapping[int, PolicyEpisodes], known: Mapping[int, Reference], settings: Indicators
) -> dict[str, UserUtility]:
    """Compute the utility of a method for users with different utility functions.

    Each user selects the best of all policies on the selection episodes (a policy that is dominated on average may be the best
    for single episodes) and gets its utility in the report episodes.
    """
    found: dict[str, tuple[list[float], list[float]]] = {}
    for seed, sets in sorted(episodes.items()):
        select, report = known[seed].normalize(sets.select), known[seed].normalize(sets.report)
        means = [known[seed].normalize(values) for values in (sets.select_means, sets.report_means)]
        for utility in utilities.symmetric_utilities(report.shape[-1]):
            single, many = found.setdefault(utility.name, ([], []))
            single.append(selected_value(esr_values(select, utility), esr_values(report, utility)))
            many.append(selected_value(*(utility.function(values) for values in means)))
    return {name: UserUtility(*map(settings.bootstrap, both)) for name, both in found.items()}
