"""Run suites: finished runs are skipped, failures are recorded, and the remaining runs continue."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from momagames.benchmark.executors import Executor, InProcess, Outcome, ProcessPool
from momagames.benchmark.runs import Run
from momagames.benchmark.store.store import Store
from momagames.benchmark.suites import Suite
from momagames.errors import InvalidParameter, check_range, invalid_value, one_of

MAX_SHARD = 20  # characters of I/N


@dataclass(frozen=True)
class Results:
    """Outcome of a suite or a shard. The results themselves are in `folder`."""

    folder: Path
    finished: tuple[Run, ...]
    skipped: tuple[Run, ...]
    failed: tuple[Outcome, ...]
    seconds: float


@dataclass(frozen=True)
class Shard:
    """Shard `number` (from 1) of `count`. The hash of a run's content determines its shard.

    seeds    only runs with these seeds; empty: with any seed
    """

    number: int
    count: int
    seeds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            last = max(self.count, 1)
            raise InvalidParameter(invalid_value("shard", str(self), f"1/{last} to {last}/{last}"))

    @staticmethod
    def parse(text: str, seeds: Sequence[int] = ()) -> Shard:
        """Parse a shard: "2/8" is the second of eight."""
        number, _, of = text.partition("/")
        if not (number.isdecimal() and of.isdecimal() and len(text) <= MAX_SHARD):
            raise InvalidParameter(invalid_value("shard", text, "I/N, such as 1/4"))
        return Shard(int(number), int(of), tuple(seeds))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}" + (f", seeds {', '.join(map(str, self.seeds))}" if self.seeds else "")

    def select(self, runs: Sequence[Run]) -> tuple[Run, ...]:
        """Return the runs of this shard. Raises InvalidParameter if no run has one of the seeds."""
        known = {run.seed for run in runs}
        for seed in self.seeds:
            if seed not in known:
                raise InvalidParameter(invalid_value("seed", seed, one_of(sorted(known))))
        chosen = [run for run in runs if not self.seeds or run.seed in self.seeds]
        return tuple(run for run in chosen if int(run.digest, 16) % self.count == self.number - 1)


ALL_RUNS = Shard(1, 1)


@dataclass(frozen=True)
class Work:
    """A suite, or a shard of it, in a results directory.

    all_runs    the runs of the suite
    runs        those of the shard
    due         those that the directory lacks
    """

    suite: Suite
    store: Store
    all_runs: tuple[Run, ...]
    runs: tuple[Run, ...]
    due: tuple[Run, ...]


def list_work(suite: Suite, folder: str | Path, shard: Shard = ALL_RUNS) -> Work:
    """Return what is to be run. Nothing is written. Raises InvalidParameter if the shard has seeds without runs."""
    store, all_runs = Store(folder), suite.list_runs()
    runs = shard.select(all_runs)
    return Work(suite, store, all_runs, runs, tuple(run for run in runs if not store.has_run(run)))


def execute_work(work: Work, executor: Executor, on_outcome: Callable[[Outcome], None] | None = None) -> Results:
    """Execute the due runs. Arguments and errors as of `run_suite`."""
    started = time.perf_counter()
    for experiment in work.suite.experiments:
        for choice in experiment.methods:
            choice.find_method(experiment.games[0].make_game()).check_installed()
    work.store.open_suite(work.suite, dict(pair for run in work.all_runs for pair in (run.revisions or {}).items()))
    outcomes = []
    for outcome in executor.execute_runs(work.due, work.store.folder) if work.due else ():
        outcomes.append(outcome)
        if on_outcome:
            on_outcome(outcome)
    due = {run.digest for run in work.due}
    return Results(
        folder=work.store.folder,
        finished=tuple(outcome.run for outcome in outcomes if outcome.error is None),
        skipped=tuple(run for run in work.runs if run.digest not in due),
        failed=tuple(outcome for outcome in outcomes if outcome.error is not None),
        seconds=time.perf_counter() - started,
    )


def run_suite(
    suite: Suite,
    folder: str | Path,
    workers: int = 1,
    on_outcome: Callable[[Outcome], None] | None = None,
    executor: Executor | None = None,
    shard: Shard = ALL_RUNS,
) -> Results:
    """Execute the runs of a suite that are not in `folder` yet.

    workers     1: this process; more: that many processes (in a script, call this under `if __name__ == "__main__":`)
    on_outcome  callback for each outcome
    executor    executor instead of these two, such as `executors.ray.RayCluster()`
    shard       part of the suite to run; shards may share a directory
    Raises      MissingExtra if a method needs a missing package; InvalidFile if the directory cannot be used;
                KeyboardInterrupt propagates and loses only the runs in progress
    """
    check_range("workers", workers, 1)
    work = list_work(suite, folder, shard)
    use_processes = workers > 1 and len(work.due) > 1
    return execute_work(work, executor or (ProcessPool(workers) if use_processes else InProcess()), on_outcome)
