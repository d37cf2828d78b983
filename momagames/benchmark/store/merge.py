"""Merging of results directories, such as the shards of a suite from machines without a shared disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momagames.benchmark.runs import Run
from momagames.benchmark.store.checksums import read_checksums
from momagames.benchmark.store.store import ROWS, Store, read_rows, read_run, read_run_files, verify_run
from momagames.benchmark.store.thinning import read_thinned
from momagames.errors import InvalidFile, InvalidParameter


@dataclass(frozen=True)
class MergeCounts:
    """Numbers of copied runs, runs that were already there, and failed runs without a finished one."""

    copied: int
    equal: int
    failed: int


def merge_results(
    folders: Sequence[str | Path], out: str | Path, on_run: Callable[[str], None] = lambda name: None
) -> MergeCounts:
    """Copy the runs of all results directories into `out`, which may already hold runs; the sources stay unchanged.

    on_run     called with the name of each merged run
    Raises     InvalidFile if suites or revisions of methods differ, or if two directories have different rows of one run,
               such as whole ones and those that an archive has thinned
    """
    stores = [Store(folder) for folder in folders]
    if not stores:
        raise InvalidParameter("merge needs at least one folder")
    into = Store(out)
    first, *others = (*stores, *([into] if into.has_suite() else []))
    suite, versions = first.read_suite(), first.read_versions()
    for store in others:
        if store.read_versions().revisions != versions.revisions:
            raise InvalidFile(
                f"{store.folder}: results of momagames {store.read_versions()}; those of {first.folder} are of {versions}: "
                "`momagames bench compare` sets them side by side"
            )
        if store.read_suite() != suite:
            raise InvalidFile(
                f"{store.folder}: another suite ({store.read_suite().name!r}) than in {first.folder} ({suite.name!r})"
            )
    into.open_suite(suite, versions.revisions)
    copied = equal = 0
    for store in stores:
        for run in store.finished_runs():
            place = store.run_directory(run)
            verify_run(place)
            if into.has_run(run):
                _check_equal_rows(place, into.run_directory(run))
                equal += 1
            else:
                into.import_run(run, read_run_files(place))
                copied += 1
            on_run(place.name)
    failed = {run.digest: (run, place) for store in stores for run, place in _list_failed(store) if not into.has_run(run)}
    for run, place in failed.values():
        into.import_run(run, read_run_files(place))
    return MergeCounts(copied, equal, len(failed))


def _list_failed(store: Store) -> Iterator[tuple[Run, Path]]:
    """Yield the failed runs, except damaged ones of which one cannot say which run they were."""
    for place in sorted(store.failed.iterdir()) if store.failed.is_dir() else ():
        with suppress(InvalidFile):
            yield read_run(place), place


def _check_equal_rows(place: Path, other: Path) -> None:
    """Raise InvalidFile unless two directories have the same rows of a run, whichever version made them."""
    if read_checksums(place)[ROWS] != read_checksums(other)[ROWS] and _read_results(place) != _read_results(other):
        if read_thinned(place) != read_thinned(other):  # their rows differ
            raise InvalidFile(
                f"{place} and {other} are results of one run, one of them from an archive that leaves out parts of it: "
                "merge whole results, or restored ones"
            )
        raise InvalidFile(
            f"{place} and {other} have different rows, though they are results of one run: something is not reproducible"
        )


def _read_results(place: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "version"} for row in read_rows(place)]
