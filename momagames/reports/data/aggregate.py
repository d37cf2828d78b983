"""Comparison of methods over several games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.comparisons import Difference, holm_correction, probability_of_improvement, statistic_difference
from momagames.analysis.profiles import PerformanceProfile, performance_profile
from momagames.analysis.statistics import STATISTICS, Interval, bootstrap, iqm
from momagames.errors import InvalidParameter
from momagames.reports.data.overview import CONTROL, stack_ratios
from momagames.reports.data.panels import Panel

MIN_GAMES = 5  # with fewer, a mean over games depends more on the choice of games than on the methods


@dataclass(frozen=True)
class MethodPair:
    """Comparison of two methods: the first minus the second.

    improvement    probability that a run of the first beats a run of the second on a random game
    difference     of the interquartile means; runs of the same seed are paired
    p              p value of the difference after Holm's correction for all pairs of this aggregate
    """

    improvement: Interval
    difference: Difference
    p: float


@dataclass(frozen=True)
class Aggregate:
    """Hypervolume ratios of several methods on the same games, with equal numbers of runs.

    Methods are named by their roles where a suite gives them one (see `benchmark.suites`).

    games         titles of the panels
    runs          runs of each method on each game: the first seeds, as many as every game has
    scores        method -> float64[runs, games]
    roles         name -> the different methods that have the role in these games; none for other methods
    statistics    method -> statistic (see `statistics.STATISTICS`) -> interval
    control       method -> mean controllability, of those with policies for weights in each game
    profiles      method -> performance profile
    pairs         (method, method) -> comparison; the first has the higher interquartile mean
    """

    games: tuple[str, ...]
    runs: int
    scores: Mapping[str, Array]
    roles: Mapping[str, tuple[str, ...]]
    statistics: Mapping[str, Mapping[str, Interval]]
    control: Mapping[str, Interval]
    profiles: Mapping[str, PerformanceProfile]
    pairs: Mapping[tuple[str, str], MethodPair]


def select_comparable(panels: Iterable[Panel], min_games: int = MIN_GAMES) -> tuple[list[Panel], list[str]]:
    """Select panels and methods such that every method was run on every panel; two empty lists below `min_games` panels.

    The methods with the fewest panels are dropped until the others have enough panels in common. Panels whose reference front
    has no hypervolume are excluded.
    """
    candidates = [panel for panel in panels if _has_volume(panel)]
    methods = list(dict.fromkeys(name for panel in candidates for name in panel.by_role))
    played = {name: {i for i, panel in enumerate(candidates) if name in panel.by_role} for name in methods}
    while methods:
        common = set.intersection(*(played[name] for name in methods))
        if len(common) >= min_games:
            return [candidates[i] for i in sorted(common)], methods
        fewest = min(len(played[name]) for name in methods)
        methods = [name for name in methods if len(played[name]) > fewest]
    return [], []


def aggregate(
    panels: Iterable[Panel], confidence: float = 0.95, resamples: int = 10_000, min_games: int = MIN_GAMES
) -> Aggregate:
    """Compare methods over the panels that all of them were run on; pass the primary panels of a suite.

    min_games    see `select_comparable`
    """
    chosen, methods = select_comparable(panels, min_games)
    if not chosen:
        raise InvalidParameter(f"invalid panels: expected {min_games} or more games that one method was run on")
    stacked = stack_ratios(chosen, [[panel.by_role[name] for panel in chosen] for name in methods])
    scores = dict(zip(methods, stacked, strict=True))
    runs = len(stacked[0])
    if not runs:
        raise InvalidParameter("invalid panels: expected methods with a common seed on every game")
    levels = np.linspace(0, max(1.0, *(float(matrix.max()) for matrix in scores.values())), 101)
    return Aggregate(
        games=tuple(panel.full_heading for panel in chosen),
        runs=runs,
        scores=scores,
        roles={
            name: tuple(dict.fromkeys(panel.by_role[name] for panel in chosen))
            for name in methods
            if any(panel.by_role[name] != name for panel in chosen)
        },
        statistics={
            name: {key: bootstrap(matrix, confidence, resamples, statistic=of) for key, of in STATISTICS.items()}
            for name, matrix in scores.items()
        },
        control=_measure_control(chosen, methods, confidence, resamples),
        profiles={name: performance_profile(matrix, levels, confidence, resamples) for name, matrix in scores.items()},
        pairs=_compare_pairs(scores, confidence, resamples),
    )


def _measure_control(panels: Sequence[Panel], methods: Iterable[str], confidence: float, resamples: int) -> dict[str, Interval]:
    """Return the mean controllability of each method that has one in all panels, over as many runs as every panel has."""
    found = {}
    for name in methods:
        scores = [panel.scores[panel.by_role[name]].get(CONTROL) for panel in panels]
        values = [list(score.values.values()) for score in scores if score]
        if len(values) == len(panels):
            runs = min(map(len, values))
            found[name] = bootstrap(np.array([own[:runs] for own in values]).T, confidence, resamples)
    return found


def _compare_pairs(scores: Mapping[str, Array], confidence: float, resamples: int) -> dict[tuple[str, str], MethodPair]:
    ranked = sorted(scores, key=lambda name: -float(iqm(scores[name].reshape(-1))))
    both = {(a, b): (scores[a], scores[b]) for a, b in combinations(ranked, 2)}
    differences = {
        names: statistic_difference(*pair, confidence, resamples, statistic=iqm, paired=True) for names, pair in both.items()
    }
    corrected = holm_correction({names: found.p for names, found in differences.items()})
    return {
        names: MethodPair(
            probability_of_improvement(*pair, confidence, resamples, paired=True), differences[names], corrected[names]
        )
        for names, pair in both.items()
    }


def _has_volume(panel: Panel) -> bool:
    return all(reference.volume.value > 0 for reference in panel.references.values())
