"""Figures for plotly.js, as dicts that JSON can store; templates/picker.js draws other choices of objectives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array
from momagames.reports.figures.drawing import (
    PAPER_VIEW,
    Axis,
    Band,
    Cloud,
    Drawing,
    Heatmap,
    Intervals,
    Line,
    Mark,
    Plot,
    Rectangles,
)
from momagames.reports.figures.theme import (
    GRID,
    REFERENCE_COLOR,
    base_layout,
    interval_bars,
    style_color,
    style_dash,
    style_marker,
    with_opacity,
)

Dict = dict[str, Any]
MANY_POINTS = 30  # above this, lines in parallel coordinates are thin and have no markers
NAME_WIDTH = 24  # characters in a line of the name of a row or column
LEGEND_ROW_HEIGHT, LEGEND_WIDTH = 20, 250  # pixels, of a legend below the plot


def convert_drawing(drawing: Drawing) -> Dict:
    """Return a drawing for plotly.js.

    Returns    `data` and `layout`; `views`, each with a label and the visible traces, empty if there is no choice; with three
               and more objectives also `projections`: axis titles, and the points of each method and seed
    """
    traces, view_of = [], []
    views = drawing.views
    for number, mark in drawing.marks:
        if mark.view != PAPER_VIEW:
            plot = drawing.plots[number]
            for trace in CONVERTERS[type(mark)](mark, plot.axes):
                legend = {"name": mark.name, "legendgroup": mark.name, "showlegend": mark.in_legend}
                place = _name_axes(number) if len(plot.axes) == 2 else {}
                traces.append({**legend, "visible": mark.view in (None, *views[:1]), **place, **trace})
                view_of.append(mark.view)
    stored = [{"label": view, "visible": [other in (None, view) for other in view_of]} for view in views]
    figure = {"data": traces, "layout": _make_layout(drawing), "views": stored if len(stored) > 1 else []}
    axes = drawing.plots[0].axes
    return figure | ({"projections": _make_projections(drawing, axes, traces, view_of)} if len(axes) > 2 else {})


# --------------------------------------------------------------------------------------------------------------- traces


def _convert_intervals(mark: Intervals, axes: Sequence[Axis]) -> Iterator[Dict]:
    assert mark.style is not None
    marker = style_marker(mark.style)
    if mark.is_filled is not None:
        marker["symbol"] = marker["symbol"].removesuffix("-open") + ("" if mark.is_filled else "-open")
    intervals = [at for _, at in mark.at]
    bars = interval_bars(intervals, mark.style) | ({} if mark.is_small else {"thickness": 3, "width": 7})
    yield {
        "type": "scatter",
        "mode": "markers",
        "x": [at.value for at in intervals],
        "y": [row for row, _ in mark.at],
        "error_x": bars,
        "marker": {**marker, "size": 11, "opacity": 0.9},
        "text": [_break_lines(text) for text in mark.texts],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _convert_line(mark: Line, axes: Sequence[Axis]) -> Iterator[Dict]:
    style = _line_style(mark.style) if mark.is_main else {"width": 1, "color": _color(mark.style)}
    mode = "lines+markers" if mark.has_points else "lines"
    yield {"type": "scatter", "mode": mode, **_columns(mark.corners), "line": style, **_hover(mark.name, mark.text)}


def _convert_band(mark: Band, axes: Sequence[Axis]) -> Iterator[Dict]:
    edge = {"type": "scatter", "mode": "lines", "line": {"width": 0.8 if mark.texts else 0, "color": _color(mark.style)}}
    low, high = mark.texts or ("", "")
    fill = {"fill": "tonexty", "fillcolor": with_opacity(_color(mark.style), mark.opacity)}  # down to the trace before it
    yield {**edge, **_columns(mark.low), **_hover(mark.name, low)}
    yield {**edge, **_columns(mark.high), **_hover(mark.name, high), **fill}


def _convert_rectangles(mark: Rectangles, axes: Sequence[Axis]) -> Iterator[Dict]:
    gap = np.full((len(mark.ends), 1), np.nan)
    x, y = (np.hstack([mark.ends[:, corners], gap]) for corners in ([0, 2, 2, 0, 0], [1, 1, 3, 3, 1]))
    color = with_opacity(_color(mark.style), mark.opacity)
    filled = {"fill": "toself", "fillcolor": color, "line": {"width": 0}, "hoverinfo": "name"}
    yield {"type": "scatter", "mode": "lines", "x": _to_list(x), "y": _to_list(y), **filled}


def _convert_cloud(mark: Cloud, axes: Sequence[Axis]) -> Iterator[Dict]:
    count = len(axes)
    if mark.style is None:
        marker: Dict = {"size": 3, "color": REFERENCE_COLOR, "symbol": "circle"}
        line: Dict = {"color": REFERENCE_COLOR, "width": 1}
    else:
        marker = style_marker(mark.style, mark.scale * {2: 1.0, 3: 0.6}.get(count, 0.8))
        line = _line_style(mark.style) | {"width": 1.5 if count == 2 else 2}
    if count > 3:  # the style for the legend; picker.js draws a line for each point
        if many := len(mark.values) > MANY_POINTS:
            line |= {"width": 1, "dash": "solid"}
        mode = "lines" if many or mark.style is None else "lines+markers"
        yield {"type": "scatter", "mode": mode, "marker": marker, "line": line, "x": [axes[0].name], "y": [None]}
        return
    trace = {**_columns(mark.values), "marker": marker, **_SKIP}
    if mark.style is not None:
        names = "\n".join(f"{axis.name} {{{letter}:.6g}}" for axis, letter in zip(axes, "xyz", strict=False) if axis.name)
        trace |= {"hoverinfo": "all", "hovertemplate": _template(names) + "<br>%{text}", "text": list(mark.labels)}
        trace |= {"meta": list(mark.origin[0]), "customdata": [list(pair) for pair in mark.origin[1]]}
    if mark.errors is not None:
        bar = {"type": "data", "thickness": 1, "width": 3, "color": _color(mark.style)}
        trace |= {f"error_{x}": {**bar, "array": column} for x, column in zip("xyz", mark.errors.T.tolist(), strict=False)}
    if count == 3:
        yield {
            "type": "scatter3d",
            "mode": "markers",
            **trace,
            "marker": {**marker, "opacity": 0.9 if mark.scale == 1 else 0.5},
        }
    elif axes[0].categories:
        yield {"type": "scatter", "mode": "markers", **trace}
    else:
        mode = "lines" if mark.style is None else "lines+markers"
        yield {"type": "scatter", "mode": mode, **trace, "line": {**line, "shape": "vh"}, "opacity": 0.85}


def _convert_heatmap(mark: Heatmap, axes: Sequence[Axis]) -> Iterator[Dict]:
    rows, columns = mark.values.shape
    yield {
        "type": "heatmap",
        "x": list(range(columns)),
        "y": list(range(rows)),
        "z": mark.values.round(4).tolist(),
        "text": [list(row) for row in mark.texts],
        "customdata": [list(row) for row in mark.details],
        "texttemplate": "%{text}",
        "hovertemplate": "%{customdata}<extra></extra>",
        "coloraxis": "coloraxis",
        "xgap": 2,
        "ygap": 2,
    }


CONVERTERS: dict[type[Mark], Callable[[Any, Sequence[Axis]], Iterator[Dict]]] = {
    Intervals: _convert_intervals,
    Line: _convert_line,
    Band: _convert_band,
    Rectangles: _convert_rectangles,
    Cloud: _convert_cloud,
    Heatmap: _convert_heatmap,
}
_SKIP = {"hoverinfo": "skip"}


def _color(style: int | None) -> str:
    return REFERENCE_COLOR if style is None else style_color(style)


def _line_style(style: int | None) -> Dict:
    return {"width": 1.5 if style is None else 2.5, "color": _color(style), "dash": style_dash(style or 0)}


def _columns(values: Array) -> Dict:
    return dict(zip("xyz", values.T.tolist(), strict=False))


def _hover(name: str, text: str) -> Dict:
    return {"hovertemplate": f"{name}: {_template(text)}<extra></extra>"} if text else _SKIP


def _template(text: str) -> str:
    return _break_lines(re.sub(r"\{([xyz])", r"%{\1", text))


def _break_lines(text: str) -> str:
    return text.replace("\n", "<br>")


def _to_list(values: Array) -> list[float | None]:
    """Return the numbers as a list with None, which breaks the line, for NaN."""
    return [None if np.isnan(value) else value for value in values.reshape(-1).tolist()]


# --------------------------------------------------------------------------------------------------------------- layout


def _make_layout(drawing: Drawing) -> Dict:
    first = drawing.plots[0]
    layout = base_layout(drawing.height) | {"showlegend": drawing.legend != "none"}
    if len(first.axes) == 3:
        named = {f"{letter}axis": {"title": {"text": a.name}, **GRID} for a, letter in zip(first.axes, "xyz", strict=True)}
        scene = {**named, "camera": {"eye": {"x": 1.7, "y": 1.7, "z": 1.0}}, "aspectmode": "cube"}
        return layout | {"scene": scene, "margin": {"l": 0, "r": 0, "t": 80, "b": 10}}
    if len(first.axes) > 3:
        order = {"type": "category", "categoryorder": "array", "categoryarray": [axis.name for axis in first.axes]}
        share = {"title": {"text": "normalized return"}, "rangemode": "tozero", **GRID}
        return layout | {"xaxis": {**GRID, **order, "gridcolor": "#999999", "gridwidth": 1.5}, "yaxis": share}
    layout |= {"annotations": [], "shapes": []}
    for number, plot in enumerate(drawing.plots):
        _add_plot(layout, drawing, number, plot)
    if drawing.legend == "none":
        left = 20 if first.axes[1].categories else 70  # names of rows make room for themselves
        layout["margin"] = {"l": left, "r": 30, "t": 40 if layout["annotations"] or drawing.note else 20, "b": 60}
    if drawing.note:
        layout["title"] = {"text": drawing.note, "font": {"size": 11}, "x": 0.5}
    if any(isinstance(mark, Heatmap) for _, mark in drawing.marks):
        layout["coloraxis"] = {"cmin": 0, "cmax": 1, "colorscale": "Cividis", "colorbar": {"thickness": 14}}
    return _place_legend_below(drawing, layout) if first.axes[1].heads_rows else layout


def _place_legend_below(drawing: Drawing, layout: Dict) -> Dict:
    height = LEGEND_ROW_HEIGHT * len(drawing.plots[0].marks)
    legend = {"x": 0, "y": 0, "xref": "container", "yref": "container", "yanchor": "bottom", "itemsizing": "constant"}
    layout["xaxis"]["title"]["standoff"] = 5
    return layout | {
        "height": drawing.height + height,
        "legend": {**legend, "orientation": "h", "entrywidth": LEGEND_WIDTH, "tracegroupgap": 0, "font": {"size": 12}},
        "margin": {"l": 10, "r": 20, "t": 30, "b": 55 + height},
    }


def _add_plot(layout: Dict, drawing: Drawing, number: int, plot: Plot) -> None:
    """Add the axes of a plot to a layout, its title, and the frames of cells."""
    columns, rows = drawing.columns, -(-len(drawing.plots) // drawing.columns)
    row, column = divmod(number, columns)
    shared = bool(plot.axes[1].categories)  # plots side by side have the same rows
    place: tuple[Dict, Dict] = {}, {}
    if len(drawing.plots) > 1:
        inner, end = (0.03, 0.03) if shared else (0.05, 0.02)
        left = column / columns + (inner if column or not shared else 0)
        right = (column + 1) / columns - (end if column < columns - 1 or not shared else 0)
        bottom, top = (0.0, 1.0) if rows == 1 else (1 - (row + 0.65) / rows, 1 - row / rows - 0.02)
        names = _name_axes(number)
        place = {"domain": [left, right], "anchor": names["yaxis"]}, {"domain": [bottom, top], "anchor": names["xaxis"]}
        if any(other.title for other in drawing.plots):  # picker.js expects one for each plot
            text = {"text": plot.title or " ", "x": left, "xanchor": "left", "y": top, "yanchor": "bottom", "showarrow": False}
            layout["annotations"].append({**text, "xref": "paper", "yref": "paper"})
    key = str(number + 1) if number else ""
    small = {"font": {"size": 11}} if len(drawing.plots) > 1 else {}
    for letter, axis, given in zip("xy", plot.axes, place, strict=True):
        found = _convert_axis(axis, is_vertical=letter == "y")
        found["title"] = {**found["title"], **small}
        layout[f"{letter}axis{key}"] = {**found, **given}
    if shared:
        layout[f"yaxis{key}"]["showticklabels"] = not column
    frames = {cell for mark in plot.marks if isinstance(mark, Heatmap) for cell in mark.outlined}
    for i, j in sorted(frames):
        corners = {"x0": j - 0.5, "x1": j + 0.5, "y0": i - 0.5, "y1": i + 0.5, "line": {"width": 3, "color": "#222222"}}
        layout["shapes"].append({"type": "rect", "xref": f"x{key}", "yref": f"y{key}", **corners})


def _name_axes(number: int) -> Dict:
    key = str(number + 1) if number else ""
    return {"xaxis": f"x{key}", "yaxis": f"y{key}"}


def _convert_axis(axis: Axis, is_vertical: bool) -> Dict:
    arrow = {None: "", True: " →", False: " ←"}[axis.more_is_better]
    found: Dict = {"title": {"text": axis.label + arrow}, **GRID}
    if axis.is_log:
        found |= {"type": "log", "dtick": 1}
    if axis.is_share:
        found["tickformat"] = ".0%"
    if axis.start_at_zero:
        found["rangemode"] = "tozero"
    if axis.limits:
        found["range"] = list(axis.limits)
    if count := len(axis.categories):
        names = ["<br>".join(wrap(name, NAME_WIDTH)) for name in axis.categories]
        ends = [count - 0.5, -0.5] if is_vertical else [-0.5, count - 0.5]
        found |= {"tickvals": list(range(count)), "ticktext": names, "range": ends, "automargin": True, "zeroline": False}
    return found


# ---------------------------------------------------------------------------------------------------------- projections


def _make_projections(
    drawing: Drawing, axes: Sequence[Axis], traces: Sequence[Dict], view_of: Sequence[str | None]
) -> dict[str, Any]:
    """Return the data from which picker.js draws other choices of objectives.

    Each cloud names the trace that defines its style.
    """
    clouds = []
    for _, mark in drawing.marks:
        if isinstance(mark, Cloud) and mark.in_legend:
            owners = (i for i, view in enumerate(view_of) if view == mark.view and traces[i]["name"] == mark.name)
            clouds.append(
                {
                    "view": mark.view,
                    "styleTrace": next(owners),
                    "values": mark.values.tolist(),
                    "errors": None if mark.errors is None else mark.errors.tolist(),
                    "text": list(mark.labels) or [""] * len(mark.values),
                    "meta": list(mark.origin[0]),
                    "customdata": [list(pair) for pair in mark.origin[1]],
                    "low": mark.low.tolist(),
                    "high": mark.high.tolist(),
                }
            )
    return {
        "titles": [_convert_axis(axis, False)["title"]["text"] for axis in axes],
        "names": [axis.name for axis in axes],
        "grid": GRID["gridcolor"],
        "margin": base_layout(0)["margin"],
        "clouds": clouds,
    }
