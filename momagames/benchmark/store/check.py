"""Check of a results directory against its checksums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from momagames.benchmark.store.checksums import find_changed_files, hash_files, write_checksums
from momagames.benchmark.store.packed_rows import PACKED
from momagames.benchmark.store.store import Store, find_damage


@dataclass(frozen=True)
class Check:
    """Result of a check.

    runs        number of finished runs
    damaged     names of the damaged runs
    problems    a message for each damaged file
    """

    runs: int
    damaged: tuple[str, ...]
    problems: tuple[str, ...]


def check_store(store: Store, discard: bool = False, on_run: Callable[[str], None] = lambda name: None) -> Check:
    """Check every finished run of a results directory.

    discard    move damaged runs to `failed`, so that they are run again
    on_run     called with the name of each checked run
    """
    places, damage = store.run_directories(), {}
    packed = find_changed_files(store.folder, [PACKED]) if (store.folder / PACKED).is_file() else []
    for place in places:
        if problems := find_damage(place):
            damage[place] = problems
        on_run(place.name)
    if discard:
        for place, problems in damage.items():
            store.discard_run(place, problems)
        if packed:  # the rows of all runs that stay are as they were
            write_checksums(store.folder, hash_files(store.folder, [PACKED]))
    messages = [*packed, *(problem for problems in damage.values() for problem in problems)]
    return Check(len(places), tuple(place.name for place in damage), tuple(messages))
