"""Archived results directories, as the pages of docs/results read them (see make_results.py)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from momagames.benchmark.plan import Suite
from momagames.benchmark.store.archive_file import unpack_archive
from momagames.benchmark.store.store import Store
from momagames.reports.data.report_data import ReportData, collect_report_data
from momagames.reports.data.run_facts import collect_run_facts


@dataclass(frozen=True)
class Archive:
    """A restored results directory with its comparisons.

    data     of all opponents and seats together
    facts    versions, machines, times, seeds and budgets: name and value
    """

    store: Store
    suite: Suite
    data: ReportData
    facts: Sequence[tuple[str, str]]


@contextmanager
def open_archive(file: Path) -> Iterator[Archive]:
    """Restore an archive in a temporary directory, which is removed in the end."""
    with tempfile.TemporaryDirectory() as folder:
        unpack_archive(file, folder)
        store = Store(folder)
        suite = store.read_suite()
        yield Archive(store, suite, collect_report_data(store, suite, primary_only=True), collect_run_facts(store, suite))
