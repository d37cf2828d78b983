"""Archived results directories, as the sections of pages read them (see result_pages.py)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from momagames.benchmark.choices import label_methods
from momagames.benchmark.runs import Run
from momagames.benchmark.store.archive_file import ArchivedStore
from momagames.benchmark.store.store import Store
from momagames.benchmark.suites import Experiment, Suite
from momagames.reports.data.panels import Panel, name_setting
from momagames.reports.data.report_data import ReportData, collect_report_data
from momagames.reports.data.run_facts import collect_run_facts
from momagames.reports.figures.comparisons import draw_head_to_head
from momagames.reports.figures.paper_figures import Figure, list_figures

GAMES = "games"  # kind of the figure of a setting in which methods meet each other


@dataclass(frozen=True)
class Archive:
    """An archived results directory with its comparisons, or some of its settings.

    name       of its suite
    data       of all opponents and seats together
    facts      versions, machines, times, seeds and budgets: name and value
    figures    file name without extension -> figure
    missing    settings without a finished run: name of the experiment, and heading
    heading    of the only setting; "" if there are more
    """

    name: str
    store: Store
    suite: Suite
    data: ReportData
    facts: Sequence[tuple[str, str]]
    figures: Mapping[str, Figure]
    missing: Sequence[tuple[str, str]] = ()
    heading: str = ""

    @property
    def panels(self) -> Sequence[Panel]:
        return self.data.panels

    @property
    def panel(self) -> Panel:
        """The only setting."""
        (panel,) = self.data.panels
        return panel

    @property
    def experiment(self) -> Experiment:
        """The experiment of the only setting."""
        return next(one for one in self.suite.experiments if one.name == self.panel.experiment)

    def read_facts(self) -> dict[str, list[tuple[Run, Mapping[str, Any]]]]:
        """Return the finished runs of the only setting by method, each with what was measured in it."""
        names, found = label_methods(self.experiment.methods), dict[str, list[tuple[Run, Mapping[str, Any]]]]()
        for run in self.experiment.list_runs(self.store.read_versions()):
            if run.canonical == self.panel.canonical and self.store.has_run(run):
                found.setdefault(names[run.method.key], []).append((run, self.store.read_metadata(run)["facts"]))
        return found

    def find_figure(self, kind: str) -> str | None:
        """Return the name of the figure of this kind, of the only setting or of all."""
        return next((name for name, one in self.figures.items() if (one.kind, one.title) == (kind, self.heading)), None)

    def select(self, panels: Sequence[Panel]) -> Archive:
        """Return the archive with some of its settings."""
        headings = {panel.full_heading for panel in panels}
        rows = [row for row in self.data.overview if row.title in headings]
        return replace(self, data=replace(self.data, panels=panels, overview=rows))

    def select_setting(self, panel: Panel) -> Archive:
        return replace(self.select([panel]), heading=panel.full_heading)


def read_archive(name: str, file: Path, kinds: Collection[str], prefix: str = "") -> Archive:
    """Return an archive with figures of these kinds; its comparison over games is that of the methods in all settings.

    prefix    of the names of the figures
    """
    store = ArchivedStore(file)
    suite = store.read_suite()
    data = collect_report_data(store, suite, primary_only=True)
    data = replace(data, min_games=len(data.panels))
    figures = list_figures(data, kinds)
    if GAMES in kinds:
        figures |= {
            str(number): Figure(GAMES, one.title, partial(draw_head_to_head, one.head_to_head, data.styles))
            for number, one in enumerate(data.crossplay, 1)
            if one.head_to_head
        }
    named = {f"{prefix}{key}": figure for key, figure in figures.items()}
    return Archive(name, store, suite, data, collect_run_facts(store, suite), named, list_missing(suite, data.panels))


def list_missing(suite: Suite, panels: Sequence[Panel]) -> list[tuple[str, str]]:
    """Return the settings of a suite that have no panel: name of the experiment, and heading."""
    found = {(panel.experiment, panel.full_heading) for panel in panels}
    games = [(one.name, choice.make_game()) for one in suite.experiments for choice in one.games]
    listed = [(name, f"{game.title} {name_setting(game, name)}") for name, game in games]
    return [setting for setting in listed if setting not in found]
