"""Attainment of runs for plotly.js: surfaces in 2-D, in 3-D and in pairs of objectives, and the difference of two methods."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.attainment import attainment_difference_map, attainment_surfaces, pairwise_projections
from momagames.reports.data.overview import rank_methods
from momagames.reports.data.panels import Panel
from momagames.reports.figures.theme import GRID, base_layout, style_color, style_dash, style_symbol, with_opacity

MAX_PAIRS = 15  # six objectives
PAIRS_CAPTION = (
    "Median attainment surface in each pair of objectives, ignoring the others. A point that is non-dominated in all "
    "objectives may be dominated in a pair."
)


def attainment_traces_2d(panel: Panel, style: int, method: str) -> list[dict[str, Any]]:
    """Return the surfaces of a method in 2 objectives: the median line in a band from worst to best; empty for one run."""
    runs = panel.points[method]
    if len(runs) < 2:
        return []
    low = np.min([reference.ref for reference in panel.references.values()], axis=0)
    bounds = attainment_surfaces([runs[seed].values for seed in sorted(runs)])
    color = style_color(style)
    edge = {"shape": "vh", "width": 0.8, "color": color}
    fill = {"fill": "tonexty", "fillcolor": with_opacity(color, 0.13)}
    middle = {"shape": "vh", "width": 2.5, "color": color, "dash": style_dash(style)}
    parts: list[tuple[str, Array, dict[str, Any]]] = [
        ("worst run", bounds.worst, {"line": edge, "showlegend": False}),
        ("best run", bounds.best, {"line": edge, "showlegend": False, **fill}),
        ("median run", bounds.median, {"line": middle}),
    ]
    objectives = panel.game.objectives
    return [
        {
            "type": "scatter",
            "mode": "lines",
            **stairs(values, low),
            **style_options,
            "hovertemplate": f"{objectives[0].name} %{{x:.6g}}<br>{objectives[1].name} %{{y:.6g}}<br>{label} of {len(runs)}",
        }
        for label, values, style_options in parts
    ]


def stairs(values: Array, low: Array) -> dict[str, list[float]]:
    """Return the corners of the attained region, down to `low`, for a line of shape "vh"."""
    ordered = values[values[:, 0].argsort()]
    x = [float(low[0]), *ordered[:, 0].tolist(), float(ordered[-1, 0])]
    y = [float(ordered[0, 1]), *ordered[:, 1].tolist(), float(low[1])]
    return {"x": x, "y": y}


def attainment_traces_3d(panel: Panel, style: int, method: str) -> list[dict[str, Any]]:
    """Return the median surface in 3 objectives as points, and the worst and best as small points; empty for one run."""
    runs = panel.points[method]
    if len(runs) < 2:
        return []
    bounds = attainment_surfaces([runs[seed].values for seed in sorted(runs)])
    color = style_color(style)
    symbol = style_symbol(style)
    parts: list[tuple[str, Array, dict[str, Any]]] = [
        ("median", bounds.median, {"size": 6, "opacity": 0.9}),
        ("worst", bounds.worst, {"size": 3, "opacity": 0.5}),
        ("best", bounds.best, {"size": 3, "opacity": 0.5}),
    ]
    objectives = zip(panel.game.objectives, "xyz", strict=True)
    hover = "<br>".join(f"{objective.name} %{{{axis}:.6g}}" for objective, axis in objectives)
    return [
        {
            "type": "scatter3d",
            "mode": "markers",
            **{axis: values[:, k].tolist() for k, axis in enumerate("xyz")},
            "marker": {**size, "color": color, "symbol": symbol, "line": {"width": 1, "color": color}},
            "hovertemplate": f"{hover}<br>{name} run of {len(runs)}",
            "showlegend": name == "median",
        }
        for name, values, size in parts
    ]


def pairs_figure(panel: Panel) -> dict[str, Any] | None:
    """Return the median surfaces in each pair of 4 to 6 objectives as small plots; None for other numbers of objectives."""
    objectives = panel.game.objectives
    pairs = list(combinations(range(len(objectives)), 2))
    if len(objectives) < 4 or not panel.primary or len(pairs) > MAX_PAIRS:
        return None
    columns = 3
    rows = -(-len(pairs) // columns)
    low = np.min([reference.ref for reference in panel.references.values()], axis=0)
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = base_layout(80 + 230 * rows)
    for method in panel.points:
        style = panel.styles[method]
        projections = pairwise_projections([points.values for _, points in sorted(panel.points[method].items())])
        line = {"shape": "vh", "width": 2, "color": style_color(style), "dash": style_dash(style)}
        for number, pair in enumerate(pairs):
            key = str(number + 1) if number else ""
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": method,
                    "legendgroup": method,
                    "showlegend": not number,
                    "xaxis": f"x{key}",
                    "yaxis": f"y{key}",
                    **stairs(attainment_surfaces(projections[pair]).median, low[list(pair)]),
                    "line": line,
                    "hovertemplate": f"{objectives[pair[0]].name} %{{x:.6g}}<br>{objectives[pair[1]].name} %{{y:.6g}}",
                }
            )
    for number, (i, j) in enumerate(pairs):
        key = str(number + 1) if number else ""
        row, column = divmod(number, columns)
        across = [column / columns + 0.05, (column + 1) / columns - 0.02]
        down = [1 - (row + 1) / rows + 0.35 / rows, 1 - row / rows - 0.02]
        title = {"font": {"size": 11}}
        layout[f"xaxis{key}"] = {"domain": across, "anchor": f"y{key}", "title": {**title, "text": objectives[i].name}, **GRID}
        layout[f"yaxis{key}"] = {"domain": down, "anchor": f"x{key}", "title": {**title, "text": objectives[j].name}, **GRID}
    return {"data": data, "layout": layout, "views": []}


def best_two_methods(panel: Panel) -> tuple[str, str] | None:
    """Return the two methods with the highest hypervolume ratio among those with at least two runs; None if there are fewer."""
    ranked = [method for method in rank_methods(panel) if len(panel.points[method]) > 1]
    return (ranked[0], ranked[1]) if len(ranked) > 1 else None


def difference_traces(panel: Panel, styles: Mapping[str, int]) -> tuple[str, list[dict[str, Any]]]:
    """Return the difference in attainment of the two best methods in 2 objectives.

    Returns    the label of the view, and areas in the color of the better method whose opacity grows with the difference; both
               empty for fewer than two methods
    """
    methods = best_two_methods(panel)
    if methods is None:
        return "", []
    low = np.min([reference.ref for reference in panel.references.values()], axis=0)
    runs = [[points.values for points in panel.points[method].values()] for method in methods]
    corners, shares = attainment_difference_map(runs[0], runs[1], low)
    traces = []
    for method, sign in zip(methods, (1, -1), strict=True):
        for share in np.unique(np.round(shares[shares * sign > 0], 6)):
            inside = corners[np.isclose(shares, share)]
            x, y = inside[:, [0, 2, 2, 0, 0]], inside[:, [1, 1, 3, 3, 1]]
            gap = np.full((len(inside), 1), np.nan)
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": f"{method}: attained by {abs(share):.0%} more of its runs",
                    "legendgroup": f"{method} {share}",
                    "x": _to_list(np.hstack([x, gap])),
                    "y": _to_list(np.hstack([y, gap])),
                    "fill": "toself",
                    "fillcolor": with_opacity(style_color(styles[method]), round(0.15 + 0.7 * abs(float(share)), 3)),
                    "line": {"width": 0},
                    "hoverinfo": "name",
                }
            )
    return f"difference in attainment: {methods[0]} and {methods[1]}", traces


def _to_list(values: Array) -> list[float | None]:
    """Return the numbers as a list with None, which breaks the line, for NaN."""
    return [None if np.isnan(value) else value for value in values.reshape(-1).tolist()]
