"""Figures for papers: SVG and PNG files by matplotlib, from the same numbers as the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from momagames.errors import MissingExtra
from momagames.experiments.reports.aggregate import Aggregate
from momagames.experiments.reports.analysis import Panel
from momagames.experiments.reports.budgets import curves
from momagames.experiments.reports.charts import SHOWN, stairs
from momagames.experiments.reports.looks import COLORS
from momagames.experiments.reports.paper_parts import (
    arms,
    axes_of,
    legend_above,
    line_of,
    mark_of,
    over_budget,
    overview,
    who_against_whom,
)
from momagames.experiments.reports.reporting import Analysis
from momagames.experiments.science.arrays import Array
from momagames.experiments.science.attainment import surfaces

LOOK = {
    "svg.fonttype": "none",  # letters stay letters, which can be searched and take on the fonts of a paper
    "svg.hashsalt": "momagames",  # the same numbers give the same file
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e2e2e2",
    "legend.frameon": False,
}
MANY = 100  # lines of a method that are drawn one by one in an SVG file; more are a picture in it
SAVED: dict[str, dict[str, Any]] = {"svg": {"metadata": {"Date": None}, "dpi": 150}, "png": {"dpi": 300}}


def write_figures(made: Analysis, folder: str | Path, forms: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Write the figures of an analysis: `overview`; `overall` and `profiles` if methods are compared over all games; for each
    primary comparison of two or more objectives `front-N-TITLE`, and of a search `budget-N-TITLE`; and for each game of
    policies `crossplay-N-TITLE`. N counts each kind from 1.

    forms      "svg", and "png" (300 dots an inch)
    Returns    the files
    Raises     MissingExtra without matplotlib (extra `figures`)
    """
    return save_figures(figures(made), folder, forms)


def save_figures(drawings: Mapping[str, Figure], folder: str | Path, forms: Sequence[str]) -> list[Path]:
    """Draw some of `figures` and write them, see `write_figures`."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtra('figures need matplotlib: pip install "momagames[figures]"') from None
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = []
    with mpl.rc_context(LOOK):
        for name, figure in drawings.items():
            drawn = figure.draw()
            for form in forms:
                written.append(place / f"{name}.{form}")
                drawn.savefig(written[-1], bbox_inches="tight", **SAVED[form])
    return written


def figures(made: Analysis) -> dict[str, Figure]:
    """Name of the files, without their endings -> figure, in the order of `write_figures`."""
    number: Counter[str] = Counter()
    named = {}
    for figure in _figures(made):
        number[figure.kind] += 1
        named[f"{figure.kind}-{number[figure.kind]}-{_slug(figure.title)}" if figure.title else figure.kind] = figure
    return named


class Figure(NamedTuple):
    """One of the figures; those of all games together have no title."""

    kind: str
    title: str
    draw: Callable[[], Any]


def _figures(made: Analysis) -> Iterator[Figure]:
    if made.overview:
        yield Figure("overview", "", partial(overview, made.overview))
    if made.aggregate:
        yield Figure("overall", "", partial(_overall, made.aggregate))
        yield Figure("profiles", "", partial(_profiles, made.aggregate))
    for panel in made.panels:
        if panel.primary and len(panel.game.objectives) > 1:
            yield Figure("front", panel.title, partial(_front, panel))
    for panel in made.panels:
        if found := curves(panel, made.wanted):
            styles = {method: style for style, method in enumerate(panel.points)}
            yield Figure("budget", panel.title, partial(over_budget, found, styles))
    for one in made.crossplay:
        yield Figure("crossplay", one.title, partial(who_against_whom, one))


def _slug(title: str) -> str:
    """A title as part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].rstrip("-")


def _overall(found: Aggregate) -> Any:
    methods = list(found.statistics)
    figure, axes = axes_of(6.5, 0.9 + 0.3 * len(methods), len(SHOWN))
    for one, (statistic, label) in zip(axes, SHOWN.items(), strict=True):
        for row, method in enumerate(methods):
            at = found.statistics[method][statistic]
            look = {**mark_of(row), "capsize": 3}
            one.errorbar([at.value], [row], xerr=arms(at), **look)
        one.set_xlabel(label)
    axes[0].set_yticks(range(len(methods)), methods)
    axes[0].set_ylim(len(methods) - 0.5, -0.5)
    return figure


def _profiles(found: Aggregate) -> Any:
    figure, axes = axes_of(4.5, 3)
    for style, (method, one) in enumerate(found.profiles.items()):
        axes.plot(one.thresholds, one.share, label=method, **line_of(style))
        axes.fill_between(one.thresholds, one.low, one.high, color=COLORS[style % len(COLORS)], alpha=0.15, linewidth=0)
    axes.set_xlabel("HV ratio t")
    axes.set_ylabel("share of runs and games above t")
    axes.legend()
    return figure


def _front(panel: Panel) -> Any:
    """Median attainment with a band from worst to best (2 objectives), or parallel coordinates of the first seed."""
    figure, axes = axes_of(4.5, 3)
    draw = _attained if len(panel.game.objectives) == 2 else _parallel
    for style, method in enumerate(panel.points):
        draw(panel, method, style, axes)
    legend_above(axes, len(panel.points))
    return figure


def _attained(panel: Panel, method: str, style: int, axes: Any) -> None:
    found = panel.points[method]
    low = np.min([reference.low for reference in panel.references.values()], axis=0)
    bounds = surfaces([found[seed].values for seed in sorted(found)])
    axes.plot(*_corners(bounds.median, low).T, label=method, **line_of(style))
    band = np.concatenate([_corners(bounds.worst, low), _corners(bounds.best, low)[::-1]])
    axes.fill(*band.T, color=COLORS[style % len(COLORS)], alpha=0.13, linewidth=0)
    for name, goal in zip("xy", panel.game.objectives, strict=True):
        axes.set(**{f"{name}label": f"{goal.name} ({goal.unit})"})


def _corners(values: Array, low: Array) -> Array:
    """The corners of a surface's stairs, float[n, 2]: first down, then to the right."""
    steps = stairs(values, low)
    points = np.column_stack([steps["x"], steps["y"]])
    between = np.column_stack([points[:-1, 0], points[1:, 1]])
    return np.concatenate([points[:1], np.stack([between, points[1:]], axis=1).reshape(-1, 2)])


def _parallel(panel: Panel, method: str, style: int, axes: Any) -> None:
    seed = min(panel.references)
    points = panel.points[method].get(seed)
    if points is None:
        return
    shares = panel.references[seed].shares(points.values)
    names = [goal.name for goal in panel.game.objectives]
    strength = float(np.clip(20 / len(shares), 0.15, 0.9))
    look = {**line_of(style), "alpha": strength, "rasterized": len(shares) > MANY}
    axes.plot(range(len(names)), shares.T, label=[method] + [None] * (len(shares) - 1), **look)
    axes.set_xticks(range(len(names)), names, rotation=30 if len(names) > 4 else 0)
    axes.set_ylabel(f"share of the range (seed {seed})")
