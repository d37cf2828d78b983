"""Comparison of methods over all games for plotly.js: interquartile means, optimality gaps, performance profiles."""

from __future__ import annotations

from typing import Any

from momagames.analysis.statistics import Interval
from momagames.reports.data.aggregate import Aggregate
from momagames.reports.figures.theme import COLORS, DASHES, GRID, SYMBOLS, base_layout, with_opacity

FIGURE_STATISTICS = {"iqm": "IQM", "optimality_gap": "optimality gap"}  # statistic -> label of its axis


def aggregate_figure(aggregate: Aggregate) -> dict[str, Any]:
    """Return interquartile means and optimality gaps with intervals: a row for each method, a plot for each statistic."""
    methods = list(aggregate.statistics)
    data = []
    for column, statistic in enumerate(FIGURE_STATISTICS, start=1):
        for style, method in enumerate(methods):
            at = aggregate.statistics[method][statistic]
            color = COLORS[style % len(COLORS)]
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": method,
                    "x": [at.value],
                    "y": [method],
                    "xaxis": f"x{column}",
                    "error_x": {
                        "type": "data",
                        "symmetric": False,
                        **_error_bars(at),
                        "thickness": 3,
                        "width": 7,
                        "color": color,
                    },
                    "marker": {"color": color, "size": 11, "symbol": SYMBOLS[style % len(SYMBOLS)], "line": {"width": 2}},
                    "hovertemplate": f"{method}: %{{x:.3f}} [{at.low:.3f}, {at.high:.3f}]<extra></extra>",
                    "showlegend": False,
                }
            )
    layout = {
        **base_layout(120 + 36 * len(methods)),
        "xaxis": {"domain": [0, 0.47], "title": {"text": "IQM of the HV ratio (higher is better)"}, **GRID},
        "xaxis2": {"domain": [0.53, 1], "title": {"text": "optimality gap (lower is better)"}, **GRID},
        "yaxis": {"type": "category", "range": [len(methods) - 0.5, -0.5], "automargin": True, **GRID},
        "margin": {"l": 20, "r": 30, "t": 20, "b": 60},
    }
    return {"data": data, "layout": layout, "views": []}


def _error_bars(at: Interval) -> dict[str, Any]:
    return {"type": "data", "symmetric": False, "array": [at.high - at.value], "arrayminus": [at.value - at.low]}


def profiles_figure(aggregate: Aggregate) -> dict[str, Any]:
    """Return performance profiles: the share of scores above each threshold, with pointwise bands."""
    data: list[dict[str, Any]] = []
    for style, (method, profile) in enumerate(aggregate.profiles.items()):
        color = COLORS[style % len(COLORS)]
        x = profile.thresholds.tolist()
        band = {
            "type": "scatter",
            "mode": "lines",
            "x": [*x, *x[::-1]],
            "y": [*profile.high.tolist(), *profile.low[::-1].tolist()],
            "fill": "toself",
            "fillcolor": with_opacity(color, 0.15),
            "line": {"width": 0},
            "hoverinfo": "skip",
            "showlegend": False,
            "legendgroup": method,
            "name": method,
        }
        line = {"width": 2.5, "color": color, "dash": DASHES[style % len(DASHES)]}
        hover = f"{method}: %{{y:.0%}} of the runs above %{{x:.2f}}<extra></extra>"
        curve = {**band, "x": x, "y": profile.share.tolist(), "fill": "none", "line": line, "hovertemplate": hover}
        data += [band, {**{k: v for k, v in curve.items() if k not in ("hoverinfo", "fillcolor")}, "showlegend": True}]
    layout = {
        **base_layout(420),
        "xaxis": {"title": {"text": "HV ratio t"}, **GRID},
        "yaxis": {"title": {"text": "share of scores above t"}, "tickformat": ".0%", "range": [-0.02, 1.02], **GRID},
    }
    return {"data": data, "layout": layout, "views": []}
