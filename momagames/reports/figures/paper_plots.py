"""Parts of figures for papers, and those of the overview, of budgets and of cross-play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np

from momagames.analysis.statistics import Interval
from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.data.overview import RATIO, OverviewRow, list_methods
from momagames.reports.figures.budgets import Curves
from momagames.reports.figures.theme import COLORS
from momagames.reports.report import HEADINGS
from momagames.reports.text.crossplay_tables import OWN

MARKERS = "osDP^vX"
STYLES = ("-", "--", ":", "-.")
LETTERS = 52  # of a title in a line
LABEL = 14  # of an opponent's name in a line
LINE = 0.17  # inches that a line of small letters takes
DIM = 0.5  # below this a cell is dark, and its number white


def axes_of(width: float, height: float, columns: int = 1) -> tuple[Any, Any]:
    """A figure without a window, and its axes; inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.subplots(1, columns, sharey=columns > 1)


def arms(at: Interval) -> list[list[float]]:
    """An interval as lengths to both sides of its value."""
    return [[at.value - at.low], [at.high - at.value]]


def line_of(style: int) -> dict[str, Any]:
    """How the line of a method looks."""
    return {"color": COLORS[style % len(COLORS)], "linestyle": STYLES[style % len(STYLES)], "linewidth": 1.5}


def mark_of(style: int) -> dict[str, Any]:
    """How the marks of a method look; more methods than colors have other symbols the second time round."""
    turn = style // len(COLORS)
    return {"color": COLORS[style % len(COLORS)], "marker": MARKERS[(style + turn) % len(MARKERS)]}


def overview(lines: Sequence[OverviewRow]) -> Any:
    """A row for each game, a mark with its interval for each method."""
    names = list_methods(lines)
    titles = [fill(line.title + (" (HV ratio)" if line.indicator == RATIO else ""), LETTERS) for line in lines]
    row_height = max(0.3, LINE * (max(title.count("\n") for title in titles) + 1))
    figure, axes = axes_of(4.5, 0.9 + row_height * len(lines))
    for style, name in enumerate(names):
        shift = (style - (len(names) - 1) / 2) * 0.6 / max(1, len(names))
        rows = [(row + shift, line.scores[name]) for row, line in enumerate(lines) if name in line.scores]
        spans = np.hstack([arms(at) for _, at in rows])
        look = {**mark_of(style), "capsize": 2, "markersize": 4}
        axes.errorbar([at.value for _, at in rows], [y for y, _ in rows], xerr=spans, linestyle="none", label=name, **look)
    axes.set_yticks(range(len(lines)), titles, fontsize=8)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xlabel("normalized hypervolume, or hypervolume ratio where the front is proven")
    legend_above(axes, len(names))
    return figure


def legend_above(axes: Any, count: int) -> None:
    """The names of so many methods, where they hide nothing."""
    axes.legend(ncols=min(4, count), loc="lower left", bbox_to_anchor=(0, 1))


def over_budget(found: Curves, styles: Mapping[str, int]) -> Any:
    """What had been found by each point of the budget, with bands."""
    figure, axes = axes_of(4.5, 3)
    for method, told in found.bands.items():
        style = styles[method]
        axes.plot(found.budgets, told.mean, label=method, **line_of(style))
        if found.runs[method] > 1:
            axes.fill_between(found.budgets, told.low, told.high, color=COLORS[style % len(COLORS)], alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_xlabel("steps of the engine")
    axes.set_ylabel(f"{HEADINGS[found.indicator][0]} of what had been found")
    axes.legend()
    return figure


def short_name(name: str) -> str:
    """The name of an opponent below a column: its options, if it has any, on lines of their own."""
    return "\n".join(fill(part, LABEL) for part in name.replace("(", "\n(", 1).split("\n"))


def who_against_whom(found: CrossPlay) -> Any:
    """The heat maps of all seats beside each other: win rates, or volumes where nobody wins."""
    name = next(iter(found.tables))
    seats, columns, rows = found.seats, len(found.opponents), len(found.methods)
    figure, axes = axes_of(1.2 + len(seats) * (0.5 + 0.8 * columns), 1.0 + 0.5 * rows, len(seats))
    for place, (one, seat) in enumerate(zip(np.atleast_1d(axes), seats, strict=True)):
        values = np.array([[found.tables[name][seat, m, o].value for o in found.opponents] for m in found.methods])
        one.imshow(values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
        one.grid(False)
        for i, m in enumerate(found.methods):
            for j, o in enumerate(found.opponents):
                text = f"{values[i, j]:.2f}" + (f" {OWN}" if (m, o) in found.same_name else "")
                one.text(j, i, text, ha="center", va="center", color="white" if values[i, j] < DIM else "black")
        one.set_xticks(
            range(columns), [short_name(name) for name in found.opponents], rotation=30 if columns > 3 else 0, fontsize=8
        )
        if not place:  # the other seats share it
            one.set_yticks(range(rows), found.methods)
        one.set_title(f"{name}, as {seat}", fontsize=9)
    return figure
