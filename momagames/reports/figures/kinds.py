"""Kinds of figures by name: each is on the page of a report, in the figures for papers, and on the pages of the documentation.

`register_figure` adds a kind of your own.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from momagames.errors import InvalidParameter
from momagames.reports.data.report_data import ReportData
from momagames.reports.figures import comparisons, fronts
from momagames.reports.figures.drawing import Drawing
from momagames.reports.text import captions

Subject = Any  # of a figure, as `FigureKind.scope` says


@dataclass(frozen=True)
class FigureKind:
    """A kind of figures.

    name         of files
    title        for people
    scope        what a figure is of: the `ReportData`, its `Aggregate`, a `Panel`, or a `CrossPlay`
    make         a figure, from the report and what it is of
    applies      whether there is a figure of it
    describe     the caption on the page
    in_papers    also among the figures for papers, and on the pages of the documentation
    """

    name: str
    title: str
    scope: Literal["report", "aggregate", "panel", "crossplay"]
    make: Callable[[ReportData, Subject], Drawing]
    applies: Callable[[Subject], bool] = lambda _: True
    describe: Callable[[ReportData, Subject], str] = lambda *_: ""
    in_papers: bool = True

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
        make=lambda data, _: comparisons.draw_overview(data.overview, data.styles),
        applies=lambda data: bool(data.overview),
    ),
    FigureKind(
        "overall",
        "Interquartile means and optimality gaps",
        "aggregate",
        make=lambda data, aggregate: comparisons.draw_statistics(aggregate, data.styles),
        describe=lambda data, aggregate: f"{captions.aggregate_caption(aggregate)}.",
    ),
    FigureKind(
        "profiles",
        "Performance profiles",
        "aggregate",
        make=lambda data, aggregate: comparisons.draw_profiles(aggregate, data.styles),
        describe=lambda *_: captions.PROFILES_CAPTION,
    ),
    FigureKind(
        "front",
        "Fronts",
        "panel",
        make=lambda _, panel: fronts.draw_fronts(panel),
        applies=lambda panel: len(panel.game.objectives) > 1,
    ),
    FigureKind(
        "best",
        "Best values",
        "panel",
        make=lambda _, panel: fronts.draw_best(panel),
        applies=lambda panel: len(panel.game.objectives) == 1,
        in_papers=False,
    ),
    FigureKind(
        "generalization",
        "Generalization",
        "panel",
        make=lambda _, panel: comparisons.draw_generalization(panel.generalization, panel.styles),
        applies=lambda panel: bool(panel.generalization),
        describe=lambda *_: captions.GENERALIZATION_CAPTION,
    ),
    FigureKind(
        "pairs",
        "Pairs of objectives",
        "panel",
        make=lambda _, panel: fronts.draw_pairs(panel),
        applies=fronts.has_pairs,
        describe=lambda *_: captions.OBJECTIVE_PAIRS_CAPTION,
        in_papers=False,
    ),
    FigureKind(
        "anytime",
        "Anytime performance",
        "panel",
        make=lambda data, panel: comparisons.draw_anytime(panel, data.settings),
        applies=lambda panel: bool(panel.search_history),
        describe=lambda data, panel: captions.anytime_caption(panel, data.settings),
    ),
    FigureKind(
        "crossplay",
        "Head-to-head results",
        "crossplay",
        make=lambda _, crossplay: comparisons.draw_crossplay(crossplay),
        describe=lambda _, crossplay: captions.crossplay_caption(crossplay),
    ),
    FigureKind(
        "head_to_head",
        "Ratings and wins",
        "crossplay",
        make=lambda data, crossplay: comparisons.draw_head_to_head(crossplay.head_to_head, data.styles),
        applies=lambda crossplay: crossplay.head_to_head is not None,
        describe=lambda *_: captions.HEAD_TO_HEAD_CAPTION,
    ),
)
FIGURE_KINDS = {kind.name: kind for kind in _KINDS}
