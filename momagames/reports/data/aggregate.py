"""Methods compared over many games at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.comparisons import Difference, difference, holm, improvement
from momagames.analysis.indicators import hypervolume
from momagames.analysis.profiles import Profile, profile
from momagames.analysis.statistics import STATISTICS, Interval, bootstrap, iqm
from momagames.errors import InvalidParameter
from momagames.reports.data.panels import Panel
from momagames.reports.data.scores import measure

SCORE = "hypervolume_ratio"
LEAST = 5  # games: over fewer, a mean over games says more about the choice of games than about methods


@dataclass(frozen=True)
class Pair:
    """Two methods, the first less the second.

    improvement    chance that a run of the first beats one of the second on a game taken at random
    difference     of the interquartile means, by exchanging runs of the same seed
    p              of the difference, corrected by Holm's method for all pairs of this comparison
    """

    improvement: Interval
    difference: Difference
    p: float


@dataclass(frozen=True)
class Aggregate:
    """Hypervolume ratios of several methods on the same games, for as many runs on each game.

    games         titles of the panels
    runs          of each method on each game: the first seeds, as many as the game with the fewest has
    scores        method -> float64[runs, games]
    statistics    method -> statistic (see `statistics.STATISTICS`) -> interval
    profiles      method -> performance profile
    pairs         (method, method) -> comparison; the first has the higher interquartile mean
    """

    games: tuple[str, ...]
    runs: int
    scores: Mapping[str, Array]
    statistics: Mapping[str, Mapping[str, Interval]]
    profiles: Mapping[str, Profile]
    pairs: Mapping[tuple[str, str], Pair]


def comparable(panels: Iterable[Panel], least: int = LEAST) -> tuple[list[Panel], list[str]]:
    """Panels and methods such that each of the methods was run on each of the panels, at least `least` of them; or none.

    Methods that were run on few panels go first, until the others have enough panels in common. Panels whose reference
    front has no volume tell nothing and are left out.
    """
    given = [panel for panel in panels if _has_volume(panel)]
    where = {name: {i for i, panel in enumerate(given) if name in panel.scores} for panel in given for name in panel.scores}
    methods = list(where)
    while methods:
        common = set.intersection(*(where[name] for name in methods))
        if len(common) >= least:
            return [given[i] for i in sorted(common)], methods
        fewest = min(len(where[name]) for name in methods)
        methods = [name for name in methods if len(where[name]) > fewest]
    return [], []


def aggregate(panels: Iterable[Panel], confidence: float = 0.95, resamples: int = 10_000) -> Aggregate:
    """Compare the methods that were run on the same panels, five or more; take the primary ones of a suite.

    Raises InvalidParameter if there are not as many that a method was run on
    """
    chosen, methods = comparable(panels)
    if not chosen:
        raise InvalidParameter(f"no method was run on {LEAST} games; below that, means over games say little")
    seeds = [sorted(set.intersection(*(set(panel.points[name]) for name in methods))) for panel in chosen]
    runs = min(map(len, seeds))
    if not runs:
        raise InvalidParameter("the methods have no seed in common on some game")
    scores = {
        name: np.array([[_ratio(panel, name, seed) for seed in own[:runs]] for panel, own in zip(chosen, seeds, strict=True)]).T
        for name in methods
    }
    levels = np.linspace(0, max(1.0, *(float(matrix.max()) for matrix in scores.values())), 101)
    return Aggregate(
        games=tuple(panel.title for panel in chosen),
        runs=runs,
        scores=scores,
        statistics={
            name: {told: bootstrap(matrix, confidence, resamples, statistic=of) for told, of in STATISTICS.items()}
            for name, matrix in scores.items()
        },
        profiles={name: profile(matrix, levels, confidence, resamples) for name, matrix in scores.items()},
        pairs=_pairs(scores, confidence, resamples),
    )


def _pairs(scores: Mapping[str, Array], confidence: float, resamples: int) -> dict[tuple[str, str], Pair]:
    ranked = sorted(scores, key=lambda name: -float(iqm(scores[name].reshape(-1))))
    both = {(a, b): (scores[a], scores[b]) for a, b in combinations(ranked, 2)}
    differences = {names: difference(*pair, confidence, resamples, statistic=iqm, paired=True) for names, pair in both.items()}
    corrected = holm({names: found.p for names, found in differences.items()})
    return {
        names: Pair(improvement(*pair, confidence, resamples, paired=True), differences[names], corrected[names])
        for names, pair in both.items()
    }


def _ratio(panel: Panel, method: str, seed: int) -> float:
    score = panel.scores[method].get(SCORE)
    known = score.values if score else {}
    return known[seed] if seed in known else measure(SCORE, panel.points[method][seed].values, panel.references[seed]).value


def _has_volume(panel: Panel) -> bool:
    return all(hypervolume(reference.values, reference.low).value > 0 for reference in panel.references.values())
