"""Fronts as figures for plotly.js: plain JSON-able dicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array
from momagames.reports.data.panels import Panel
from momagames.reports.data.points import Points
from momagames.reports.data.scores import Reference
from momagames.reports.figures.charts import attainment
from momagames.reports.figures.surfaces import advantages, in_space
from momagames.reports.figures.theme import COLORS, DASHES, GRID, SIZES, SYMBOLS, base
from momagames.reports.html.pickers import axis_title, choices

MANY = 30  # points whose lines are thin and have no markers
ATTAINMENT = "all runs: median, worst and best"


def figure(panel: Panel) -> dict[str, Any]:
    """The fronts of a panel: by seed along a line (1 objective), in 2-D, in 3-D, or as parallel coordinates.

    Returns    `data` and `layout` for plotly.js, and `views`: what can be shown, each as a label and the traces that are
               visible. There is one for each seed, and for 2 and 3 objectives one of what all runs attained; for 2 one of
               where the two best methods differ. `choices`, for 3 objectives or more: see `pickers.choices`
    """
    goals = len(panel.game.objectives)
    if goals == 1:
        strips = [_strip(panel, i, method) for i, method in enumerate(panel.points)]
        return {"data": strips, "layout": _layout(panel), "views": []}
    seeds = sorted(panel.references)
    data: list[dict[str, Any]] = []
    owners: list[str] = []
    draw = _flat if goals == 2 else _solid if goals == 3 else _parallel

    def add(view: str, method: str, traces: list[dict[str, Any]]) -> None:
        for trace in traces:
            data.append({"name": method, "legendgroup": method, "visible": view == f"seed {seeds[0]}", **trace})
            owners.append(view)

    for seed in seeds:
        for style, method in enumerate(panel.points):
            if seed in panel.points[method]:
                add(f"seed {seed}", method, draw(panel, panel.points[method][seed], panel.references[seed], style))
    if goals in (2, 3):
        attained = attainment if goals == 2 else in_space
        for style, method in enumerate(panel.points):
            add(ATTAINMENT, method, attained(panel, style, method))
    if goals == 2:
        label, areas = advantages(panel, {method: style for style, method in enumerate(panel.points)})
        add(label, "", areas)
    labels = list(dict.fromkeys(owners))
    views = [{"label": label, "visible": [owner == label for owner in owners]} for label in labels]
    made = {"data": data, "layout": _layout(panel), "views": views if len(views) > 1 else []}
    offered = choices(panel, owners, data)
    return made | ({"choices": offered} if offered else {})


def _marker(style: int, scale: float = 1.0) -> dict[str, Any]:
    size = SIZES[style % len(SIZES)] * scale
    color = COLORS[style % len(COLORS)]
    return {"color": color, "symbol": SYMBOLS[style % len(SYMBOLS)], "size": size, "line": {"width": 2, "color": color}}


def _strip(panel: Panel, style: int, method: str) -> dict[str, Any]:
    found = panel.points[method]
    runs = [found[seed] for seed in sorted(found)]
    top = [int(points.values[:, 0].argmax()) for points in runs]
    places = _places(runs, [(i, runs[i].numbers[k]) for i, k in enumerate(top) if runs[i].numbers])
    best = [float(points.values[k, 0]) for points, k in zip(runs, top, strict=True)]
    seeds = [f"seed {seed}" for seed in sorted(found)]
    return {"type": "scatter", "mode": "markers", "name": method, "x": seeds, "y": best, "marker": _marker(style), **places}


def _flat(panel: Panel, points: Points, reference: Reference, style: int) -> list[dict[str, Any]]:
    values, labels, errors, places = _sorted(points)
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        **places,
        **_bars(errors, style),
        "x": values[:, 0].tolist(),
        "y": values[:, 1].tolist(),
        "text": labels,
        "hovertemplate": _hover(panel),
        "marker": _marker(style),
        "line": {"shape": "vh", "width": 1.5, "color": COLORS[style % len(COLORS)], "dash": DASHES[style % len(DASHES)]},
        "opacity": 0.85,
    }
    return [trace]


def _solid(panel: Panel, points: Points, reference: Reference, style: int) -> list[dict[str, Any]]:
    values, labels, errors, places = _sorted(points)
    trace = {
        "type": "scatter3d",
        "mode": "markers",
        **places,
        **_bars(errors, style),
        **{axis: values[:, k].tolist() for k, axis in enumerate("xyz")},
        "text": labels,
        "hovertemplate": _hover(panel, "xyz"),
        "marker": {**_marker(style, 0.6), "opacity": 0.9},
    }
    return [trace]


def _parallel(panel: Panel, points: Points, reference: Reference, style: int) -> list[dict[str, Any]]:
    """The look of a method, for the legend; picker.js draws a line for each point (`pickers.choices`)."""
    many = len(points.values) > MANY
    line = {
        "width": 1 if many else 2,
        "color": COLORS[style % len(COLORS)],
        "dash": "solid" if many else DASHES[style % len(DASHES)],
    }
    mode = "lines" if many else "lines+markers"
    first = panel.game.objectives[0].name
    return [{"type": "scatter", "mode": mode, "marker": _marker(style, 0.8), "line": line, "x": [first], "y": [None]}]


def _bars(errors: Array, style: int) -> dict[str, Any]:
    """Standard errors as bars; none for plans, which are certain, and for single episodes, which tell nothing."""
    if not errors.any() or not np.isfinite(errors).all():
        return {}
    look = {"type": "data", "thickness": 1, "width": 3, "color": COLORS[style % len(COLORS)]}
    return {f"error_{axis}": {**look, "array": column} for axis, column in zip("xyz", errors.T.tolist(), strict=False)}


def spread(value: float, error: float) -> str:
    """A value with its standard error, if it has one."""
    return f"{value:.6g} ± {error:.2g}" if error and np.isfinite(error) else f"{value:.6g}"


def _sorted(points: Points, length: int = 70) -> tuple[Array, list[str], Array, dict[str, Any]]:
    """The points in order of the first objective, with labels short enough for a hover box, standard errors, and places."""
    order = np.lexsort(points.values.T[::-1])
    places = _places([points], [(0, points.numbers[i]) for i in order if points.numbers])
    return points.values[order], [_cut(points.labels[i], length) for i in order], points.errors[order], places


def _places(found: Sequence[Points], at: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Where the points of a trace come from, for who clicks on them: the runs' folders, and for each point which of these,
    and its number on that run's front (-1: not there)."""
    return {"meta": [points.run for points in found], "customdata": [list(pair) for pair in at]}


