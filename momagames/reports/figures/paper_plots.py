"""Plots of the figures for papers: overview, anytime performance and head-to-head results, and shared parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np

from momagames.analysis.named_indicators import INDICATORS
from momagames.analysis.statistics import Interval
from momagames.reports.data.anytime_curves import AnytimeCurves
from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.data.generalization import MORE_IS_BETTER, InstanceScore
from momagames.reports.data.overview import OverviewRow, list_methods
from momagames.reports.figures.theme import style_color, style_symbol
from momagames.reports.text.labels import SAME_NAME_MARK

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
NARROW, WIDE = 4.5, 6.8  # inches of an overview; with more than MAX_NARROW methods it is wide
MAX_NARROW = 8
MAX_LEGEND_COLUMNS = 4
CHARACTERS_PER_INCH = 13  # of small text
LABEL_WIDTH = 14  # characters per line of an opponent's name
LINE_HEIGHT, ROW_HEIGHT = 0.17, 0.25  # inches of a line of small text, and of the markers of a row in the overview at least
MARKER_HEIGHT = 0.045  # inches of a method in a row of the overview
DARK_BELOW = 0.5  # cells below this value are dark, and their numbers white


def new_axes(width: float, height: float, columns: int = 1) -> tuple[Any, Any]:
    """Return a figure without a window, sized in inches, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.subplots(1, columns, sharey=columns > 1)


def error_bars(at: Interval) -> list[list[float]]:
    """Return an interval as lengths on both sides of its value, which a bootstrap of few runs may leave out."""
    return [[max(0.0, at.value - at.low)], [max(0.0, at.high - at.value)]]


def line_style(style: int) -> dict[str, Any]:
    """Return the line style of a method."""
    return {"color": style_color(style), "linestyle": LINE_STYLES[style % len(LINE_STYLES)], "linewidth": 1.5}


def marker_style(style: int) -> dict[str, Any]:
    """Return the color and marker of a method, those of the HTML page."""
    color, (marker, filled) = style_color(style), MARKERS[style_symbol(style)]
    return {"color": color, "marker": marker, "markerfacecolor": color if filled else "none"}


def plot_overview(rows: Sequence[OverviewRow], styles: Mapping[str, int]) -> Any:
    """Plot a row for each game, its title above, and a marker with its interval for each method."""
    names = list_methods(rows)
    width = NARROW if len(names) <= MAX_NARROW else WIDE
    titles = [fill(row.title, round(width * CHARACTERS_PER_INCH)) for row in rows]
    heights = [max(ROW_HEIGHT, MARKER_HEIGHT * len(row.scores)) for row in rows]
    lines = [LINE_HEIGHT * (title.count("\n") + 1) for title in titles]
    tops = np.cumsum([0, *(high + line for high, line in zip(heights, lines, strict=True))])  # inches
    figure, axes = new_axes(width, 0.9 + tops[-1])
    points: dict[str, list[tuple[float, Interval]]] = {name: [] for name in names}
    for bottom, high, row in zip(tops[1:], heights, rows, strict=True):
        present = [name for name in names if name in row.scores]
        for place, name in enumerate(present):
            shift = ((place + 0.5) / len(present) - 0.5) * 0.7 * high
            points[name].append((bottom - high / 2 + shift, row.scores[name]))
    for name, found in points.items():
        bars = np.hstack([error_bars(at) for _, at in found])
        options = {**marker_style(styles[name]), "capsize": 2, "markersize": 4, "linestyle": "none"}
        axes.errorbar([at.value for _, at in found], [y for y, _ in found], xerr=bars, label=name, **options)
    for top, title in zip(tops, titles, strict=False):
        axes.text(0.01, top + 0.04, title, transform=axes.get_yaxis_transform(), va="top", fontsize=8)
    axes.set_yticks(tops[1:-1], [""] * (len(rows) - 1))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(tops[-1], 0)
    axes.set_xlabel("hypervolume ratio")
    legend_above(axes, len(names))
    return figure


