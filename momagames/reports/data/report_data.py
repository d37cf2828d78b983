"""All data of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from momagames.benchmark.plan import Indicators, Suite
from momagames.benchmark.store.store import Store
from momagames.reports.data.aggregate import Aggregate, aggregate, select_comparable
from momagames.reports.data.crossplay import CrossPlay, compute_crossplay
from momagames.reports.data.overview import OverviewRow, build_overview
from momagames.reports.data.panels import Panel, build_panels


@dataclass(frozen=True)
class ReportData:
    """The comparisons of a report.

    aggregate    over all games; None if there are too few
    overview     a row for each primary panel
    crossplay    the head-to-head results of each game with opponents
    styles       number of the color and symbol of each method, and of each role
    """

    settings: Indicators
    panels: Sequence[Panel]
    aggregate: Aggregate | None
    overview: Sequence[OverviewRow]
    crossplay: Sequence[CrossPlay]
    styles: Mapping[str, int]


def collect_report_data(
    store: Store, suite: Suite, progress: Callable[[str], None] | None = None, primary_only: bool = False
) -> ReportData:
    """Compare the finished runs of a suite.

    progress        called with the current step
    primary_only    leave out the panels of single opponents and seats
    """
    settings = suite.indicators
    panels = build_panels(store, suite, progress, primary_only)
    primary = [panel for panel in panels if panel.primary]
    comparable, _ = select_comparable(primary)
    return ReportData(
        settings=settings,
        panels=panels,
        aggregate=aggregate(primary, settings.confidence, settings.resamples) if comparable else None,
        overview=build_overview(panels, settings),
        crossplay=[crossplay for panel in primary if (crossplay := compute_crossplay(panel, settings))],
        styles=_number_styles(panels),
    )


def _number_styles(panels: Sequence[Panel]) -> dict[str, int]:
    """Return the numbers of all methods; a role has that of the first method with it."""
    styles: dict[str, int] = {}
    for panel in panels:
        styles |= panel.styles
    roles = {role: styles[method] for panel in reversed(panels) for role, method in panel.by_role.items()}
    return {**roles, **styles}
