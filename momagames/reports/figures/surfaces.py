"""Figures of what runs attained: in space, in pairs of objectives, and where one method attains more than another."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.attainment import advantage_map, projections, surfaces
from momagames.reports.data.overview import primary_indicator
from momagames.reports.data.panels import Panel
from momagames.reports.data.scores import measure
from momagames.reports.figures.charts import stairs
from momagames.reports.figures.theme import COLORS, DASHES, GRID, SYMBOLS, base, faint

MOST_PAIRS = 15  # of six objectives
PROJECTED = (
    "What half of the runs attained in each pair of objectives if the others did not matter. Projections lose dominance: "
    "points that nothing dominates in all objectives vanish behind others."
)


def in_space(panel: Panel, style: int, method: str) -> list[dict[str, Any]]:
    """Points of the median surface in 3 objectives, and of the worst and the best as small ones; nothing for one run."""
    found = panel.points[method]
    if len(found) < 2:
        return []
    bounds = surfaces([found[seed].values for seed in sorted(found)])
    color = COLORS[style % len(COLORS)]
    symbol = SYMBOLS[style % len(SYMBOLS)]
    parts: list[tuple[str, Array, dict[str, Any]]] = [
        ("median", bounds.median, {"size": 6, "opacity": 0.9}),
        ("worst", bounds.worst, {"size": 3, "opacity": 0.5}),
        ("best", bounds.best, {"size": 3, "opacity": 0.5}),
    ]
    told = "<br>".join(f"{goal.name} %{{{axis}:.6g}}" for goal, axis in zip(panel.game.objectives, "xyz", strict=True))
    return [
        {
            "type": "scatter3d",
            "mode": "markers",
            **{axis: values[:, k].tolist() for k, axis in enumerate("xyz")},
            "marker": {**size, "color": color, "symbol": symbol, "line": {"width": 1, "color": color}},
            "hovertemplate": f"{told}<br>{name} run of {len(found)}",
            "showlegend": name == "median",
        }
        for name, values, size in parts
    ]


def pairs(panel: Panel) -> dict[str, Any] | None:
    """The median surface of every method in each pair of 4 to 6 objectives, as small plots; None for other numbers."""
    goals = panel.game.objectives
    if len(goals) < 4 or not panel.primary or len(list(combinations(goals, 2))) > MOST_PAIRS:
        return None
    columns = 3
    places = list(combinations(range(len(goals)), 2))
    rows = -(-len(places) // columns)
    low = np.min([reference.low for reference in panel.references.values()], axis=0)
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = base(80 + 230 * rows)
    for style, method in enumerate(panel.points):
        found = projections([points.values for _, points in sorted(panel.points[method].items())])
        line = {"shape": "vh", "width": 2, "color": COLORS[style % len(COLORS)], "dash": DASHES[style % len(DASHES)]}
        for number, pair in enumerate(places):
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
                    **stairs(surfaces(found[pair]).median, low[list(pair)]),
                    "line": line,
                    "hovertemplate": f"{goals[pair[0]].name} %{{x:.6g}}<br>{goals[pair[1]].name} %{{y:.6g}}",
                }
            )
    for number, (i, j) in enumerate(places):
        key = str(number + 1) if number else ""
        row, column = divmod(number, columns)
        across = [column / columns + 0.05, (column + 1) / columns - 0.02]
        down = [1 - (row + 1) / rows + 0.35 / rows, 1 - row / rows - 0.02]
        title = {"font": {"size": 11}}
        layout[f"xaxis{key}"] = {"domain": across, "anchor": f"y{key}", "title": {**title, "text": goals[i].name}, **GRID}
        layout[f"yaxis{key}"] = {"domain": down, "anchor": f"x{key}", "title": {**title, "text": goals[j].name}, **GRID}
    return {"data": data, "layout": layout, "views": []}


def leaders(panel: Panel) -> tuple[str, str] | None:
    """The two methods with the best primary indicator of those with two runs or more, or None."""
    name = primary_indicator(panel)
    means = {
        method: float(np.mean([measure(name, p.values, panel.references[seed]).value for seed, p in runs.items()]))
        for method, runs in panel.points.items()
        if len(runs) > 1
    }
    ranked = sorted(means, key=lambda method: -means[method])
    return (ranked[0], ranked[1]) if len(ranked) > 1 else None


def advantages(panel: Panel, styles: Mapping[str, int]) -> tuple[str, list[dict[str, Any]]]:
    """For 2 objectives, where the runs of the best method attain more often than those of the second best, and the other way
    round: the view's label, and areas of each method's color, the stronger the larger the difference; no areas if there are
    none."""
    two = leaders(panel)
    if two is None:
        return "", []
    low = np.min([reference.low for reference in panel.references.values()], axis=0)
    runs = [[points.values for points in panel.points[method].values()] for method in two]
    corners, shares = advantage_map(runs[0], runs[1], low)
    traces = []
    for method, sign in zip(two, (1, -1), strict=True):
        for share in np.unique(np.round(shares[shares * sign > 0], 6)):
            inside = corners[np.isclose(shares, share)]
            x, y = inside[:, [0, 2, 2, 0, 0]], inside[:, [1, 1, 3, 3, 1]]
            gap = np.full((len(inside), 1), np.nan)
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": f"{method}: {abs(share):.0%} more of its runs",
                    "legendgroup": f"{method} {share}",
                    "x": _spelled(np.hstack([x, gap])),
                    "y": _spelled(np.hstack([y, gap])),
                    "fill": "toself",
                    "fillcolor": faint(COLORS[styles[method] % len(COLORS)], round(0.15 + 0.7 * abs(float(share)), 3)),
                    "line": {"width": 0},
                    "hoverinfo": "name",
                }
            )
    return f"where {two[0]} or {two[1]} attains more often", traces


def _spelled(values: Array) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.reshape(-1).tolist()]
