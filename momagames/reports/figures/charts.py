"""Figures for plotly.js of what holds over runs and games: attainment of a panel, methods over all games together."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.attainment import surfaces
from momagames.analysis.statistics import Interval
from momagames.reports.data.aggregate import Aggregate
from momagames.reports.data.panels import Panel
from momagames.reports.figures.theme import COLORS, DASHES, GRID, SYMBOLS, base, faint

SHOWN = {"iqm": "IQM", "optimality_gap": "gap to 1"}  # the statistics of the figure, with their labels


def attainment(panel: Panel, style: int, method: str) -> list[dict[str, Any]]:
    """What the runs of a method attained in 2 objectives: the median surface as a line inside the band between the worst
    (attained by all runs) and the best (attained by one); nothing for one run."""
    found = panel.points[method]
    if len(found) < 2:
        return []
    low = np.min([reference.low for reference in panel.references.values()], axis=0)
    bounds = surfaces([found[seed].values for seed in sorted(found)])
    color = COLORS[style % len(COLORS)]
    edge = {"shape": "vh", "width": 0.8, "color": color}
    middle = {"shape": "vh", "width": 2.5, "color": color, "dash": DASHES[style % len(DASHES)]}
    parts: list[tuple[str, Array, dict[str, Any]]] = [
        ("worst run", bounds.worst, {"line": edge, "showlegend": False}),
        ("best run", bounds.best, {"line": edge, "showlegend": False, "fill": "tonexty", "fillcolor": faint(color, 0.13)}),
        ("median run", bounds.median, {"line": middle}),
    ]
    goals = panel.game.objectives
    return [
        {
            "type": "scatter",
            "mode": "lines",
            **stairs(values, low),
            **look,
            "hovertemplate": f"{goals[0].name} %{{x:.6g}}<br>{goals[1].name} %{{y:.6g}}<br>{told} of {len(found)}",
        }
        for told, values, look in parts
    ]


def stairs(values: Array, low: Array) -> dict[str, list[float]]:
    """A front with the walls of what it attains, down to `low`, for a line of the shape vh."""
    ordered = values[values[:, 0].argsort()]
    x = [float(low[0]), *ordered[:, 0].tolist(), float(ordered[-1, 0])]
    y = [float(ordered[0, 1]), *ordered[:, 1].tolist(), float(low[1])]
    return {"x": x, "y": y}


def overall(found: Aggregate) -> dict[str, Any]:
    """Interquartile means and gaps to 1 with their intervals: one line for each method, one plot for each statistic."""
    methods = list(found.statistics)
    data = []
    for place, statistic in enumerate(SHOWN, start=1):
        for style, method in enumerate(methods):
            at = found.statistics[method][statistic]
            color = COLORS[style % len(COLORS)]
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": method,
                    "x": [at.value],
                    "y": [method],
                    "xaxis": f"x{place}",
                    "error_x": {"type": "data", "symmetric": False, **_arms(at), "thickness": 3, "width": 7, "color": color},
                    "marker": {"color": color, "size": 11, "symbol": SYMBOLS[style % len(SYMBOLS)], "line": {"width": 2}},
                    "hovertemplate": f"{method}: %{{x:.3f}} [{at.low:.3f}, {at.high:.3f}]<extra></extra>",
                    "showlegend": False,
                }
            )
    layout = {
        **base(120 + 36 * len(methods)),
        "xaxis": {"domain": [0, 0.47], "title": {"text": "IQM of the HV ratio (more is better)"}, **GRID},
        "xaxis2": {"domain": [0.53, 1], "title": {"text": "gap to 1 (less is better)"}, **GRID},
        "yaxis": {"type": "category", "range": [len(methods) - 0.5, -0.5], "automargin": True, **GRID},
        "margin": {"l": 20, "r": 30, "t": 20, "b": 60},
    }
    return {"data": data, "layout": layout, "views": []}


def _arms(at: Interval) -> dict[str, list[float]]:
    return {"array": [at.high - at.value], "arrayminus": [at.value - at.low]}


def profiles(found: Aggregate) -> dict[str, Any]:
    """Performance profiles: for each threshold the share of scores above it, with pointwise bands."""
    data: list[dict[str, Any]] = []
    for style, (method, one) in enumerate(found.profiles.items()):
        color = COLORS[style % len(COLORS)]
        x = one.thresholds.tolist()
        band = {
            "type": "scatter",
            "mode": "lines",
            "x": [*x, *x[::-1]],
            "y": [*one.high.tolist(), *one.low[::-1].tolist()],
            "fill": "toself",
            "fillcolor": faint(color, 0.15),
            "line": {"width": 0},
            "hoverinfo": "skip",
            "showlegend": False,
            "legendgroup": method,
            "name": method,
        }
        line = {"width": 2.5, "color": color, "dash": DASHES[style % len(DASHES)]}
        told = f"{method}: %{{y:.0%}} of the runs above %{{x:.2f}}<extra></extra>"
        curve = {**band, "x": x, "y": one.share.tolist(), "fill": "none", "line": line, "hovertemplate": told}
        data += [band, {**{k: v for k, v in curve.items() if k not in ("hoverinfo", "fillcolor")}, "showlegend": True}]
    layout = {
        **base(420),
        "xaxis": {"title": {"text": "HV ratio t"}, **GRID},
        "yaxis": {"title": {"text": "share of runs and games above t"}, "tickformat": ".0%", "range": [-0.02, 1.02], **GRID},
    }
    return {"data": data, "layout": layout, "views": []}
