"""Fronts as figures for plotly.js: plain JSON-able dicts. Colours are Okabe and Ito's, and every method has a symbol too."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.experiments.analysis import Panel
from momagames.experiments.points import Points
from momagames.experiments.science.arrays import Array
from momagames.experiments.scores import Reference

COLORS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9")
SYMBOLS = ("circle-open", "square-open", "diamond", "cross", "x", "circle", "square")
SIZES = (15, 12, 9, 7, 7, 6, 6)  # later methods lie on top of earlier ones and must not hide them
DASHES = ("solid", "dash", "dot", "dashdot")
FONT = {"family": "system-ui, sans-serif", "size": 13, "color": "#222"}
GRID = {"gridcolor": "#e2e2e2", "zerolinecolor": "#bbb", "linecolor": "#888"}


def figure(panel: Panel) -> dict[str, Any]:
    """The fronts of a panel: by seed along a line (1 objective), in 2-D, in 3-D, or as parallel coordinates. A menu chooses
    the seed."""
    goals = len(panel.game.objectives)
    if goals == 1:
        return {"data": [_strip(panel, i, method) for i, method in enumerate(panel.points)], "layout": _layout(panel)}
    seeds = sorted(panel.references)
    order = list(panel.points)
    data: list[dict[str, Any]] = []
    owners: list[int] = []
    for seed in seeds:
        for style, method in enumerate(order):
            if seed in panel.points[method]:
                draw = _flat if goals == 2 else _solid if goals == 3 else _parallel
                for trace in draw(panel, panel.points[method][seed], panel.references[seed], style):
                    data.append({"name": method, "legendgroup": method, "visible": seed == seeds[0], **trace})
                    owners.append(seed)
    layout = _layout(panel)
    if len(seeds) > 1:
        layout["updatemenus"] = [_menu(seeds, owners)]
    return {"data": data, "layout": layout}


def _menu(seeds: list[int], owners: list[int]) -> dict[str, Any]:
    buttons = [
        {"label": f"seed {seed}", "method": "restyle", "args": [{"visible": [owner == seed for owner in owners]}]}
        for seed in seeds
    ]
    return {"buttons": buttons, "x": 0.98, "xanchor": "right", "y": 1.01, "yanchor": "bottom", "showactive": True}


def _marker(style: int, scale: float = 1.0) -> dict[str, Any]:
    size = SIZES[style % len(SIZES)] * scale
    color = COLORS[style % len(COLORS)]
    return {"color": color, "symbol": SYMBOLS[style % len(SYMBOLS)], "size": size, "line": {"width": 2, "color": color}}


def _strip(panel: Panel, style: int, method: str) -> dict[str, Any]:
    found = panel.points[method]
    best = [float(found[seed].values.max()) for seed in sorted(found)]
    seeds = [f"seed {seed}" for seed in sorted(found)]
    return {"type": "scatter", "mode": "markers", "name": method, "x": seeds, "y": best, "marker": _marker(style)}


def _flat(panel: Panel, points: Points, reference: Reference, style: int) -> list[dict[str, Any]]:
    values, labels = _sorted(points)
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
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
    values, labels = _sorted(points)
    trace = {
        "type": "scatter3d",
        "mode": "markers",
        **{axis: values[:, k].tolist() for k, axis in enumerate("xyz")},
        "text": labels,
        "hovertemplate": _hover(panel, "xyz"),
        "marker": {**_marker(style, 0.6), "opacity": 0.9},
    }
    return [trace]


def _parallel(panel: Panel, points: Points, reference: Reference, style: int) -> list[dict[str, Any]]:
    """One line for each point, as shares of the way from the reference point to the utopia; a gap ends each line. Many
    lines are faint, and the legend then has a trace of its own."""
    values, labels = _sorted(points, 40)
    shares = reference.shares(values)
    names = [goal.name for goal in panel.game.objectives]
    x: list[str | None] = []
    y: list[float | None] = []
    text: list[str] = []
    for share, value, label in zip(shares.tolist(), values.tolist(), labels, strict=True):
        x += [*names, None]
        y += [*(round(s, 5) for s in share), None]
        told = "<br>".join(f"{name} {v:.6g}" for name, v in zip(names, value, strict=True))
        text += [*([f"{told}<br>{label}"] * len(names)), ""]
    many = len(values) > 30
    look: dict[str, Any] = {"type": "scatter", "marker": _marker(style, 0.8), "mode": "lines" if many else "lines+markers"}
    line = {
        "width": 1 if many else 2,
        "color": COLORS[style % len(COLORS)],
        "dash": "solid" if many else DASHES[style % len(DASHES)],
    }
    legend = {**look, "x": [names[0]], "y": [None], "line": {**line, "width": 2}}
    trace = {
        **look,
        "x": x,
        "y": y,
        "text": text,
        "hovertemplate": "%{text}",
        "connectgaps": False,
        "showlegend": False,
        "opacity": max(0.15, min(0.9, 20 / len(values))),
        "line": line,
    }
    return [legend, trace]


def _sorted(points: Points, length: int = 70) -> tuple[Array, list[str]]:
    """The points in order of the first objective, with labels short enough for a hover box."""
    order = np.lexsort(points.values.T[::-1])
    return points.values[order], [_cut(points.labels[i], length) for i in order]


def _cut(label: str, length: int) -> str:
    return label if len(label) <= length else label[: length - 3] + "..."


def _hover(panel: Panel, axes: str = "xy") -> str:
    told = [f"{goal.name} %{{{axis}:.6g}}" for goal, axis in zip(panel.game.objectives, axes, strict=True)]
    return "<br>".join([*told, "%{text}"])


def _layout(panel: Panel) -> dict[str, Any]:
    goals = panel.game.objectives
    layout: dict[str, Any] = {
        "font": FONT,
        "paper_bgcolor": "#fff",
        "plot_bgcolor": "#fff",
        "height": 460,
        "margin": {"l": 70, "r": 40, "t": 80, "b": 60},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "itemsizing": "constant"},
        "hoverlabel": {"align": "left"},
        "showlegend": True,
    }
    titles = [f"{goal.name} ({goal.unit})" for goal in goals]
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
        axes = {"xaxis": {**GRID, **order, "gridcolor": "#999", "gridwidth": 1.5}, "yaxis": share}
    return {**layout, **axes}
