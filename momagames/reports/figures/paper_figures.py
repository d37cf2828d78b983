"""Figures for papers: SVG and PNG files by matplotlib, with the numbers of the HTML page."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from momagames.errors import InvalidParameter, MissingExtra, invalid_value, nearest, one_of
from momagames.files.writing import atomic_path, make_folder
from momagames.reports.data.report_data import ReportData
from momagames.reports.figures.drawing import Drawing
from momagames.reports.figures.fronts import select_objectives
from momagames.reports.figures.kinds import FIGURE_KINDS
from momagames.reports.figures.matplotlib_figures import draw_with_matplotlib
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
SAVE_OPTIONS: dict[str, dict[str, Any]] = {"svg": {"metadata": {"Date": None}, "dpi": 150}, "png": {"dpi": 300}}


class Figure(NamedTuple):
    """A figure of a report. Figures over all games have no title."""

    kind: str
    title: str
    make: Callable[[], Drawing]


def write_figures(
    data: ReportData, folder: str | Path, forms: Sequence[str] = ("svg", "png"), objectives: Sequence[str] = ()
) -> list[Path]:
    """Write the figures of a report: the kinds of `figures.kinds` for papers.

    The files of the whole report have the name of the kind, such as `overview`; those of primary panels, and of games with
    opponents, are `KIND-N-TITLE`, where N counts each kind from 1.

    forms         "svg", and "png" (300 dpi)
    objectives    two or more that figures of fronts are of, in comparisons that have them; empty: all of each comparison
    Returns       the paths of the files
    Raises        MissingExtra without matplotlib (extra `figures`); InvalidParameter for objectives that no comparison has
    """
    return save_figures(list_figures(data, objectives=objectives), folder, forms)


def check_matplotlib() -> None:
    """Raise MissingExtra without matplotlib (extra `figures`)."""
    try:
        import matplotlib  # noqa: F401 - whether it can be
    except ImportError:
        raise MissingExtra('figures need matplotlib: pip install "momagames[figures]"') from None


def save_figures(figures: Mapping[str, Figure], folder: str | Path, forms: Sequence[str]) -> list[Path]:
    """Draw figures of `list_figures` and write their files (see `write_figures`)."""
    check_matplotlib()
    import matplotlib as mpl
    from matplotlib.text import Text

    place = Path(folder)
    make_folder(place)
    written = []
    with mpl.rc_context(RC_PARAMS):
        for name, figure in figures.items():
            drawn = draw_with_matplotlib(figure.make())
            for text in drawn.findobj(Text):
                if (visible := show_controls(text.get_text())) != text.get_text():
                    text.set_text(visible)
            for form in forms:
                written.append(place / f"{name}.{form}")
                with atomic_path(written[-1]) as temporary:
                    drawn.savefig(temporary, bbox_inches="tight", **SAVE_OPTIONS[form])
    return written


def list_figures(data: ReportData, kinds: Container[str] | None = None, objectives: Sequence[str] = ()) -> dict[str, Figure]:
    """Return file name without its extension -> figure of these kinds, or of all, in the order of `figures.kinds`.

    Raises InvalidParameter for objectives that no comparison has
    """
    selected = take_objectives(data, objectives) if objectives else data
    figures = {}
    for kind in FIGURE_KINDS.values():
        if kind.in_papers if kinds is None else kind.name in kinds:
            source = selected if kind.is_front else data  # scores and games between methods have all objectives
            for number, (title, subject) in enumerate(kind.list_subjects(source), 1):
                name = f"{kind.name}-{number}-{_slug(title)}" if title else kind.name
                figures[name] = Figure(kind.name, title, partial(kind.make, source, subject))
    return figures


def take_objectives(data: ReportData, names: Sequence[str]) -> ReportData:
    """Return the report with panels of these objectives alone where they have them."""
    known = list(dict.fromkeys(one.name for panel in data.primary for one in panel.game.objectives))
    for name in names:
        if name not in known:
            raise InvalidParameter(invalid_value("objective", name, one_of(known), nearest(name, known)))
    selected = [select_objectives(panel, names) for panel in data.panels]
    if len(set(names)) < max(2, len(names)) or not any(selected):
        raise InvalidParameter(invalid_value("objectives", list(names), "two or more of one comparison"))
    return replace(data, panels=[new or old for new, old in zip(selected, data.panels, strict=True)])


def _slug(title: str) -> str:
    """Return a title as part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].rstrip("-")
