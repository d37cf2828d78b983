"""Interface of executors, and the executor of one process."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from momagames.benchmark import evaluate
from momagames.benchmark.runs import Run
from momagames.benchmark.store.store import Store
from momagames.engine.policies import BatchPolicy
from momagames.errors import TooLarge
from momagames.plugins import summary_line


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run; `error` is one line, or None after success."""

    run: Run
    seconds: float
    error: str | None


class Executor(Protocol):
    """Executor of runs; outcomes arrive in any order."""

    def execute_runs(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]: ...


class InProcess:
    """Executor in this process, one run after the other. Time limits are checked after compiled code returns."""

    def execute_runs(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
        for run in runs:
            yield execute_run(run, folder)


def execute_run(run: Run, folder: Path) -> Outcome:
    """Execute one run and store it. An error of the run is recorded and returned, not raised.

    A run that another process has finished in the meantime is not executed again.
    """
    store, started = Store(folder), time.perf_counter()
    error = None
    facts: dict[str, object] = {}
    policies: list[BatchPolicy] = []
    if not store.has_run(run):
        try:
            store.write_run(run, enforce_time_limit(evaluate.evaluate_run(run, facts, policies), run.seconds), facts, policies)
        except (Exception, SystemExit) as problem:
            error = summary_line(problem)
    return Outcome(run, time.perf_counter() - started, error)


def enforce_time_limit(rows: Iterable[dict[str, Any]], seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the rows. Raises TooLarge once the time limit is exceeded: the limit fails a run but never changes its rows."""
    started = time.monotonic()
    for row in rows:
        _check_time(started, seconds)
        yield row
    _check_time(started, seconds)


def _check_time(started: float, seconds: float) -> None:
    if (spent := time.monotonic() - started) > seconds:
        raise TooLarge(timeout_message(seconds, spent))


def timeout_message(seconds: float, spent: float) -> str:
    return f"time limit exceeded: {spent:.1f} s, and the suite allows {seconds:g} s"
