"""Figures for papers: SVG and PNG files by matplotlib, with the numbers of the HTML page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.attainment import attainment_surfaces
from momagames.errors import MissingExtra
from momagames.files.writing import atomic_path, make_folder
from momagames.reports.data.aggregate import Aggregate
from momagames.reports.data.anytime_curves import compute_anytime_curves
from momagames.reports.data.panels import Panel
from momagames.reports.data.report_data import ReportData
from momagames.reports.figures.paper_plots import (
    error_bars,
    legend_above,
    line_style,
    marker_style,
    new_axes,
    plot_anytime,
    plot_crossplay,
    plot_generalization,
    plot_overview,
)
from momagames.reports.figures.plotly_aggregate import FIGURE_STATISTICS
from momagames.reports.figures.plotly_attainment import stairs
from momagames.reports.figures.plotly_projections import reference_name
from momagames.reports.figures.theme import REFERENCE_COLOR, style_color
from momagames.wording import show_controls

RC_PARAMS = {
    "svg.fonttype": "none",  # text stays text, which is searchable and takes the font of the paper
    "svg.hashsalt": "momagames",  # makes the files reproducible
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e2e2e2",
    "legend.frameon": False,
}
KINDS = ("overview", "overall", "profiles", "front", "generalization", "anytime", "crossplay")
MAX_LINES = 300  # lines in parallel coordinates, of all methods together
MAX_VECTOR_LINES = 100  # lines of a method drawn as vectors in an SVG file; more are rasterized
SAVE_OPTIONS: dict[str, dict[str, Any]] = {"svg": {"metadata": {"Date": None}, "dpi": 150}, "png": {"dpi": 300}}


def write_figures(data: ReportData, folder: str | Path, forms: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Write the figures of a report.

    The files are `overview`; `overall` and `profiles` if the report compares methods over all games; `front-N-TITLE` for each
    primary panel of two or more objectives; `generalization-N-TITLE` for each panel with exact fronts of instances;
    `anytime-N-TITLE` for each panel of plans; and `crossplay-N-TITLE` for each game with opponents. N counts each kind from 1.

    forms      "svg", and "png" (300 dpi)
    Returns    the paths of the files
    Raises     MissingExtra without matplotlib (extra `figures`)
    """
    return save_figures(list_figures(data), folder, forms)


def save_figures(figures: Mapping[str, Figure], folder: str | Path, forms: Sequence[str]) -> list[Path]:
    """Draw figures of `list_figures` and write their files (see `write_figures`)."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtra('figures need matplotlib: pip install "momagames[figures]"') from None
    place = Path(folder)
    make_folder(place)
    written = []
    with mpl.rc_context(RC_PARAMS):
        for name, figure in figures.items():
            drawn = figure.draw()
            for text in drawn.findobj(mpl.text.Text):
                if (visible := show_controls(text.get_text())) != text.get_text():
                    text.set_text(visible)
            for form in forms:
                written.append(place / f"{name}.{form}")
                with atomic_path(written[-1]) as temporary:
                    drawn.savefig(temporary, bbox_inches="tight", **SAVE_OPTIONS[form])
    return written


def list_figures(data: ReportData, kinds: Container[str] = KINDS) -> dict[str, Figure]:
    """Return file name without its extension -> figure of these kinds, in the order of `write_figures`."""
    number: Counter[str] = Counter()
    figures = {}
    for figure in _generate_figures(data, kinds):
        number[figure.kind] += 1
        figures[f"{figure.kind}-{number[figure.kind]}-{_slug(figure.title)}" if figure.title else figure.kind] = figure
    return figures


class Figure(NamedTuple):
    """A figure of the report. Figures over all games have no title."""

    kind: str
    title: str
    draw: Callable[[], Any]


def _generate_figures(data: ReportData, kinds: Container[str]) -> Iterator[Figure]:
    if "overview" in kinds and data.overview:
        yield Figure("overview", "", partial(plot_overview, data.overview, data.styles))
    if "overall" in kinds and data.aggregate:
        yield Figure("overall", "", partial(_plot_aggregate, data.aggregate, data.styles))
    if "profiles" in kinds and data.aggregate:
        yield Figure("profiles", "", partial(_plot_profiles, data.aggregate, data.styles))
    for panel in data.panels if "front" in kinds else ():
        if panel.primary and len(panel.game.objectives) > 1:
            yield Figure("front", panel.full_heading, partial(_plot_front, panel))
    for panel in data.panels if "generalization" in kinds else ():
        if panel.generalization:
            yield Figure("generalization", panel.full_heading, partial(plot_generalization, panel.generalization, panel.styles))
    for panel in data.panels if "anytime" in kinds else ():
        if curves := compute_anytime_curves(panel, data.settings):
            yield Figure("anytime", panel.full_heading, partial(plot_anytime, curves, panel.styles))
    for crossplay in data.crossplay if "crossplay" in kinds else ():
        yield Figure("crossplay", crossplay.title, partial(plot_crossplay, crossplay))


def _slug(title: str) -> str:
    """Return a title as part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].rstrip("-")


