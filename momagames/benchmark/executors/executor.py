"""What an executor is, and the simplest one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from momagames.benchmark import evaluate
from momagames.benchmark.plan import Run
from momagames.benchmark.store.store import Store, headline
from momagames.engine.policies import BatchPolicy
from momagames.errors import TooLarge


@dataclass(frozen=True)
class Outcome:
    """How a run ended: error is None, or one line."""

    run: Run
    seconds: float
    error: str | None


class Executor(Protocol):
    """Where runs are carried out; each comes back when it has ended, in any order."""

    def outcomes(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]: ...


class InProcess:
    """One run after the other, here. What is compiled cannot be stopped: a run that is over its time is noticed afterwards."""

    def outcomes(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
        for run in runs:
            yield execute(run, folder)


def execute(run: Run, folder: Path) -> Outcome:
    """Carry out one run and store it; an error of the run is recorded and told, not raised.

    A run that somebody else has finished in the meantime is not carried out again.
    """
    store, started = Store(folder), time.perf_counter()
    error = None
    facts: dict[str, object] = {}
    policies: list[BatchPolicy] = []
    if not store.has(run):
        try:
            store.record(run, in_time(evaluate.rows(run, facts, policies), run.seconds), facts, policies)
        except Exception as problem:
            error = headline(problem)
    return Outcome(run, time.perf_counter() - started, error)


def in_time(rows: Iterable[dict[str, Any]], seconds: float) -> Iterator[dict[str, Any]]:
    """The rows, and TooLarge as soon as they are late: a limit of time fails a run, it never changes its rows."""
    started = time.monotonic()
    for row in rows:
        _check(started, seconds)
        yield row
    _check(started, seconds)


def _check(started: float, seconds: float) -> None:
    if (spent := time.monotonic() - started) > seconds:
        raise TooLarge(over_time(seconds, spent))


def over_time(seconds: float, spent: float) -> str:
    return f"over its time: {spent:.1f} s, and the suite allows {seconds:g} s"
