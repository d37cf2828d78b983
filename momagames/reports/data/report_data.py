"""All data of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from momagames.benchmark.store.store import Store
from momagames.benchmark.suites import Indicators, Suite
from momagames.errors import InvalidParameter
from momagames.reports.data.aggregate import MIN_GAMES, Aggregate, aggregate
from momagames.reports.data.crossplay import CrossPlay, compute_crossplay
from momagames.reports.data.overview import OverviewRow, build_overview
from momagames.reports.data.panels import Panel, build_panels


@dataclass(frozen=True)
class ReportData:
    """The comparisons of a report.

    overview     a row for each primary panel
    styles       number of the color and symbol of each method, and of each role
    min_games    fewest games of `aggregate`
    """

    settings: Indicators
    panels: Sequence[Panel]
    overview: Sequence[OverviewRow]
    styles: Mapping[str, int]
    min_games: int = field(default=MIN_GAMES, kw_only=True)

    @property
    def primary(self) -> list[Panel]:
        return [panel for panel in self.panels if panel.primary]

    @cached_property
    def aggregate(self) -> Aggregate | None:
        """The comparison over all games; None if there are too few, or no seed of all methods in them yet."""
        with suppress(InvalidParameter):
            return aggregate(self.primary, self.settings.confidence, self.settings.resamples, self.min_games)
        return None

    @cached_property
    def crossplay(self) -> Sequence[CrossPlay]:
        """The head-to-head results of each game with opponents."""
        return [crossplay for panel in self.primary if (crossplay := compute_crossplay(panel, self.settings))]


def collect_report_data(
    store: Store, suite: Suite, progress: Callable[[str], None] | None = None, primary_only: bool = False
) -> ReportData:
    """Compare the finished runs of a suite.

    progress        called with the current step
    primary_only    leave out the panels of single opponents and seats
    """
    settings = suite.indicators
    panels = build_panels(store, suite, progress, primary_only)
    return ReportData(settings, panels, build_overview(panels, settings), _number_styles(panels))


def _number_styles(panels: Sequence[Panel]) -> dict[str, int]:
    """Return the numbers of all methods; a role has that of the first method with it."""
    styles: dict[str, int] = {}
    for panel in panels:
        styles |= panel.styles
    roles = {role: styles[method] for panel in reversed(panels) for role, method in panel.by_role.items()}
    return {**roles, **styles}
