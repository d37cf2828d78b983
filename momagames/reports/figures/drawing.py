"""Description of a figure as plain data, which back ends draw: `plotly_figures` for the page, `matplotlib_figures` for papers.

Marks have the name of a method in legends and its style (see `theme`); style None is that of reference fronts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.statistics import Interval
from momagames.contract import Objective

PAPER_VIEW = ""  # a view that the page leaves out


@dataclass(frozen=True)
class Axis:
    """An axis.

    unit              in brackets after the name
    more_is_better    the direction of an arrow on the page
    start_at_zero     the range begins at 0, if no value is below
    limits            of the range
    categories        the values are indices of these texts, in lines; on a vertical axis the first is at the top
    heads_rows        the categories of a vertical axis are above their rows in papers, and marks of a row beside each other
    """

    name: str = ""
    unit: str = ""
    more_is_better: bool | None = None
    is_log: bool = False
    is_share: bool = False
    start_at_zero: bool = False
    limits: tuple[float, float] | None = None
    categories: Sequence[str] = ()
    heads_rows: bool = False

    @property
    def label(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @staticmethod
    def of(objective: Objective) -> Axis:
        return Axis(objective.name, objective.unit, more_is_better=True)


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Something in a plot.

    view         the view of the figure that it belongs to; None: all
    in_legend    its name is in the legend
    """

    name: str
    style: int | None = None
    view: str | None = None
    in_legend: bool = True


@dataclass(frozen=True, kw_only=True)
class Intervals(Mark):
    """Values with intervals along the horizontal axis.

    at           row and value of each
    texts        what the page says about each
    is_filled    markers are filled or hollow; None: as the style has it
    """

    at: Sequence[tuple[float, Interval]]
    texts: Sequence[str]
    is_filled: bool | None = None
    is_small: bool = False


@dataclass(frozen=True, kw_only=True)
class Line(Mark):
    """Corners float[n, 2] of a line.

    text          what the page says about a point: "{x:.2f}" and "{y:.2f}" are its values
    is_main       thick, in the line style of the method
    has_points    the corners have markers
    """

    corners: Array
    text: str = ""
    is_main: bool = True
    has_points: bool = False


@dataclass(frozen=True, kw_only=True)
class Band(Mark):
    """The area between two lines, float[n, 2] each; what the page says about its edges, which have no line without a text."""

    low: Array
    high: Array
    texts: tuple[str, str] | None = None
    opacity: float = 0.15


@dataclass(frozen=True, kw_only=True)
class Rectangles(Mark):
    """Areas float[n, 4] in a color of some opacity: left, low, right and high end."""

    ends: Array
    opacity: float


@dataclass(frozen=True, kw_only=True)
class Cloud(Mark):
    """Points in all objectives, float[n, K].

    errors      standard errors float[n, K]; None without
    labels      what the page says about each
    low, high   of each objective: the ends of normalized returns
    origin      of the points, for clicks: directories of runs, and for each point the index of its run and its index on the
                front of that run, -1 if it is not on it
    scale       of its markers
    """

    values: Array
    labels: Sequence[str] = ()
    errors: Array | None = None
    low: Array
    high: Array
    origin: tuple[Sequence[str], Sequence[tuple[int, int]]] = ((), ())
    scale: float = 1.0

    @property
    def shares(self) -> Array:
        """The points as normalized returns."""
        return np.asarray((self.values - self.low) / (self.high - self.low))


@dataclass(frozen=True, kw_only=True)
class Heatmap(Mark):
    """Values float[rows, columns] from 0 to 1 in cells.

    texts       in the cells
    details     what the page says about each
    outlined    rows and columns of framed cells
    is_dense    the cells are small
    """

    values: Array
    texts: Sequence[Sequence[str]]
    details: Sequence[Sequence[str]]
    outlined: Sequence[tuple[int, int]] = ()
    is_dense: bool = False


@dataclass(frozen=True)
class Plot:
    """Marks on two axes, or on one for each objective."""

    axes: Sequence[Axis]
    marks: Sequence[Mark]
    title: str = ""


@dataclass(frozen=True)
class Drawing:
    """A figure.

    plots      side by side, in rows of `columns`
    height     pixels on the page
    size       width and height in a paper, inches; None: as rows need
    legend     "outside" takes the place that it needs; "none"
    printed    the view in a paper; None: the first
    note       in small letters above
    caption    below, on the page
    """

    plots: Sequence[Plot]
    height: int
    size: tuple[float, float] | None = (4.5, 3.0)
    columns: int = 1
    legend: Literal["inside", "outside", "none"] = "inside"
    printed: str | None = None
    note: str = ""
    caption: str = ""

    @property
    def marks(self) -> Iterator[tuple[int, Mark]]:
        """The marks with the numbers of their plots."""
        for number, plot in enumerate(self.plots):
            for mark in plot.marks:
                yield number, mark

    @property
    def views(self) -> list[str]:
        """The views in order of appearance; none if the figure has no choice."""
        return list(dict.fromkeys(mark.view for _, mark in self.marks if mark.view))

    def list_printed(self, plot: Plot) -> list[Any]:
        """Return the marks of a plot in a paper."""
        view = next(iter(self.views), None) if self.printed is None else self.printed
        return [mark for mark in plot.marks if mark.view in (None, view)]


def stair_corners(values: Array, low: Array) -> Array:
    """Return the corners of the region that points float[n, 2] attain, down to `low`: first down, then to the right."""
    ordered = values[values[:, 0].argsort()]
    x = [low[0], *ordered[:, 0], ordered[-1, 0]]
    y = [ordered[0, 1], *ordered[:, 1], low[1]]
    points = np.column_stack([x, y])
    between = np.column_stack([points[:-1, 0], points[1:, 1]])
    return np.concatenate([points[:1], np.stack([between, points[1:]], axis=1).reshape(-1, 2)])
