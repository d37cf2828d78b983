"""Fronts of a panel for plotly.js, as dicts that JSON can store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.reference import Reference
from momagames.reports.data.panels import Panel
from momagames.reports.data.points import Points
from momagames.reports.figures.plotly_attainment import attainment_traces_2d, attainment_traces_3d, difference_traces
from momagames.reports.figures.plotly_projections import axis_title, projection_data, reference_name
from momagames.reports.figures.theme import GRID, REFERENCE_COLOR, base_layout, style_color, style_dash, style_marker

MANY_POINTS = 30  # above this, lines are thin and have no markers
ATTAINMENT = "attainment surfaces of all runs: median, worst, best"


def fronts_figure(panel: Panel) -> dict[str, Any]:
    """Return the fronts of a panel: the best value by seed (1 objective), in 2-D, in 3-D, or in parallel coordinates.

    Returns    `data` and `layout` for plotly.js, and `views`, each with a label and the visible traces: one for each seed, the
               attainment surfaces of all runs for 2 and 3 objectives, and the difference of the two best methods for 2. For 3
               and more objectives also `projections`, see `projection_data`
    """
    objectives = len(panel.game.objectives)
    if objectives == 1:
        traces = [_best_by_seed(panel, panel.styles[method], method) for method in panel.points]
        return {"data": traces, "layout": _layout(panel), "views": []}
    seeds = sorted(panel.references)
    data: list[dict[str, Any]] = []
    view_of: list[str] = []
    draw = _traces_2d if objectives == 2 else _traces_3d if objectives == 3 else _parallel_style

    def add(view: str, method: str, traces: list[dict[str, Any]]) -> None:
        for trace in traces:
            data.append({"name": method, "legendgroup": method, "visible": view == f"seed {seeds[0]}", **trace})
            view_of.append(view)

    for seed in seeds:
        add(f"seed {seed}", *_reference_traces(panel, seed))
        for method, runs in panel.points.items():
            if seed in runs:
                add(f"seed {seed}", method, draw(panel, runs[seed], panel.references[seed], panel.styles[method]))
    if objectives in (2, 3):
        attained = attainment_traces_2d if objectives == 2 else attainment_traces_3d
        for method in panel.points:
            add(ATTAINMENT, method, attained(panel, panel.styles[method], method))
    if objectives == 2:
        label, areas = difference_traces(panel, panel.styles)
        add(label, "", areas)
    labels = list(dict.fromkeys(view_of))
    views = [{"label": label, "visible": [view == label for view in view_of]} for label in labels]
    figure = {"data": data, "layout": _layout(panel), "views": views if len(views) > 1 else []}
    projections = projection_data(panel, view_of, data)
    return figure | ({"projections": projections} if projections else {})


def _reference_traces(panel: Panel, seed: int) -> tuple[str, list[dict[str, Any]]]:
    """Return the name and the thin gray traces of the reference front of a seed, which is drawn first."""
    known = panel.references[seed]
    name, line = reference_name(known), {"color": REFERENCE_COLOR, "width": 1}
    columns = dict(zip("xyz", np.unique(known.values, axis=0).T.tolist(), strict=False))
    objectives = panel.game.objectives
    if len(objectives) == 2:
        trace = {"type": "scatter", "mode": "lines", **columns, "line": {**line, "shape": "vh"}, "hoverinfo": "skip"}
    elif len(objectives) == 3:
        marker = {"size": 3, "color": REFERENCE_COLOR, "symbol": "circle"}
        trace = {"type": "scatter3d", "mode": "markers", **columns, "marker": marker, "hoverinfo": "skip"}
    else:
        trace = {"type": "scatter", "mode": "lines", "x": [objectives[0].name], "y": [None], "line": line}
    return name, [trace]


def _best_by_seed(panel: Panel, style: int, method: str) -> dict[str, Any]:
    by_seed = panel.points[method]
    runs = [by_seed[seed] for seed in sorted(by_seed)]
    top = [int(points.values[:, 0].argmax()) for points in runs]
    origin = _point_origin(runs, [(i, runs[i].front_indices[k]) for i, k in enumerate(top) if runs[i].front_indices])
    best = [float(points.values[k, 0]) for points, k in zip(runs, top, strict=True)]
    seeds = [f"seed {seed}" for seed in sorted(by_seed)]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": method,
        "x": seeds,
        "y": best,
        "marker": style_marker(style),
        **origin,
    }


def _traces_2d(panel: Panel, points: Points, reference: Reference, style: int) -> list[dict[str, Any]]:
    values, labels, errors, origin = _sort_points(points)
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        **origin,
        **_error_bars(errors, style),
        "x": values[:, 0].tolist(),
        "y": values[:, 1].tolist(),
        "text": labels,
        "hovertemplate": _hover(panel),
        "marker": style_marker(style),
        "line": {"shape": "vh", "width": 1.5, "color": style_color(style), "dash": style_dash(style)},
        "opacity": 0.85,
    }
    return [trace]


def _traces_3d(panel: Panel, points: Points, reference: Reference, style: int) -> list[dict[str, Any]]:
    values, labels, errors, origin = _sort_points(points)
    trace = {
        "type": "scatter3d",
        "mode": "markers",
        **origin,
        **_error_bars(errors, style),
        **{axis: values[:, k].tolist() for k, axis in enumerate("xyz")},
        "text": labels,
        "hovertemplate": _hover(panel, "xyz"),
        "marker": {**style_marker(style, 0.6), "opacity": 0.9},
    }
    return [trace]


def _parallel_style(panel: Panel, points: Points, reference: Reference, style: int) -> list[dict[str, Any]]:
    """Return the style of a method for the legend; picker.js draws a line for each point (`projection_data`)."""
    many = len(points.values) > MANY_POINTS
    line = {
        "width": 1 if many else 2,
        "color": style_color(style),
        "dash": "solid" if many else style_dash(style),
    }
    mode = "lines" if many else "lines+markers"
    first = panel.game.objectives[0].name
    return [{"type": "scatter", "mode": mode, "marker": style_marker(style, 0.8), "line": line, "x": [first], "y": [None]}]


def _error_bars(errors: Array, style: int) -> dict[str, Any]:
    """Return standard errors as bars; empty for plans, which have none, and for single episodes."""
    if not errors.any() or not np.isfinite(errors).all():
        return {}
    bar = {"type": "data", "thickness": 1, "width": 3, "color": style_color(style)}
    return {f"error_{axis}": {**bar, "array": column} for axis, column in zip("xyz", errors.T.tolist(), strict=False)}


def format_value(value: float, error: float) -> str:
    """Return a value with its standard error, if it has one."""
    return f"{value:.6g} ± {error:.2g}" if error and np.isfinite(error) else f"{value:.6g}"


def _sort_points(points: Points, length: int = 70) -> tuple[Array, list[str], Array, dict[str, Any]]:
    """Return values in order of the first objective, labels short enough for a hover box, standard errors, and origins."""
    order = np.lexsort(points.values.T[::-1])
    origin = _point_origin([points], [(0, points.front_indices[i]) for i in order if points.front_indices])
    return points.values[order], [_truncate(points.labels[i], length) for i in order], points.errors[order], origin


def _point_origin(runs: Sequence[Points], indices: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Return the origin of the points of a trace, for clicks: directories of runs, and for each point the index of its run and
    its index on the front of that run (-1: not on it).
    """
    return {"meta": [points.run for points in runs], "customdata": [list(pair) for pair in indices]}


