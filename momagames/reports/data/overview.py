"""The overview: one number for every game and method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from momagames.analysis.statistics import Interval, bootstrap
from momagames.benchmark.plan import Indicators
from momagames.reports.data.panels import Panel
from momagames.reports.data.scores import compute_indicator

RATIO, VOLUME = "hypervolume_ratio", "normalized_hypervolume"


@dataclass(frozen=True)
class OverviewRow:
    """The scores of all methods in one panel.

    panel        index of the panel in the report
    indicator    "hypervolume_ratio" where the fronts are proven, else "normalized_hypervolume"
    best         the methods with the highest mean after rounding to three digits
    """

    panel: int
    title: str
    indicator: str
    scores: Mapping[str, Interval]
    best: frozenset[str]


def build_overview(panels: Sequence[Panel], settings: Indicators) -> list[OverviewRow]:
    """Return a row for each primary panel."""
    rows = []
    for index, panel in enumerate(panels):
        if panel.primary and panel.points:
            name = primary_indicator(panel)
            scores = {method: _score_method(panel, method, name, settings) for method in panel.points}
            top = max(round(score.value, 3) for score in scores.values())
            best = frozenset(method for method, score in scores.items() if round(score.value, 3) == top)
            rows.append(OverviewRow(index, panel.title, name, scores, best))
    return rows


def primary_indicator(panel: Panel) -> str:
    """Return the hypervolume ratio if the reference front is proven for every seed, else the normalized hypervolume.

    The latter does not depend on the results of other methods, except where the ideal point is that of the reference front.
    """
    return RATIO if all(reference.tag == "exact" for reference in panel.references.values()) else VOLUME


def _score_method(panel: Panel, method: str, name: str, settings: Indicators) -> Interval:
    known = panel.scores[method].get(name)
    if known:
        return known.interval
    runs = panel.points[method].items()
    values = [compute_indicator(name, points.values, panel.references[seed]).value for seed, points in runs]
    return bootstrap(values, settings.confidence, settings.resamples)


def list_methods(rows: Sequence[OverviewRow]) -> list[str]:
    """Return all methods in order of appearance."""
    return list(dict.fromkeys(method for row in rows for method in row.scores))
