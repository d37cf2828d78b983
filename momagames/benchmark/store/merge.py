"""Merging of results directories, such as the shards of a suite from machines without a shared disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from momagames.benchmark.plan import Run
from momagames.benchmark.store.store import Store, read_run, read_run_files
from momagames.errors import InvalidFile, InvalidParameter


@dataclass(frozen=True)
class MergeCounts:
    """Numbers of copied runs, runs that were already there, and failed runs without a finished one."""

    copied: int
    equal: int
    failed: int


def merge_results(folders: Sequence[str | Path], out: str | Path) -> MergeCounts:
    """Copy the runs of all results directories into `out`, which may already hold runs; the sources stay unchanged.

    Raises     InvalidFile if suites or versions differ, or if two directories have different rows of one run
    """
    stores = [Store(folder) for folder in folders]
    if not stores:
        raise InvalidParameter("merge needs at least one folder")
    into = Store(out)
    every = [*stores, *([into] if into.has_suite() else [])]
    suite, version = every[0].read_suite(), every[0].read_version()
    for store in every[1:]:
        if store.read_version() != version:
            raise InvalidFile(
                f"{store.folder}: results of momagames {store.read_version()}; those of {every[0].folder} are of {version}: "
                "`momagames bench compare` sets them side by side"
            )
        if store.read_suite() != suite:
            raise InvalidFile(
                f"{store.folder}: another suite ({store.read_suite().name!r}) than in {every[0].folder} ({suite.name!r})"
            )
    into.open_suite(suite)
    copied = equal = 0
    for store in stores:
        for run in store.finished_runs():
            if into.has_run(run):
                _check_equal_rows(store, into, run)
                equal += 1
            else:
                into.import_run(run, read_run_files(store.run_directory(run)))
                copied += 1
    failed = {
        run.digest: place for store in stores for place in _list_failed(store) if not into.has_run(run := read_run(place))
    }
    for place in failed.values():
        into.import_run(read_run(place), read_run_files(place))
    return MergeCounts(copied, equal, len(failed))


def _list_failed(store: Store) -> list[Path]:
    return sorted(store.failed.iterdir()) if store.failed.is_dir() else []


def _check_equal_rows(store: Store, into: Store, run: Run) -> None:
    one, other = store.run_directory(run), into.run_directory(run)
    if list(store.read_rows(run)) != list(into.read_rows(run)):
        raise InvalidFile(
            f"{one} and {other} have different rows, though they are results of one run: something is not reproducible"
        )
