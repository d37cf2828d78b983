"""Comparison of methods over all games for plotly.js: interquartile means, optimality gaps, performance profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from momagames.reports.data.aggregate import Aggregate
from momagames.reports.figures.theme import (
    GRID,
    base_layout,
    interval_bars,
    style_color,
    style_dash,
    style_marker,
    with_opacity,
)
from momagames.reports.text.labels import describe_interval

FIGURE_STATISTICS = {"iqm": "IQM", "optimality_gap": "optimality gap"}  # statistic -> label of its axis


def aggregate_figure(aggregate: Aggregate, styles: Mapping[str, int]) -> dict[str, Any]:
    """Return interquartile means and optimality gaps with intervals: a row for each method, a plot for each statistic.

    styles    numbers of the methods, or roles, see `theme`
    """
    methods = list(aggregate.statistics)
    data = []
    for column, statistic in enumerate(FIGURE_STATISTICS, start=1):
        for method in methods:
            at = aggregate.statistics[method][statistic]
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": method,
                    "x": [at.value],
                    "y": [method],
                    "xaxis": f"x{column}",
                    "yaxis": f"y{column}",
                    "error_x": {**interval_bars([at], styles[method]), "thickness": 3, "width": 7},
                    "marker": {**style_marker(styles[method]), "size": 11},
                    "hovertemplate": f"{method}: {describe_interval(at)}<extra></extra>",
                    "showlegend": False,
                }
            )
    rows = {"type": "category", "range": [len(methods) - 0.5, -0.5], "domain": [0, 1], **GRID}
    layout = {
        **base_layout(120 + 36 * len(methods)),
        "xaxis": {"domain": [0, 0.47], "title": {"text": "IQM of the HV ratio (higher is better)"}, **GRID},
        "xaxis2": {"domain": [0.53, 1], "title": {"text": "optimality gap (lower is better)"}, **GRID},
        "yaxis": {**rows, "automargin": True},
        "yaxis2": {**rows, "anchor": "x2", "showticklabels": False},
        "margin": {"l": 20, "r": 30, "t": 20, "b": 60},
    }
    return {"data": data, "layout": layout, "views": []}


def profiles_figure(aggregate: Aggregate, styles: Mapping[str, int]) -> dict[str, Any]:
    """Return performance profiles: the share of scores above each threshold, with pointwise bands."""
    data: list[dict[str, Any]] = []
    for method, profile in aggregate.profiles.items():
        style = styles[method]
        color = style_color(style)
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
        line = {"width": 2.5, "color": color, "dash": style_dash(style)}
        hover = f"{method}: %{{y:.0%}} of the runs above %{{x:.2f}}<extra></extra>"
        curve = {**band, "x": x, "y": profile.share.tolist(), "fill": "none", "line": line, "hovertemplate": hover}
        data += [band, {**{k: v for k, v in curve.items() if k not in ("hoverinfo", "fillcolor")}, "showlegend": True}]
    layout = {
        **base_layout(420),
        "xaxis": {"title": {"text": "HV ratio t"}, **GRID},
        "yaxis": {"title": {"text": "share of scores above t"}, "tickformat": ".0%", "range": [-0.02, 1.02], **GRID},
    }
    return {"data": data, "layout": layout, "views": []}
