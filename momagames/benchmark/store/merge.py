"""Merging of results directories, such as the shards of a suite from machines without a shared disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from momagames.benchmark.plan import Run
from momagames.benchmark.store.store import Store, files, read_run
from momagames.errors import InvalidFile, InvalidParameter


@dataclass(frozen=True)
class Merged:
    """Numbers of copied runs, runs that were already there, and failed runs without a finished one."""

    copied: int
    equal: int
    failed: int


def merge(folders: Sequence[str | Path], out: str | Path) -> Merged:
    """Copy the runs of all results directories into `out`, which may already hold runs; the sources stay unchanged.

    Raises     InvalidFile if suites or versions differ, or if two directories have different rows of one run
    """
    stores = [Store(folder) for folder in folders]
    if not stores:
        raise InvalidParameter("merge needs at least one folder")
    into = Store(out)
    every = [*stores, *([into] if into.has_suite() else [])]
    suite, version = every[0].suite(), every[0].version()
    for store in every[1:]:
        if store.version() != version:
            raise InvalidFile(
                f"{store.folder}: results of momagames {store.version()}; those of {every[0].folder} are of {version}: "
                "`momagames bench compare` sets them side by side"
            )
        if store.suite() != suite:
            raise InvalidFile(
                f"{store.folder}: another suite ({store.suite().name!r}) than in {every[0].folder} ({suite.name!r})"
            )
    into.open(suite)
    copied = equal = 0
    for store in stores:
        for run in store.sealed():
            if into.has(run):
                _compare(store, into, run)
                equal += 1
            else:
                into.accept(run, files(store.place(run)))
                copied += 1
    failed = {run.digest: place for store in stores for place in _failures(store) if not into.has(run := read_run(place))}
    for place in failed.values():
        into.accept(read_run(place), files(place))
    return Merged(copied, equal, len(failed))


def _failures(store: Store) -> list[Path]:
    return sorted(store.failed.iterdir()) if store.failed.is_dir() else []


def _compare(store: Store, into: Store, run: Run) -> None:
    one, other = store.place(run), into.place(run)
    if list(store.rows(run)) != list(into.rows(run)):
        raise InvalidFile(
            f"{one} and {other} have different rows, though they are results of one run: something is not reproducible"
        )