def legend_above(axes: Any, count: int) -> None:
    """Draw the legend of `count` methods above the axes, in at most four columns and no wider than the axes."""
    axes.figure.draw_without_rendering()  # lays out the axes
    width = axes.get_window_extent().width
    for columns in range(min(MAX_LEGEND_COLUMNS, count), 0, -1):
        legend = axes.legend(ncols=columns, loc="lower left", bbox_to_anchor=(0, 1))
        if legend.get_window_extent().width <= width:
            break
    for handle in legend.legend_handles:
        handle.set_alpha(1)  # where lines are transparent, too


def plot_generalization(scores: Mapping[str, Mapping[str, InstanceScore]], styles: Mapping[str, int]) -> Any:
    """Plot each indicator in training (hollow) and test instances (filled), a row for each method."""
    figure, plots = new_axes(6.5, 0.9 + 0.3 * len(scores), len(MORE_IS_BETTER))
    for axes, (name, is_up) in zip(plots, MORE_IS_BETTER.items(), strict=True):
        for row, (method, found) in enumerate(scores.items()):
            style: dict[str, Any] = {**marker_style(styles[method]), "capsize": 2, "markersize": 5}
            for at, color, place in (
                (found[name].training, "white", row - 0.14),
                (found[name].test, style["color"], row + 0.14),
            ):
                axes.errorbar([at.value], [place], xerr=error_bars(at), **{**style, "markerfacecolor": color})
        direction = "more" if is_up else "less"
        axes.set_xlabel(f"{name} ({direction} is better)")
    plots[0].set_yticks(range(len(scores)), list(scores))
    plots[0].set_ylim(len(scores) - 0.5, -0.5)
    figure.suptitle("hollow: training instances, filled: unseen instances", fontsize=8)
    return figure


def plot_anytime(curves: AnytimeCurves, styles: Mapping[str, int]) -> Any:
    """Plot the anytime performance of each method with its band."""
    figure, axes = new_axes(4.5, 3)
    for method, band in curves.bands.items():
        style = styles[method]
        axes.plot(curves.budgets, band.mean, label=method, **line_style(style))
        if curves.runs[method] > 1:
            color = style_color(style)
            axes.fill_between(curves.budgets, band.low, band.high, color=color, alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_xlabel("environment steps")
    axes.set_ylabel(INDICATORS[curves.indicator].label)
    axes.legend()
    return figure


def wrap_opponent_name(name: str) -> str:
    """Return the name of an opponent with its options on separate lines."""
    return "\n".join(fill(part, LABEL_WIDTH) for part in name.replace("(", "\n(", 1).split("\n"))


def plot_crossplay(crossplay: CrossPlay) -> Any:
    """Plot a heat map for each seat: win rates, or normalized hypervolumes in games without winners."""
    name = next(iter(crossplay.tables))
    seats, columns, rows = crossplay.seats, len(crossplay.opponents), len(crossplay.methods)
    figure, axes = new_axes(1.2 + len(seats) * (0.5 + 0.8 * columns), 1.0 + 0.5 * rows, len(seats))
    for column, (plot, seat) in enumerate(zip(np.atleast_1d(axes), seats, strict=True)):
        values = np.array([[crossplay.tables[name][seat, m, o].value for o in crossplay.opponents] for m in crossplay.methods])
        plot.imshow(values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
        plot.grid(False)
        for i, m in enumerate(crossplay.methods):
            for j, o in enumerate(crossplay.opponents):
                text = f"{values[i, j]:.2f}" + (f" {SAME_NAME_MARK}" if (m, o) in crossplay.same_name else "")
                plot.text(j, i, text, ha="center", va="center", color="white" if values[i, j] < DARK_BELOW else "black")
        labels = [wrap_opponent_name(opponent) for opponent in crossplay.opponents]
        plot.set_xticks(range(columns), labels, rotation=30 if columns > 3 else 0, fontsize=8)
        if not column:  # shared by all heat maps
            plot.set_yticks(range(rows), crossplay.methods)
        plot.set_title(f"{name}, as {seat}", fontsize=9)
    return figure