def _truncate(label: str, length: int) -> str:
    return label if len(label) <= length else label[: length - 3] + "..."


def _hover(panel: Panel, axes: str = "xy") -> str:
    values = [f"{o.name} %{{{axis}:.6g}}" for o, axis in zip(panel.game.objectives, axes, strict=True)]
    return "<br>".join([*values, "%{text}"])


def _layout(panel: Panel) -> dict[str, Any]:
    objectives = panel.game.objectives
    layout = base_layout(400)
    titles = [axis_title(objective) for objective in objectives]
    if len(objectives) == 1:
        axes = {"xaxis": dict(GRID), "yaxis": {"title": {"text": titles[0]}, **GRID}}
    elif len(objectives) == 2:
        axes = {f"{axis}axis": {"title": {"text": title}, **GRID} for axis, title in zip("xy", titles, strict=True)}
    elif len(objectives) == 3:
        named = {f"{axis}axis": {"title": {"text": o.name}, **GRID} for axis, o in zip("xyz", objectives, strict=True)}
        camera = {"eye": {"x": 1.7, "y": 1.7, "z": 1.0}}
        axes = {"scene": {**named, "camera": camera, "aspectmode": "cube"}, "margin": {"l": 0, "r": 0, "t": 80, "b": 10}}
        axes["height"] = 460  # type: ignore[assignment]
    else:
        share = {"title": {"text": "normalized return"}, "rangemode": "tozero", **GRID}
        order: dict[str, Any] = {"type": "category", "categoryorder": "array", "categoryarray": [o.name for o in objectives]}
        axes = {"xaxis": {**GRID, **order, "gridcolor": "#999999", "gridwidth": 1.5}, "yaxis": share}
    return {**layout, **axes}
