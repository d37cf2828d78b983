"""Progress of a suite, by experiment and method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from momagames.benchmark.choices import label_methods
from momagames.benchmark.runs import Run
from momagames.benchmark.store.costs import Cost, Timings
from momagames.benchmark.store.store import RESULTS, Store
from momagames.benchmark.suites import Suite
from momagames.files.reading import refuse_content


@dataclass(frozen=True)
class MethodProgress:
    """The runs of one method in one experiment.

    pending      neither finished nor failed
    seconds      of finished and failed runs, on all machines
    remaining    estimated cost of failed and pending runs
    """

    experiment: str
    method: str
    finished: int
    failed: int
    pending: int
    seconds: float
    remaining: Cost


@dataclass(frozen=True)
class Status:
    """Progress of the suite that was started last in a results directory.

    errors     the failed runs, each with the first line of its error
    running    number of runs in progress, or in progress at an interruption
    """

    suite: Suite
    version: str
    lines: Sequence[MethodProgress]
    errors: Sequence[tuple[Run, str]]
    running: int


def read_status(folder: str | Path) -> Status:
    """Return the progress of the suite in a results directory. Raises InvalidFile."""
    store = Store(folder)
    suite, versions = store.read_suite(), store.read_versions()
    timings = Timings([store])
    lines: list[MethodProgress] = []
    errors: dict[str, tuple[Run, str]] = {}
    for experiment in suite.experiments:
        names = label_methods(experiment.methods)
        by_method: dict[str, list[Run]] = {name: [] for name in names.values()}
        for run in experiment.list_runs(versions):
            by_method[names[run.method.key]].append(run)
        for name, runs in by_method.items():
            finished = [run for run in runs if store.has_run(run)]
            failed = {run.digest: (run, error) for run in runs if (error := store.read_error(run)) is not None}
            errors |= failed
            left = [run for run in runs if not store.has_run(run)]
            with refuse_content(store.folder, RESULTS):
                used = sum(float(store.read_metadata(run)["wall_s"]) for run in finished)
            used += sum(store.failed_seconds(run) for run, _ in failed.values())
            due = len(left) - len(failed)
            lines.append(MethodProgress(experiment.name, name, len(finished), len(failed), due, used, timings.estimate(left)))
    first = [(run, error.partition("\n")[0]) for run, error in errors.values()]
    running = sum(1 for _ in store.working.iterdir()) if store.working.is_dir() else 0
    return Status(suite, versions.version, lines, first, running)
