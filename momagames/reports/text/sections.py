"""The sections of a report as tables, in their order: one walk for the terminal and for LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from momagames.benchmark.plan import Indicators
from momagames.reports.data.aggregate import Aggregate
from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.data.panels import Panel
from momagames.reports.data.report_data import ReportData

Table = TypeVar("Table")


@dataclass(frozen=True)
class TableMaker(Generic[Table]):
    """Functions that return the tables of a section in some format.

    overview     of the report
    panel        scores of a panel, given its number in the report, from 1
    users        utilities of users and fairness over agents of a panel, given its number
    crossplay    head-to-head results, given their number in the report, from 1
    aggregate    comparison over all games
    """

    overview: Callable[[ReportData], Iterable[Table]]
    panel: Callable[[Panel, int], Iterable[Table]]
    users: Callable[[Panel, int, Indicators], Iterable[Table]]
    crossplay: Callable[[CrossPlay, int], Iterable[Table]]
    aggregate: Callable[[Aggregate], Iterable[Table]]


def make_tables(data: ReportData, maker: TableMaker[Table], every: bool = False) -> Iterator[Table]:
    """Yield the tables of the overview, the primary panels, and the aggregate over all games.

    every    add the other panels, the ESR and SER utilities, the fairness over agents, and the head-to-head results
    """
    if data.overview:
        yield from maker.overview(data)
    for number, panel in enumerate(data.panels, 1):
        if every or panel.primary:
            yield from maker.panel(panel, number)
        if every and panel.primary:
            yield from maker.users(panel, number, data.settings)
    for number, crossplay in enumerate(data.crossplay if every else (), 1):
        yield from maker.crossplay(crossplay, number)
    if data.aggregate:
        yield from maker.aggregate(data.aggregate)
