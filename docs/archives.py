"""Archived results directories, as the pages of docs/results read them (see make_results.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from momagames.benchmark.plan import Suite
from momagames.benchmark.store.archive_file import ArchivedStore
from momagames.benchmark.store.store import Store
from momagames.reports.data.report_data import ReportData, collect_report_data
from momagames.reports.data.run_facts import collect_run_facts


@dataclass(frozen=True)
class Archive:
    """An archived results directory with its comparisons.

    data     of all opponents and seats together
    facts    versions, machines, times, seeds and budgets: name and value
    """

    store: Store
    suite: Suite
    data: ReportData
    facts: Sequence[tuple[str, str]]

    def describe_changed_methods(self) -> Iterator[str]:
        """Yield a note on methods that have changed since."""
        if changed := self.store.describe_changed_methods(self.suite):
            yield from (
                "```{note}",
                f"This version does not reproduce the rows of methods that have changed: {changed}.",
                "```",
                "",
            )


def read_archive(file: Path) -> Archive:
    store = ArchivedStore(file)
    suite = store.read_suite()
    return Archive(store, suite, collect_report_data(store, suite, primary_only=True), collect_run_facts(store, suite))
