"""The report on a results directory: tables for the terminal and an HTML page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from rich.console import Group

from momagames import plugins
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidFile
from momagames.files.writing import write_page
from momagames.reports.data.report_data import ReportData, collect_report_data
from momagames.reports.html.page import render_page
from momagames.reports.html.replay_player import add_player
from momagames.reports.summary import summarize, write_summary
from momagames.reports.text.report_tables import list_tables
from momagames.reports.text.table import TERMINAL
from momagames.reports.text.terminal_tables import draw_tables

PAGE = "report.html"


@dataclass(frozen=True)
class Report(ReportData):
    """The result of `report`: the data, the path of the HTML page, and why it could not be written ("" if it was)."""

    page: Path
    page_error: str = ""

    def table(self, every: bool = False) -> Group:
        """Return the tables for a terminal: the overview, the primary panels, and the aggregate over all games.

        every    add the other panels, the ESR and SER utilities, the fairness over agents, and the head-to-head results
        """
        return draw_tables(list_tables(self, TERMINAL, every))


def report(
    folder: str | Path,
    command: str = "",
    replays: bool = True,
    progress: Callable[[str], None] | None = None,
    allow_code: bool = False,
    on_data: Callable[[Report], None] | None = None,
) -> Report:
    """Analyze a results directory and write `report.html` to it, where it can be written (see `Report.page_error`).

    command     the command that produced the results, for the page
    replays     add replays of the policies behind the points to the page
    progress    called with the current step
    allow_code  whether the directory may name Python code, such as methods "module:class", which replays need
    on_data     called with the report before its page is written, which takes longer than the tables
    Raises      InvalidFile if there is nothing to report
    """
    with plugins.allow_code(allow_code):
        return _make_report(folder, command, replays, progress, on_data)


def _make_report(
    folder: str | Path,
    command: str,
    replays: bool,
    progress: Callable[[str], None] | None,
    on_data: Callable[[Report], None] | None,
) -> Report:
    store = Store(folder)
    suite = store.read_suite()
    data = collect_report_data(store, suite, progress)
    errors = [(run, error) for run in suite.list_runs(store.read_versions()) if (error := store.read_error(run))]
    if not data.panels and not errors:
        raise InvalidFile(f"{folder}: no run of {suite.name!r} is finished; continue with `momagames bench run`")
    made = _join(data, store.folder / PAGE)
    if on_data:
        on_data(made)
    page = render_page(store, suite, data, errors, command)
    try:
        write_page(made.page, add_player(page, store, data.panels, progress) if replays else page)
        write_summary(store, summarize(data.panels, data.overview))
    except InvalidFile as error:  # the tables are worth showing all the same
        return _join(data, made.page, str(error))
    return made


def _join(data: ReportData, page: Path, problem: str = "") -> Report:
    made = Report(**{one.name: getattr(data, one.name) for one in fields(data)}, page=page, page_error=problem)
    vars(made).update(vars(data))  # also what has been computed of it
    return made
