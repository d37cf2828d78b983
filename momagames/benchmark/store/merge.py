"""One folder of results out of several, such as the shards of a suite that machines without a common disk ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from momagames.benchmark.plan import Run
from momagames.benchmark.store.store import Store, files, read_run
from momagames.errors import InvalidFile, InvalidParameter


@dataclass(frozen=True)
class Merged:
    """What went into a folder: runs taken over, runs that were there already, and failed ones that nobody has finished."""

    taken: int
    equal: int
    failed: int


def merge(folders: Sequence[str | Path], out: str | Path) -> Merged:
    """Take the runs of all folders over into `out`, which may hold some already; the folders stay as they are.

    Raises     InvalidFile if they are of different suites or versions, or if two of them have different rows for one run
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
    taken = equal = 0
    for store in stores:
        for run in store.sealed():
            if into.has(run):
                _compare(store, into, run)
                equal += 1
            else:
                into.accept(run, files(store.place(run)))
                taken += 1
    failed = {run.digest: place for store in stores for place in _failures(store) if not into.has(run := read_run(place))}
    for place in failed.values():
        into.accept(read_run(place), files(place))
    return Merged(taken, equal, len(failed))


def _failures(store: Store) -> list[Path]:
    return sorted(store.failed.iterdir()) if store.failed.is_dir() else []


def _compare(store: Store, into: Store, run: Run) -> None:
    one, other = store.place(run), into.place(run)
    if list(store.rows(run)) != list(into.rows(run)):
        raise InvalidFile(
            f"{one} and {other} have different rows, though they are results of one run: something is not reproducible"
        )
