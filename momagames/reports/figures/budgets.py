"""What searches had found by each point of their budget, as curves over steps of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.analysis.arrays import Array
from momagames.analysis.progress import Band, band, marks, progress
from momagames.benchmark.plan import Indicators
from momagames.reports.data.overview import primary_indicator
from momagames.reports.data.panels import Panel
from momagames.reports.data.scores import measure
from momagames.reports.figures.theme import COLORS, DASHES, GRID, base, faint
from momagames.reports.report import HEADINGS


@dataclass(frozen=True)
class Curves:
    """The primary indicator of what had been found, for each method; `runs` says over how many.

    budgets    int64[M], steps of the engine
    """

    indicator: str
    budgets: NDArray[np.int64]
    bands: Mapping[str, Band]
    runs: Mapping[str, int]


def curves(panel: Panel, wanted: Indicators) -> Curves | None:
    """The curves of a panel of plans; None if no method of it has a budget."""
    if not panel.history:
        return None
    name, budgets = primary_indicator(panel), marks(panel.budget)

    def one(method: str, seed: int) -> Array:
        found = panel.history[method][seed]
        return progress(found.found, found.values, budgets, lambda values: measure(name, values, panel.references[seed]).value)

    runs = {method: sorted(by_seed) for method, by_seed in panel.history.items()}
    bands = {m: band([one(m, seed) for seed in seeds], wanted.confidence, wanted.resamples) for m, seeds in runs.items()}
    return Curves(name, budgets, bands, {method: len(seeds) for method, seeds in runs.items()})


def caption(panel: Panel, wanted: Indicators) -> str:
    """What the curves are, and who is missing."""
    told = (
        f"Mean over runs of what had been found by then, with pointwise {wanted.confidence:.0%} bootstrap bands; plans that "
        "were beaten later count until then."
    )
    lacking = [method for method in panel.points if method not in panel.history]
    return told + (f" Not shown: {', '.join(lacking)}, which no budget limits." if lacking else "")


def figure(found: Curves, styles: Mapping[str, int]) -> dict[str, Any]:
    """The curves for plotly.js: means, with bands where there are several runs; `styles` are those of the panel's fronts."""
    data: list[dict[str, Any]] = []
    heading = HEADINGS[found.indicator][0]
    x = found.budgets.tolist()
    for method, told in found.bands.items():
        style = styles[method]
        color = COLORS[style % len(COLORS)]
        look = {"type": "scatter", "mode": "lines", "name": method, "legendgroup": method}
        if found.runs[method] > 1:
            edges = {"x": [*x, *x[::-1]], "y": [round(v, 6) for v in (*told.high.tolist(), *told.low[::-1].tolist())]}
            filled = {"fill": "toself", "fillcolor": faint(color, 0.15), "line": {"width": 0}}
            data.append({**look, **edges, **filled, "hoverinfo": "skip", "showlegend": False})
        line = {"width": 2.5, "color": color, "dash": DASHES[style % len(DASHES)]}
        hover = f"{method}: {heading} %{{y:.3f}} by %{{x:,}} steps, mean of {found.runs[method]}<extra></extra>"
        data.append({**look, "x": x, "y": [round(v, 6) for v in told.mean.tolist()], "line": line, "hovertemplate": hover})
    layout = {
        **base(380),
        "xaxis": {"type": "log", "dtick": 1, "title": {"text": "steps of the engine"}, **GRID},
        "yaxis": {"title": {"text": f"{heading} of what had been found"}, "rangemode": "tozero", **GRID},
    }
    return {"data": data, "layout": layout, "views": []}
