"""Runs a suite: what is finished is skipped, what fails is recorded, and the rest goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from momagames.benchmark.executors import Executor, InProcess, Outcome, Pool
from momagames.benchmark.plan import Run, Suite
from momagames.benchmark.store.store import Store
from momagames.errors import InvalidParameter, check_range


@dataclass(frozen=True)
class Results:
    """How a suite, or a shard of it, ended. The results themselves are in `folder`."""

    folder: Path
    finished: tuple[Run, ...]
    skipped: tuple[Run, ...]
    failed: tuple[Outcome, ...]
    seconds: float


@dataclass(frozen=True)
class Shard:
    """Part `number` of `of`, from 1: every run belongs to one of them, by the hash of its content, whoever asks."""

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise InvalidParameter(
                f"shard {self} is not possible; allowed: 1/{max(self.of, 1)} to {max(self.of, 1)}/{max(self.of, 1)}"
            )

    @staticmethod
    def of_text(text: str) -> Shard:
        """ "2/8": the second of eight shards."""
        number, _, of = text.partition("/")
        if not (number.isdecimal() and of.isdecimal()):
            raise InvalidParameter(f"shard {text!r} is not of the form i/n, such as 1/4")
        return Shard(int(number), int(of))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, runs: Sequence[Run]) -> tuple[Run, ...]:
        """The runs of this shard."""
        return tuple(run for run in runs if int(run.digest, 16) % self.of == self.number - 1)


EVERYTHING = Shard(1, 1)


def run_suite(
    suite: Suite,
    folder: str | Path,
    workers: int = 1,
    tell: Callable[[Outcome], None] | None = None,
    executor: Executor | None = None,
    shard: Shard = EVERYTHING,
) -> Results:
    """Carry out the runs of a suite that are not in `folder` yet.

    workers     1: here; more: that many processes (in a script, call this under `if __name__ == "__main__":`)
    tell        called with each outcome as it comes
    executor    another one, such as `executors.ray.RayCluster()`, instead of those two
    shard       the part of the suite that is to be run; shards may share a folder
    Raises      MissingExtra if a method needs a package that is not there; InvalidFile if the folder cannot be used;
                KeyboardInterrupt goes through, and loses only the runs in hand
    """
    check_range("workers", workers, 1)
    started = time.perf_counter()
    for experiment in suite.experiments:
        for chosen_method in experiment.methods:
            chosen_method.method(experiment.games[0].game()).check_installed()
    store = Store(folder)
    store.open(suite)
    runs = shard.part(suite.runs())
    due = [run for run in runs if not store.has(run)]
    chosen = executor or (Pool(workers) if workers > 1 and len(due) > 1 else InProcess())
    outcomes = []
    for outcome in chosen.outcomes(due, store.folder) if due else ():
        outcomes.append(outcome)
        if tell:
            tell(outcome)
    missing = {run.digest for run in due}
    return Results(
        folder=store.folder,
        finished=tuple(o.run for o in outcomes if o.error is None),
        skipped=tuple(run for run in runs if run.digest not in missing),
        failed=tuple(o for o in outcomes if o.error is not None),
        seconds=time.perf_counter() - started,
    )