def _plot_aggregate(aggregate: Aggregate, styles: Mapping[str, int]) -> Any:
    methods = list(aggregate.statistics)
    figure, axes = new_axes(6.5, 0.9 + 0.3 * len(methods), len(FIGURE_STATISTICS))
    for plot, (statistic, label) in zip(axes, FIGURE_STATISTICS.items(), strict=True):
        for row, method in enumerate(methods):
            at = aggregate.statistics[method][statistic]
            plot.errorbar([at.value], [row], xerr=error_bars(at), **{**marker_style(styles[method]), "capsize": 3})
        plot.set_xlabel(label)
    axes[0].set_yticks(range(len(methods)), methods)
    axes[0].set_ylim(len(methods) - 0.5, -0.5)
    return figure


def _plot_profiles(aggregate: Aggregate, styles: Mapping[str, int]) -> Any:
    figure, axes = new_axes(4.5, 3)
    for method, profile in aggregate.profiles.items():
        style = styles[method]
        axes.plot(profile.thresholds, profile.share, label=method, **line_style(style))
        color = style_color(style)
        axes.fill_between(profile.thresholds, profile.low, profile.high, color=color, alpha=0.15, linewidth=0)
    axes.set_xlabel("HV ratio t")
    axes.set_ylabel("share of scores above t")
    axes.legend()
    return figure


def _plot_front(panel: Panel) -> Any:
    """Plot median attainment in a band from worst to best (2 objectives), or parallel coordinates of the first seed."""
    figure, axes = new_axes(4.5, 3)
    _plot_reference(panel, axes)
    draw = _plot_attainment if len(panel.game.objectives) == 2 else _plot_parallel
    for method in panel.points:
        draw(panel, method, panel.styles[method], axes)
    legend_above(axes, len(axes.get_legend_handles_labels()[0]))
    return figure


def _plot_reference(panel: Panel, axes: Any) -> None:
    """Plot the reference front in thin gray: in 2 objectives if all seeds have the same one, else that of the first seed."""
    first, *others = (panel.references[seed] for seed in sorted(panel.references))
    style = {"color": REFERENCE_COLOR, "linewidth": 0.8}
    if len(panel.game.objectives) == 2:
        if all(np.array_equal(first.values, other.values) for other in others):
            axes.plot(*_stair_corners(first.values, first.ref).T, label=reference_name(first), **style)
        return
    shares = first.normalize(first.values)[:MAX_VECTOR_LINES]
    axes.plot(range(len(panel.game.objectives)), shares.T, label=[reference_name(first)] + [None] * (len(shares) - 1), **style)


def _plot_attainment(panel: Panel, method: str, style: int, axes: Any) -> None:
    runs = panel.points[method]
    low = np.min([reference.ref for reference in panel.references.values()], axis=0)
    bounds = attainment_surfaces([runs[seed].values for seed in sorted(runs)])
    axes.plot(*_stair_corners(bounds.median, low).T, label=method, **line_style(style))
    band = np.concatenate([_stair_corners(bounds.worst, low), _stair_corners(bounds.best, low)[::-1]])
    axes.fill(*band.T, color=style_color(style), alpha=0.13, linewidth=0)
    for name, objective in zip("xy", panel.game.objectives, strict=True):
        axes.set(**{f"{name}label": f"{objective.name} ({objective.unit})"})


def _stair_corners(values: Array, low: Array) -> Array:
    """Return the corners of a surface's stairs, float[n, 2]: first down, then to the right."""
    steps = stairs(values, low)
    points = np.column_stack([steps["x"], steps["y"]])
    between = np.column_stack([points[:-1, 0], points[1:, 1]])
    return np.concatenate([points[:1], np.stack([between, points[1:]], axis=1).reshape(-1, 2)])


def _plot_parallel(panel: Panel, method: str, style: int, axes: Any) -> None:
    seed = min(panel.references)
    points = panel.points[method].get(seed)
    if points is None:
        return
    shares = panel.references[seed].normalize(points.values[np.lexsort(points.values.T[::-1])])
    if len(shares) > (most := MAX_LINES // len(panel.points)):  # evenly spread in the order of the first objective
        shares = shares[np.linspace(0, len(shares) - 1, most).round().astype(np.int64)]
    names = [objective.name for objective in panel.game.objectives]
    alpha = float(np.clip(20 / len(shares), 0.15, 0.9))
    options = {**line_style(style), "alpha": alpha, "rasterized": len(shares) > MAX_VECTOR_LINES}
    axes.plot(range(len(names)), shares.T, label=[method] + [None] * (len(shares) - 1), **options)
    axes.set_xticks(range(len(names)), names, rotation=30 if len(names) > 4 else 0)
    axes.set_ylabel(f"normalized return (seed {seed})")
