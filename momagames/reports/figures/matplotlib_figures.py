"""Figures for papers, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from textwrap import fill
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.statistics import Interval
from momagames.reports.figures.drawing import Band, Cloud, Drawing, Heatmap, Intervals, Line, Mark, Plot, Rectangles
from momagames.reports.figures.theme import REFERENCE_COLOR, style_color, style_symbol

# symbol -> marker, and whether it is filled
MARKERS = {
    "circle-open": ("o", False),
    "square-open": ("s", False),
    "diamond": ("D", True),
    "cross": ("P", True),
    "x": ("X", True),
    "circle": ("o", True),
    "square": ("s", True),
    "diamond-open": ("D", False),
}
LINE_STYLES = ("-", "--", ":", "-.")
NARROW, WIDE = 4.5, 6.8  # inches of rows with headings; with more than MAX_NARROW methods they are wide
MAX_NARROW = 8
MAX_ABOVE = 4  # methods of a legend above the plots
LEGEND_HEIGHT = 0.19  # inches of a method in a legend beside them
CHARACTERS_PER_INCH = 13  # of small text
LABEL_WIDTH = 14  # characters per line of the name of a column
LINE_HEIGHT, ROW_HEIGHT = 0.17, 0.25  # inches of a line of small text, and of the markers of a row at least
MARKER_HEIGHT = 0.045  # inches of a method in a row
DARK_BELOW = 0.5  # cells below this value are dark, and their numbers white
MAX_LINES = 300  # lines in parallel coordinates, of all methods together
MAX_VECTOR_LINES = 100  # lines of a method drawn as vectors in an SVG file; more are rasterized


def draw_with_matplotlib(drawing: Drawing) -> Any:
    """Return a matplotlib figure without a window."""
    from matplotlib.figure import Figure

    rows = _Rows(drawing.plots[0]) if drawing.plots[0].axes[1].heads_rows else None
    columns = len(drawing.plots) if drawing.plots[0].axes[1].categories else drawing.columns
    figure = Figure(figsize=rows.size if rows else drawing.size)
    is_shared = bool(drawing.plots[0].axes[1].categories)
    plots = figure.subplots(-(-len(drawing.plots) // columns), columns, sharey=is_shared and columns > 1, squeeze=False)
    for left in plots.flat[len(drawing.plots) :]:
        left.remove()
    for number, (plot, axes) in enumerate(zip(drawing.plots, plots.flat, strict=False)):
        marks = drawing.list_printed(plot)
        if len(plot.axes) > 2:
            _draw_parallel(plot, marks, axes)
        else:
            _label_axes(plot, marks, axes, is_first=not number)
            for mark in marks:
                DRAWERS[type(mark)](rows.spread(mark) if rows else mark, axes)
        if rows:
            rows.draw_headings(axes)
    if not is_shared and columns > 1:
        figure.set_layout_engine("constrained")
    _finish(drawing, figure, plots[0, -1])
    return figure


def _finish(drawing: Drawing, figure: Any, corner: Any) -> None:
    """Draw what is outside of the plots; corner: the axes at the top on the right."""
    first, *_ = figure.axes
    if drawing.note:
        figure.suptitle(drawing.note, fontsize=8)
    if drawing.legend == "outside":
        place_legend(first, corner)
    elif drawing.legend == "inside":
        first.legend()
    if any(isinstance(mark, Heatmap) and mark.is_dense for _, mark in drawing.marks):
        figure.get_layout_engine() or figure.set_layout_engine("constrained")


def _label_axes(plot: Plot, marks: Sequence[Mark], axes: Any, is_first: bool) -> None:
    horizontal, vertical = plot.axes
    cells = next((mark for mark in marks if isinstance(mark, Heatmap)), None)
    if horizontal.is_log:
        axes.set_xscale("log")
    for axis, set_limits in ((horizontal, axes.set_xlim), (vertical, axes.set_ylim)):
        if axis.limits and not axis.categories:
            set_limits(*axis.limits)
    if not cells:
        axes.set_xlabel(horizontal.label)
        axes.set_ylabel(vertical.label)
    if vertical.categories and not vertical.heads_rows and is_first:  # shared by all plots
        axes.set_yticks(range(len(vertical.categories)), vertical.categories)
        if not cells:
            axes.set_ylim(len(vertical.categories) - 0.5, -0.5)
    if cells:
        names = [_wrap_name(name) for name in horizontal.categories]
        dense = {"rotation": 45, "ha": "right"} if cells.is_dense else {"rotation": 30 if len(names) > 3 else 0}
        axes.set_xticks(range(len(names)), names, fontsize=8, **dense)
        axes.set_title(", ".join(filter(None, [cells.view, plot.title])), fontsize=9)
        axes.grid(False)


def _wrap_name(name: str) -> str:
    """Return the name of a column with its options on separate lines."""
    return "\n".join(fill(part, LABEL_WIDTH) for part in name.replace("(", "\n(", 1).split("\n"))


def place_legend(axes: Any, corner: Any) -> None:
    """Draw the legend of the axes: of few methods above, in columns no wider than the axes; of more to the right of the corner,
    in columns no higher than the figure, so that it takes no height from the plots.
    """
    handles, labels = axes.get_legend_handles_labels()
    axes.figure.draw_without_rendering()  # lays out the axes
    axes.figure.set_layout_engine("none")  # which would make room for the legend within the size of the figure
    if len(labels) > MAX_ABOVE:
        columns = -(-len(labels) // max(1, round(axes.figure.get_figheight() / LEGEND_HEIGHT)))
        legend = corner.legend(handles, labels, ncols=columns, loc="upper left", bbox_to_anchor=(1.02, 1.02), fontsize=8)
    else:
        width = axes.get_window_extent().width
        for columns in range(max(1, len(labels)), 0, -1):
            legend = axes.legend(ncols=columns, loc="lower left", bbox_to_anchor=(0, 1))
            if legend.get_window_extent().width <= width:
                break
    for handle in legend.legend_handles:
        handle.set_alpha(1)  # where lines are transparent, too


# ---------------------------------------------------------------------------------------------------------------- marks


def line_style(mark: Line | Cloud) -> dict[str, Any]:
    """Return the line style of a method, or the thin gray one of a reference front."""
    if mark.style is None:
        return {"color": REFERENCE_COLOR, "linewidth": 0.8}
    return {"color": style_color(mark.style), "linestyle": LINE_STYLES[mark.style % len(LINE_STYLES)], "linewidth": 1.5}


def marker_style(style: int) -> dict[str, Any]:
    """Return the color and marker of a method, those of the page."""
    color, (marker, filled) = style_color(style), MARKERS[style_symbol(style)]
    return {"color": color, "marker": marker, "markerfacecolor": color if filled else "none"}


def _draw_intervals(mark: Intervals, axes: Any) -> None:
    assert mark.style is not None
    options = {**marker_style(mark.style), "capsize": 3, "linestyle": "none"}
    if mark.is_filled is not None:
        options |= {"markerfacecolor": options["color"] if mark.is_filled else "white", "capsize": 2, "markersize": 5}
    if mark.is_small:
        options |= {"capsize": 2, "markersize": 4}
    bars = np.hstack([_error_bars(at) for _, at in mark.at])
    label = mark.name if mark.in_legend else None
    axes.errorbar([at.value for _, at in mark.at], [row for row, _ in mark.at], xerr=bars, label=label, **options)


def _error_bars(at: Interval) -> list[list[float]]:
    """Return an interval as lengths on both sides of its value, which a bootstrap of few runs may leave out."""
    return [[max(0.0, at.value - at.low)], [max(0.0, at.high - at.value)]]


def _draw_line(mark: Line, axes: Any) -> None:
    axes.plot(*mark.corners.T, label=mark.name if mark.in_legend else None, **line_style(mark))


def _draw_band(mark: Band, axes: Any) -> None:
    assert mark.style is not None
    axes.fill(*np.concatenate([mark.low, mark.high[::-1]]).T, color=style_color(mark.style), alpha=mark.opacity, linewidth=0)


def _draw_rectangles(mark: Rectangles, axes: Any) -> None:
    assert mark.style is not None
    for left, low, right, high in mark.ends:
        x, y = [left, right, right, left], [low, low, high, high]
        axes.fill(x, y, color=style_color(mark.style), alpha=mark.opacity, linewidth=0)


def _draw_cloud(mark: Cloud, axes: Any) -> None:
    style = {"color": REFERENCE_COLOR, "marker": "."} if mark.style is None else marker_style(mark.style)
    axes.plot(*mark.values.T, label=mark.name if mark.in_legend else None, linestyle="none", **style)


def _draw_heatmap(mark: Heatmap, axes: Any) -> None:
    axes.imshow(mark.values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    small = {"fontsize": 7} if mark.is_dense else {}
    for i, row in enumerate(mark.texts):
        for j, text in enumerate(row):
            color = "white" if mark.values[i, j] < DARK_BELOW else "black"
            axes.text(j, i, text, ha="center", va="center", color=color, **small)


DRAWERS: Mapping[type[Mark], Callable[[Any, Any], None]] = {
    Intervals: _draw_intervals,
    Line: _draw_line,
    Band: _draw_band,
    Rectangles: _draw_rectangles,
    Cloud: _draw_cloud,
    Heatmap: _draw_heatmap,
}


def _draw_parallel(plot: Plot, marks: Sequence[Cloud], axes: Any) -> None:
    """Draw a line for each point through all objectives, in normalized returns."""
    names = [axis.name for axis in plot.axes]
    methods = sum(mark.style is not None for mark in marks)
    for mark in marks:
        shares, options = mark.shares, line_style(mark)
        if mark.style is None:
            shares = shares[:MAX_VECTOR_LINES]
        else:
            if len(shares) > (most := MAX_LINES // methods):  # evenly spread in the order of the first objective
                shares = shares[np.linspace(0, len(shares) - 1, most).round().astype(np.int64)]
            alpha = float(np.clip(20 / len(shares), 0.15, 0.9))
            options |= {"alpha": alpha, "rasterized": len(shares) > MAX_VECTOR_LINES}
        axes.plot(range(len(names)), shares.T, label=[mark.name] + [None] * (len(shares) - 1), **options)
    axes.set_xticks(range(len(names)), names, rotation=30 if len(names) > 4 else 0)
    axes.set_ylim(bottom=-0.05)  # points far below the reference point, which count for no indicator, would flatten the rest
    view = next((mark.view for mark in marks if mark.view), None)
    axes.set_ylabel(f"normalized return ({view})" if view else "normalized return")


# ----------------------------------------------------------------------------------------------------------------- rows


class _Rows:
    """Rows with headings above them, whose marks are beside each other.

    tops       of the rows and the end of the last one, inches
    shifts     (row, name of a mark) -> its place, inches
    """

    def __init__(self, plot: Plot) -> None:
        names = plot.axes[1].categories
        methods: list[list[str]] = [[] for _ in names]
        for mark in plot.marks:
            for row, _ in mark.at if isinstance(mark, Intervals) else ():
                methods[int(row)].append(mark.name)
        width = NARROW if len(plot.marks) <= MAX_NARROW else WIDE
        self.headings = [fill(name, round(width * CHARACTERS_PER_INCH)) for name in names]
        heights = np.array([max(ROW_HEIGHT, MARKER_HEIGHT * len(found)) for found in methods])
        lines = np.array([LINE_HEIGHT * (heading.count("\n") + 1) for heading in self.headings])
        self.tops: Array = np.cumsum([0, *(heights + lines)])
        self.size = (width, 0.9 + self.tops[-1])
        self.places = {
            (row, name): float(bottom - height / 2 + ((place + 0.5) / len(found) - 0.5) * 0.7 * height)
            for row, (found, height, bottom) in enumerate(zip(methods, heights, self.tops[1:], strict=True))
            for place, name in enumerate(found)
        }

    def spread(self, mark: Intervals) -> Intervals:
        """Return a mark at its places in inches."""
        return replace(mark, at=[(self.places[int(row), mark.name], at) for row, at in mark.at])

    def draw_headings(self, axes: Any) -> None:
        for top, heading in zip(self.tops, self.headings, strict=False):
            axes.text(0.01, top + 0.04, heading, transform=axes.get_yaxis_transform(), va="top", fontsize=8)
        axes.set_yticks(self.tops[1:-1], [""] * (len(self.headings) - 1))
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(self.tops[-1], 0)
