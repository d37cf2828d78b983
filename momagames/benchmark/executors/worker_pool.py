"""Distribution of runs to workers that may die or exceed a time limit."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from momagames.benchmark.executors.executor import Outcome, timeout_message
from momagames.benchmark.runs import Run
from momagames.benchmark.store.store import Store

MAX_ATTEMPTS = 3  # workers that may die during one run
GRACE_S = 2.0  # beyond the time limit, for a worker to report the timeout itself
POLL_S = 5.0  # between two checks of the number of available workers

Worker = Hashable


class WorkerPool(Protocol):
    """Pool of workers, each of which executes one run at a time."""

    def start(self, wanted: int) -> None:
        """Start the workers that are available now, up to `wanted` in all."""

    def list_idle(self) -> Sequence[Worker]:
        """Return the idle workers."""

    def submit(self, worker: Worker, run: Run) -> None:
        """Assign a run to a worker."""

    def poll(self, seconds: float) -> Sequence[tuple[Worker, Outcome | None]]:
        """Wait up to `seconds` for busy workers; return each finished worker with the outcome, or None if the worker died."""

    def stop(self, worker: Worker) -> None:
        """Kill a worker during its run."""

    def close(self) -> None:
        """Stop all workers."""


@dataclass(frozen=True)
class _Task:
    run: Run
    started: float

    @property
    def deadline(self) -> float:
        """Time at which the run is killed."""
        return self.started + self.run.seconds + GRACE_S


def dispatch(pool: WorkerPool, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
    """Yield the outcomes of all runs.

    A run whose worker dies goes to another worker; after MAX_ATTEMPTS deaths it has failed. A worker that exceeds the time
    limit of its run is killed, and the run has failed.
    """
    store = Store(folder)
    waiting, deaths = deque(runs), Counter[str]()
    running: dict[Worker, _Task] = {}

    def record_failure(task: _Task, reason: str) -> Outcome:
        seconds = time.monotonic() - task.started
        store.record_crash(task.run, reason, seconds)
        return Outcome(task.run, seconds, reason)

    try:
        while waiting or running:
            pool.start(len(waiting) + len(running))
            for worker in pool.list_idle()[: len(waiting)]:
                task = _Task(waiting.popleft(), time.monotonic())
                pool.submit(worker, task.run)
                running[worker] = task
            soonest = min((task.deadline for task in running.values()), default=float("inf"))
            for worker, outcome in pool.poll(max(0.0, min(POLL_S, soonest - time.monotonic()))):
                task = running.pop(worker)
                if outcome is not None:
                    yield outcome
                    continue
                deaths[task.run.digest] += 1
                store.remove_stale_runs()
                if deaths[task.run.digest] < MAX_ATTEMPTS:
                    waiting.append(task.run)
                else:
                    yield record_failure(
                        task, f"the process died {MAX_ATTEMPTS} times over this run (killed, or out of memory)"
                    )
            for worker in [worker for worker, task in running.items() if time.monotonic() > task.deadline]:
                pool.stop(worker)
                store.remove_stale_runs()
                task = running.pop(worker)
                yield record_failure(task, timeout_message(task.run.seconds, time.monotonic() - task.started))
    finally:
        pool.close()
        store.remove_stale_runs()
