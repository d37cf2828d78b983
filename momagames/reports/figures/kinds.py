"""Kinds of figures by name: each is on the page of a report, in the figures for papers, and on the pages of the documentation.

`register_figure` adds a kind of your own.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from momagames.errors import InvalidParameter
from momagames.reports.data.report_data import ReportData
from momagames.reports.figures.comparisons import (
    draw_anytime,
    draw_crossplay,
    draw_generalization,
    draw_head_to_head,
    draw_overview,
    draw_profiles,
    draw_statistics,
)
from momagames.reports.figures.drawing import Drawing
from momagames.reports.figures.fronts import draw_best, draw_fronts, draw_pairs, has_pairs

Subject = Any  # of a figure, as `FigureKind.scope` says


@dataclass(frozen=True)
class FigureKind:
    """A kind of figures.

    name         of files
    title        for people
    scope        what a figure is of: the `ReportData`, its `Aggregate`, a `Panel`, or a `CrossPlay`
    make         a figure, from the report and what it is of
    applies      whether there is a figure of it
    in_papers    also among the figures for papers, and on the pages of the documentation
    is_front     whether its axes are objectives, so that it can be of some of them
    """

    name: str
    title: str
    scope: Literal["report", "aggregate", "panel", "crossplay"]
    make: Callable[[ReportData, Subject], Drawing]
    applies: Callable[[Subject], bool] = lambda _: True
    in_papers: bool = True
    is_front: bool = False

    def list_subjects(self, data: ReportData) -> Iterator[tuple[str, Subject]]:
        """Yield title and subject of each figure in a paper; those of the whole report have no title."""
        subjects: Iterable[tuple[str, Subject]]
        if self.scope == "panel":
            subjects = ((panel.full_heading, panel) for panel in data.primary)
        elif self.scope == "crossplay":
            subjects = ((crossplay.title, crossplay) for crossplay in data.crossplay)
        else:
            subjects = [("", subject)] if (subject := data if self.scope == "report" else data.aggregate) else []
        return ((title, subject) for title, subject in subjects if self.applies(subject))


def register_figure(kind: FigureKind) -> None:
    """Add a kind of figures for all reports of this process. Raises InvalidParameter if its name is taken."""
    if kind.name in FIGURE_KINDS:
        raise InvalidParameter(f"invalid name={kind.name!r} of a figure: expected another one than {', '.join(FIGURE_KINDS)}")
    FIGURE_KINDS[kind.name] = kind


def list_kinds(scope: str, but: Container[str] = ()) -> list[FigureKind]:
    """Return the kinds of figures of some scope, but for those of these names."""
    return [kind for kind in FIGURE_KINDS.values() if kind.scope == scope and kind.name not in but]


_KINDS = (
    FigureKind(
        "overview",
        "Overview",
        "report",
        lambda data, _: draw_overview(data.overview, data.styles),
        lambda data: bool(data.overview),
    ),
    FigureKind("overall", "Statistics", "aggregate", lambda data, aggregate: draw_statistics(aggregate, data.styles)),
    FigureKind("profiles", "Performance profiles", "aggregate", lambda data, aggregate: draw_profiles(aggregate, data.styles)),
    FigureKind(
        "front",
        "Fronts",
        "panel",
        lambda _, panel: draw_fronts(panel),
        lambda panel: len(panel.game.objectives) > 1,
        is_front=True,
    ),
    FigureKind(
        "best", "Best values", "panel", lambda _, panel: draw_best(panel), lambda panel: len(panel.game.objectives) == 1, False
    ),
    FigureKind(
        "generalization",
        "Generalization",
        "panel",
        lambda _, panel: draw_generalization(panel),
        lambda panel: bool(panel.generalization),
    ),
    FigureKind("pairs", "Pairs of objectives", "panel", lambda _, panel: draw_pairs(panel), has_pairs, is_front=True),
    FigureKind(
        "anytime",
        "Anytime performance",
        "panel",
        lambda data, panel: draw_anytime(panel, data.settings),
        lambda panel: bool(panel.search_history),
    ),
    FigureKind("crossplay", "Head-to-head results", "crossplay", lambda _, crossplay: draw_crossplay(crossplay)),
    FigureKind(
        "head_to_head",
        "Ratings and wins",
        "crossplay",
        lambda data, one: draw_head_to_head(one.head_to_head, data.styles),
        lambda one: one.head_to_head is not None,
    ),
)
FIGURE_KINDS = {kind.name: kind for kind in _KINDS}
