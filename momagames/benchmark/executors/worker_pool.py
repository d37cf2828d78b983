"""Distribution of runs to workers that may die or exceed a time limit."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from momagames.benchmark.executors.executor import Outcome, over_time
from momagames.benchmark.plan import Run
from momagames.benchmark.store.store import Store

ATTEMPTS = 3  # workers that may die during one run
GRACE_S = 2.0  # beyond the time limit, for a worker to report the timeout itself
LOOK_S = 5.0  # between two checks of the number of available workers

Worker = Hashable


class WorkerPool(Protocol):
    """Pool of workers, each of which executes one run at a time."""

    def start(self, most: int) -> None:
        """Start the workers that are available now, up to `most` in all."""

    def free(self) -> Sequence[Worker]:
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
    def late(self) -> float:
        """Time at which the run is killed."""
        return self.started + self.run.seconds + GRACE_S


def dispatch(pool: WorkerPool, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
    """Yield the outcomes of all runs.

    A run whose worker dies goes to another worker; after ATTEMPTS deaths it has failed. A worker that exceeds the time limit of
    its run is killed, and the run has failed.
    """
    store = Store(folder)
    waiting, deaths = deque(runs), Counter[str]()
    running: dict[Worker, _Task] = {}

    def failed(task: _Task, reason: str) -> Outcome:
        seconds = time.monotonic() - task.started
        store.lost(task.run, reason, seconds)
        return Outcome(task.run, seconds, reason)

    try:
        while waiting or running:
            pool.start(len(waiting) + len(running))
            for worker in pool.free()[: len(waiting)]:
                task = _Task(waiting.popleft(), time.monotonic())
                pool.submit(worker, task.run)
                running[worker] = task
            soonest = min((task.late for task in running.values()), default=float("inf"))
            for worker, outcome in pool.poll(max(0.0, min(LOOK_S, soonest - time.monotonic()))):
                task = running.pop(worker)
                if outcome is not None:
                    yield outcome
                    continue
                deaths[task.run.digest] += 1
                store.sweep()
                if deaths[task.run.digest] < ATTEMPTS:
                    waiting.append(task.run)
                else:
                    yield failed(task, f"the process died {ATTEMPTS} times over this run (killed, or out of memory)")
            for worker in [worker for worker, task in running.items() if time.monotonic() > task.late]:
                pool.stop(worker)
                store.sweep()
                task = running.pop(worker)
                yield failed(task, over_time(task.run.seconds, time.monotonic() - task.started))
    finally:
        pool.close()
        store.sweep()
