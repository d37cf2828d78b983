"""Handing out runs to workers that may die or take too long."""

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

ATTEMPTS = 3  # workers that may die over one run
GRACE_S = 2.0  # beyond its time; a worker that can still speak says itself that it was late
LOOK_S = 5.0  # between two looks at how many workers can be had

Worker = Hashable


class Crew(Protocol):
    """Workers; each carries out one run at a time."""

    def hire(self, most: int) -> None:
        """Have as many workers as can be had now, but no more than `most`."""

    def free(self) -> Sequence[Worker]:
        """Those that can begin at once."""

    def give(self, worker: Worker, run: Run) -> None:
        """Have a worker carry out a run."""

    def news(self, seconds: float) -> Sequence[tuple[Worker, Outcome | None]]:
        """What happened to workers that have runs, after at most that time: a run's outcome, or None if the worker died."""

    def dismiss(self, worker: Worker) -> None:
        """End a worker in the middle of its run."""

    def close(self) -> None:
        """End all workers."""


@dataclass(frozen=True)
class _Task:
    run: Run
    started: float

    @property
    def late(self) -> float:
        """When it is to be ended."""
        return self.started + self.run.seconds + GRACE_S


def dispatch(crew: Crew, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
    """The outcomes of all runs. A run whose worker dies is given to another, up to ATTEMPTS workers; then it has failed.
    A worker that is over its run's time is ended, and the run has failed."""
    store = Store(folder)
    waiting, deaths = deque(runs), Counter[str]()
    hands: dict[Worker, _Task] = {}

    def failed(task: _Task, reason: str) -> Outcome:
        seconds = time.monotonic() - task.started
        store.lost(task.run, reason, seconds)
        return Outcome(task.run, seconds, reason)

    try:
        while waiting or hands:
            crew.hire(len(waiting) + len(hands))
            for worker in crew.free()[: len(waiting)]:
                task = _Task(waiting.popleft(), time.monotonic())
                crew.give(worker, task.run)
                hands[worker] = task
            soonest = min((task.late for task in hands.values()), default=float("inf"))
            for worker, outcome in crew.news(max(0.0, min(LOOK_S, soonest - time.monotonic()))):
                task = hands.pop(worker)
                if outcome is not None:
                    yield outcome
                    continue
                deaths[task.run.digest] += 1
                store.sweep()
                if deaths[task.run.digest] < ATTEMPTS:
                    waiting.append(task.run)
                else:
                    yield failed(task, f"the process died {ATTEMPTS} times over this run (killed, or out of memory)")
            for worker in [worker for worker, task in hands.items() if time.monotonic() > task.late]:
                crew.dismiss(worker)
                store.sweep()
                task = hands.pop(worker)
                yield failed(task, over_time(task.run.seconds, time.monotonic() - task.started))
    finally:
        crew.close()
        store.sweep()
