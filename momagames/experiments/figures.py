"""Fronts as figures for plotly.js: plain JSON-able dicts. Colours are Okabe and Ito's, and every method has a symbol too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.experiments import indicators
from momagames.experiments.analysis import Panel, Points, Reference

COLORS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9")
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "circle-open", "diamond-open")
DASHES = ("solid", "dash", "dot", "dashdot")
FONT = {"family": "system-ui, sans-serif", "size": 13, "color": "#222"}
GRID = {"gridcolor": "#e2e2e2", "zerolinecolor": "#bbb", "linecolor": "#888"}

Array = NDArray[np.float64]


def figure(panel: Panel) -> dict[str, Any]:
    """The fronts of a panel: by seed along a line (1 objective), in 2-D, in 3-D, or as parallel coordinates. A menu chooses
    the seed."""
    goals = len(panel.game.objectives)
    if goals == 1:
        return {"data": [_strip(panel, i, method) for i, method in enumerate(panel.points)], "layout": _layout(panel)}
    seeds = sorted(panel.references)
    order = list(panel.points)
    data, owners = [], []
    for seed in seeds:
        # large sets first, so that small ones lie on top
        for method in sorted(order, key=lambda m: -len(panel.points[m][seed].values) if seed in panel.points[m] else 0):
            if seed in panel.points[method]:
                style = order.index(method)
                draw = _flat if goals == 2 else _solid if goals == 3 else _parallel
                trace = draw(panel, panel.points[method][seed], panel.references[seed], style)
                rank = {"legendrank": style + 1, "name": method, "visible": seed == seeds[0]}
                data.append({**trace, **rank})
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
    return {"buttons": buttons, "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom", "pad": {"b": 4}}


def _marker(style: int, size: int) -> dict[str, Any]:
    return {"color": COLORS[style % len(COLORS)], "symbol": SYMBOLS[style % len(SYMBOLS)], "size": size}


def _strip(panel: Panel, style: int, method: str) -> dict[str, Any]:
    found = panel.points[method]
    best = [float(found[seed].values.max()) for seed in sorted(found)]
    seeds = [f"seed {seed}" for seed in sorted(found)]
    return {"type": "scatter", "mode": "markers", "name": method, "x": seeds, "y": best, "marker": _marker(style, 11)}


def _flat(panel: Panel, points: Points, reference: Reference, style: int) -> dict[str, Any]:
    values, labels = _sorted(points)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": values[:, 0].tolist(),
        "y": values[:, 1].tolist(),
        "text": labels,
        "hovertemplate": _hover(panel),
        "marker": _marker(style, 9),
        "line": {"shape": "vh", "width": 1.5, "color": COLORS[style % len(COLORS)], "dash": DASHES[style % len(DASHES)]},
        "opacity": 0.85,
    }


def _solid(panel: Panel, points: Points, reference: Reference, style: int) -> dict[str, Any]:
    values, labels = _sorted(points)
    return {
        "type": "scatter3d",
        "mode": "markers",
        **{axis: values[:, k].tolist() for k, axis in enumerate("xyz")},
        "text": labels,
        "hovertemplate": _hover(panel, "xyz"),
        "marker": {**_marker(style, 5), "opacity": 0.85},
    }


def _parallel(panel: Panel, points: Points, reference: Reference, style: int) -> dict[str, Any]:
    """One line for each point, as shares of the way from the reference point to the utopia; a gap ends each line."""
    values, labels = _sorted(points)
    shares = indicators.normalize(values, reference.low, reference.high)
    names = [goal.name for goal in panel.game.objectives]
    x: list[str | None] = []
    y: list[float | None] = []
    text: list[str] = []
    for share, value, label in zip(shares.tolist(), values.tolist(), labels, strict=True):
        x += [*names, None]
        y += [*share, None]
        told = "<br>".join(f"{name} {v:.6g}" for name, v in zip(names, value, strict=True))
        text += [f"{told}<br>{label}"] * (len(names) + 1)
    faint = len(values) > 30
    return {
        "type": "scatter",
        "mode": "lines" if faint else "lines+markers",
        "x": x,
        "y": y,
        "text": text,
        "hovertemplate": "%{text}<extra></extra>",
        "connectgaps": False,
        "opacity": max(0.15, min(0.9, 12 / len(values))) if faint else 0.9,
        "marker": _marker(style, 7),
        "line": {"width": 1 if faint else 2, "color": COLORS[style % len(COLORS)], "dash": "solid"},
    }


def _sorted(points: Points) -> tuple[Array, list[str]]:
    """The points in order of the first objective, with labels short enough for a hover box."""
    order = np.lexsort(points.values.T[::-1])
    return points.values[order], [_cut(points.labels[i]) for i in order]


def _cut(label: str, length: int = 70) -> str:
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
        "margin": {"l": 70, "r": 20, "t": 40, "b": 60},
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
        camera = {"eye": {"x": 1.5, "y": 1.5, "z": 0.9}}
        axes = {"scene": {**named, "camera": camera, "aspectmode": "cube"}, "margin": {"l": 0, "r": 0, "t": 40, "b": 0}}
        axes["height"] = 560  # type: ignore[assignment]
    else:
        share = {"title": {"text": "share of the range from reference point to utopia"}, "rangemode": "tozero", **GRID}
        order = {"type": "category", "categoryorder": "array", "categoryarray": [goal.name for goal in goals]}
        axes = {"xaxis": {**GRID, **order, "gridcolor": "#999", "gridwidth": 1.5}, "yaxis": share}
    return {**layout, **axes}
