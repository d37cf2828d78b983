"""Run suites: finished runs are skipped, failures are recorded, and the remaining runs continue."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momagames.benchmark.choices import GameChoice, label_methods
from momagames.benchmark.executors import Executor, InProcess, Outcome, ProcessPool
from momagames.benchmark.runs import Run
from momagames.benchmark.store.archive_file import ArchivedStore, restore_runs
from momagames.benchmark.store.store import Store
from momagames.benchmark.suites import Experiment, Suite
from momagames.contract.titles import describe_game
from momagames.errors import InvalidParameter, check_range, invalid_value, nearest, one_of

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
    """Shard `number` (from 1) of `count` of the chosen runs of a suite. The hash of a run's content determines its shard.

    seeds, experiments, games, methods    only runs with one of these; empty: with any. A game has an id, a title such as
                                          "MO-SameGame" and the text of tables ("MO-SameGame 7x7, 4 colors"), a method a
                                          name, and a label in reports ("greedy(estimate=both)")
    """

    number: int
    count: int
    seeds: tuple[int, ...] = ()
    experiments: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            last = max(self.count, 1)
            raise InvalidParameter(invalid_value("shard", f"{self.number}/{self.count}", f"1/{last} to {last}/{last}"))

    @staticmethod
    def parse(text: str, **chosen: Sequence[Any]) -> Shard:
        """Parse a shard: "2/8" is the second of eight. `chosen`: the other fields."""
        number, _, of = text.partition("/")
        if not (number.isdecimal() and of.isdecimal() and len(text) <= MAX_SHARD):
            raise InvalidParameter(invalid_value("shard", text, "I/N, such as 1/4"))
        return Shard(int(number), int(of), **{name: tuple(values) for name, values in chosen.items()})

    @property
    def choices(self) -> dict[str, tuple[Any, ...]]:
        """What is chosen, by the singular of its name."""
        named = {"seed": self.seeds, "experiment": self.experiments, "game": self.games, "method": self.methods}
        return {name: values for name, values in named.items() if values}

    def __str__(self) -> str:
        chosen = [f"{name}{'s' * (len(values) > 1)} {', '.join(map(str, values))}" for name, values in self.choices.items()]
        return ", ".join([*([f"shard {self.number}/{self.count}"] if self.count > 1 else []), *chosen])

    def select(self, suite: Suite) -> tuple[Run, ...]:
        """Return the runs of this shard. Raises InvalidParameter if no run has one of the chosen names or all of them."""
        runs, choices = suite.list_runs(), self.choices
        if choices:
            named = [pair for experiment in suite.experiments for pair in _name_runs(experiment)]
            for kind, values in choices.items():
                known = list(dict.fromkeys(name for _, names in named for name in names[kind]))
                for value in values:
                    if value not in known:
                        close = "" if kind == "seed" else nearest(value, known)
                        raise InvalidParameter(invalid_value(kind, value, one_of(known), close))
            chosen = {run.digest for run, names in named if all(names[kind] & set(choices[kind]) for kind in choices)}
            if not chosen:
                raise InvalidParameter(f"no run of the suite {suite.name!r} has {self}")
            runs = tuple(run for run in runs if run.digest in chosen)
        return tuple(run for run in runs if int(run.digest, 16) % self.count == self.number - 1)


def _name_runs(experiment: Experiment) -> Iterator[tuple[Run, dict[str, set[Any]]]]:
    """Yield the runs of an experiment, each with the values by which a shard chooses it."""
    labels, games = label_methods(experiment.methods), {one.model_dump_json(): name_game(one) for one in experiment.games}
    for run in experiment.list_runs():
        methods = {run.method.name, labels[run.method.key]}
        yield run, {
            "seed": {run.seed}, "experiment": {experiment.name}, "game": games[run.game.model_dump_json()], "method": methods,
        }  # fmt: skip


def name_game(choice: GameChoice) -> set[str]:
    """Return the names of a game: its id, its title, and the title with what differs from the defaults."""
    game = choice.make_game()
    return {choice.id, game.title, describe_game(game)}


ALL_RUNS = Shard(1, 1)


@dataclass(frozen=True)
class Work:
    """A suite, or a shard of it, in a results directory.

    all_runs    the runs of the suite
    runs        those of the shard
    due         those that neither the directory nor the archive has
    archive     where the directory starts from, if any
    restored    the runs of the suite that it has and the directory lacks
    """

    suite: Suite
    store: Store
    all_runs: tuple[Run, ...]
    runs: tuple[Run, ...]
    due: tuple[Run, ...]
    archive: ArchivedStore | None
    restored: tuple[Run, ...]


def list_work(suite: Suite, folder: str | Path, shard: Shard = ALL_RUNS, archive: str | Path | None = None) -> Work:
    """Return what is to be run. Nothing is written.

    Raises     InvalidParameter if the shard has names without runs; MissingExtra and InvalidFile of the archive
    """
    store, all_runs, runs = Store(folder), suite.list_runs(), shard.select(suite)
    archived = None if archive is None else ArchivedStore(archive)
    restored = tuple(run for run in all_runs if archived and archived.has_run(run) and not store.has_run(run))
    known = {run.digest for run in restored}
    due = tuple(run for run in runs if run.digest not in known and not store.has_run(run))
    return Work(suite, store, all_runs, runs, due, archived, restored)


def execute_work(work: Work, executor: Executor, on_outcome: Callable[[Outcome], None] | None = None) -> Results:
    """Execute the due runs. Arguments and errors as of `run_suite`."""
    started = time.perf_counter()
    for experiment in work.suite.experiments:
        for choice in experiment.methods:
            choice.find_method(experiment.games[0].make_game()).check_installed()
    work.store.open_suite(work.suite, dict(pair for run in work.all_runs for pair in (run.revisions or {}).items()))
    if work.archive:
        restore_runs(work.archive, work.store, work.restored)
    outcomes = []
    for outcome in executor.execute_runs(work.due, work.store.folder) if work.due else ():
        outcomes.append(outcome)
        if on_outcome:
            on_outcome(outcome)
    due = {run.digest: place for place, run in enumerate(work.due)}
    outcomes.sort(key=lambda outcome: due[outcome.run.digest])
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
    archive: str | Path | None = None,
) -> Results:
    """Execute the runs of a suite that are not in `folder` yet.

    workers     1: this process; more: that many processes (in a script, call this under `if __name__ == "__main__":`)
    on_outcome  callback for each outcome
    executor    executor instead of these two, such as `executors.ray.RayCluster()`
    shard       part of the suite to run; shards may share a directory
    archive     file of `bench archive`: the runs of the suite that it has are restored in the directory and not run again
    Raises      MissingExtra if a method or the archive needs a missing package; InvalidFile if the directory or the archive
                cannot be used; KeyboardInterrupt propagates and loses only the runs in progress
    """
    check_range("workers", workers, 1)
    work = list_work(suite, folder, shard, archive)
    use_processes = workers > 1 and len(work.due) > 1
    return execute_work(work, executor or (ProcessPool(workers) if use_processes else InProcess()), on_outcome)
