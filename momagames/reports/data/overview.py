"""The overview: one number for every game and method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.named_indicators import LEADING, measure_share
from momagames.analysis.statistics import Interval
from momagames.benchmark.suites import Indicators
from momagames.reports.data.panels import Panel

# of the overview, the verdicts and the comparison over games, and what stands beside it
INDICATOR, CONTROL = LEADING


@dataclass(frozen=True)
class OverviewRow:
    """The hypervolume ratios of all methods in one panel.

    panel      index of the panel in the report
    is_exact   whether the reference front is proven for every seed; otherwise it is the best known one
    best       the methods with the highest mean after rounding to three digits
    control    controllability of the methods with policies for weights
    """

    panel: int
    title: str
    is_exact: bool
    scores: Mapping[str, Interval]
    best: frozenset[str]
    control: Mapping[str, Interval]


def build_overview(panels: Sequence[Panel], settings: Indicators) -> list[OverviewRow]:
    """Return a row for each primary panel."""
    rows = []
    for index, panel in enumerate(panels):
        if panel.primary and panel.points:
            values = {method: compute_ratios(panel, method) for method in panel.points}
            scores = {method: settings.bootstrap(list(ratios.values())) for method, ratios in values.items()}
            top = max(round(score.value, 3) for score in scores.values())
            best = frozenset(method for method, score in scores.items() if round(score.value, 3) == top)
            is_exact = all(reference.tag.startswith("exact") for reference in panel.references.values())
            rows.append(OverviewRow(index, panel.full_heading, is_exact, scores, best, find_control(panel)))
    return rows


def compute_ratios(panel: Panel, method: str) -> dict[int, float]:
    """Return the hypervolume ratio of each seed of a method."""
    known = panel.scores[method].get(INDICATOR)
    if known:
        return dict(known.values)
    return {
        seed: measure_share(points.values, panel.references[seed]).value
        for seed, points in sorted(panel.points[method].items())
    }


def find_control(panel: Panel) -> dict[str, Interval]:
    """Return the controllability of the methods that have policies for weights."""
    return {method: scores[CONTROL].interval for method, scores in panel.scores.items() if CONTROL in scores}


def rank_methods(panel: Panel) -> dict[str, float]:
    """Return the mean hypervolume ratios, highest first; of level methods the last first, as baselines lead."""
    means = {method: float(np.mean(list(compute_ratios(panel, method).values()))) for method in panel.points}
    order = list(means)
    return {name: means[name] for name in sorted(means, key=lambda name: (-round(means[name], 3), -order.index(name)))}


def stack_ratios(panels: Sequence[Panel], methods: Sequence[Sequence[str]]) -> list[Array]:
    """Return the hypervolume ratios of several methods on several panels, each float64[runs, panels].

    methods    for each method its name on each panel
    Returns    runs of the first seeds that all methods have, as many as every panel has; no rows if there is none
    """
    seeds = [sorted(set.intersection(*(set(panel.points[names[i]]) for names in methods))) for i, panel in enumerate(panels)]
    runs = min(map(len, seeds))

    def stack(names: Sequence[str]) -> Array:
        ratios = [compute_ratios(panel, name) for panel, name in zip(panels, names, strict=True)]
        return np.array([[found[seed] for seed in own[:runs]] for found, own in zip(ratios, seeds, strict=True)]).T

    return [stack(names) for names in methods]


def list_methods(rows: Sequence[OverviewRow]) -> list[str]:
    """Return all methods in order of appearance."""
    return list(dict.fromkeys(method for row in rows for method in row.scores))