def _cut(label: str, length: int) -> str:
    return label if len(label) <= length else label[: length - 3] + "..."


def _hover(panel: Panel, axes: str = "xy") -> str:
    told = [f"{goal.name} %{{{axis}:.6g}}" for goal, axis in zip(panel.game.objectives, axes, strict=True)]
    return "<br>".join([*told, "%{text}"])


def _layout(panel: Panel) -> dict[str, Any]:
    goals = panel.game.objectives
    layout = base(460)
    titles = [axis_title(goal) for goal in goals]
    if len(goals) == 1:
        axes = {"xaxis": dict(GRID), "yaxis": {"title": {"text": titles[0]}, **GRID}}
    elif len(goals) == 2:
        axes = {f"{axis}axis": {"title": {"text": title}, **GRID} for axis, title in zip("xy", titles, strict=True)}
    elif len(goals) == 3:
        named = {f"{axis}axis": {"title": {"text": goal.name}, **GRID} for axis, goal in zip("xyz", goals, strict=True)}
        camera = {"eye": {"x": 1.7, "y": 1.7, "z": 1.0}}
        axes = {"scene": {**named, "camera": camera, "aspectmode": "cube"}, "margin": {"l": 0, "r": 0, "t": 80, "b": 10}}
        axes["height"] = 560  # type: ignore[assignment]
    else:
        share = {"title": {"text": "share of the range"}, "rangemode": "tozero", **GRID}
        order: dict[str, Any] = {"type": "category", "categoryorder": "array", "categoryarray": [goal.name for goal in goals]}
        axes = {"xaxis": {**GRID, **order, "gridcolor": "#999999", "gridwidth": 1.5}, "yaxis": share}
    return {**layout, **axes}
