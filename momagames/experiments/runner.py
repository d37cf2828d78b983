"""Runs a suite: what is finished is skipped, what fails is recorded, and the rest goes on."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from momagames.errors import BadParameter
from momagames.experiments import evaluate
from momagames.experiments.plan import Run, Suite
from momagames.experiments.store import Store


@dataclass(frozen=True)
class Outcome:
    """How a run ended: error is None, or one line."""

    run: Run
    seconds: float
    error: str | None


@dataclass(frozen=True)
class Results:
    """How a suite ended. The results themselves are in `folder`."""

    folder: Path
    finished: tuple[Run, ...]
    skipped: tuple[Run, ...]
    failed: tuple[Outcome, ...]
    seconds: float


class Executor(Protocol):
    """Where runs are carried out; each comes back when it has ended, in any order."""

    def outcomes(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]: ...


def execute(run: Run, folder: Path) -> Outcome:
    """Carry out one run and store it; an error of the run is recorded and told, not raised."""
    started = time.perf_counter()
    error = None
    facts: dict[str, object] = {}
    try:
        Store(folder).record(run, evaluate.rows(run, facts), facts)
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}".splitlines()[0]
    return Outcome(run, time.perf_counter() - started, error)


class InProcess:
    """One run after the other, here."""

    def outcomes(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
        for run in runs:
            yield execute(run, folder)


class Pool:
    """Runs in fresh processes. Rows are equal, bit for bit, to those of InProcess.

    A process that dies (killed, out of memory) takes down those beside it; their runs are then tried again, each in a
    process of its own, and the one that dies again is recorded as failed.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def outcomes(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
        left = {run.digest: run for run in spread(runs)}
        try:
            for outcome in self._pooled(list(left.values()), folder, self.workers):
                del left[outcome.run.digest]
                yield outcome
        except BrokenProcessPool:
            yield from self._one_by_one(list(left.values()), folder)

    def _one_by_one(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
        for run in runs:
            try:
                yield from self._pooled([run], folder, 1)
            except BrokenProcessPool:
                reason = "the process died (killed, or out of memory)"
                Store(folder).lost(run, reason)
                yield Outcome(run, 0.0, reason)

    def _pooled(self, runs: Sequence[Run], folder: Path, workers: int) -> Iterator[Outcome]:
        pool = ProcessPoolExecutor(
            min(workers, len(runs)), mp_context=multiprocessing.get_context("spawn"), initializer=_leave_interrupts_to_parent
        )
        waiting = [pool.submit(execute, run, folder) for run in runs]
        try:
            for future in as_completed(waiting):
                yield future.result()
        except BaseException:  # Ctrl-C, or a consumer that stops: end the workers now, not after their runs
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()


def spread(runs: Sequence[Run]) -> list[Run]:
    """The runs in an order in which processes do not compile the same code at the same time: one of each game, then one of
    each method (the last ones, which are the heavy searches, first), then the rest, which find that code on disk."""
    games: dict[str, int] = {}
    methods: dict[tuple[str, str], int] = {}
    for i, run in enumerate(runs):
        games.setdefault(run.game.id, i)
        methods.setdefault((run.game.id, run.method.name), i)

    def rank(i: int) -> tuple[int, int, int]:
        first = methods[runs[i].game.id, runs[i].method.name]
        if i in games.values():
            return 0, i, 0
        return (1, -i, 0) if i == first else (2, first, i)

    return [runs[i] for i in sorted(range(len(runs)), key=rank)]


def _leave_interrupts_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_suite(
    suite: Suite,
    folder: str | Path,
    workers: int = 1,
    tell: Callable[[Outcome], None] | None = None,
    executor: Executor | None = None,
) -> Results:
    """Carry out the runs of a suite that are not in `folder` yet.

    workers     1: here; more: that many processes (in a script, call this under `if __name__ == "__main__":`)
    tell        called with each outcome as it comes
    executor    your own, instead of those two
    Raises      BadFile if the folder cannot be used; KeyboardInterrupt goes through, and loses only the runs in hand
    """
    if workers < 1:
        raise BadParameter(f"workers={workers} is not possible; allowed: 1 or more")
    started = time.perf_counter()
    store = Store(folder)
    store.open(suite)
    runs = suite.runs()
    due = [run for run in runs if not store.has(run)]
    chosen = executor or (Pool(workers) if workers > 1 and len(due) > 1 else InProcess())
    outcomes = []
    for outcome in chosen.outcomes(due, store.folder) if due else ():
        outcomes.append(outcome)
        if tell:
            tell(outcome)
    return Results(
        folder=store.folder,
        finished=tuple(o.run for o in outcomes if o.error is None),
        skipped=tuple(run for run in runs if run not in due),
        failed=tuple(o for o in outcomes if o.error is not None),
        seconds=time.perf_counter() - started,
    )
