"""Executor in processes of this machine."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from momagames.benchmark.executors.executor import Outcome, execute
from momagames.benchmark.executors.worker_pool import Worker, dispatch
from momagames.benchmark.plan import Run
from momagames.errors import InvalidCall


class Pool:
    """Executor in new processes. Rows are equal, bit for bit, to those of InProcess.

    If a process dies (killed, out of memory), only its current run is lost and retried in another process. A process that
    exceeds the time limit of its run is killed. Worker processes exit when this process dies.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def outcomes(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
        yield from dispatch(_Processes(self.workers, folder), spread(runs), folder)


@dataclass
class _Process:
    """A worker process, the parent's end of its pipe, and its state."""

    process: BaseProcess
    pipe: Connection
    begun: bool = False
    idle: bool = False


class _Processes:
    """Worker pool of processes, identified by numbers."""

    def __init__(self, workers: int, folder: Path) -> None:
        self._most, self._folder = workers, folder
        self._context = multiprocessing.get_context("spawn")
        self._workers: dict[Worker, _Process] = {}
        self._numbers = itertools.count()

    def start(self, most: int) -> None:
        while len(self._workers) < min(self._most, most):
            mine, theirs = self._context.Pipe()
            process = self._context.Process(target=_work, args=(theirs, self._folder), daemon=True)
            process.start()
            theirs.close()  # the pipe then closes with the process
            self._workers[next(self._numbers)] = _Process(process, mine)

    def free(self) -> Sequence[Worker]:
        return [number for number, worker in self._workers.items() if worker.idle]

    def submit(self, worker: Worker, run: Run) -> None:
        chosen = self._workers[worker]
        chosen.idle = False
        with contextlib.suppress(OSError):  # it has died; `poll` detects it
            chosen.pipe.send(run)

    def poll(self, seconds: float) -> Sequence[tuple[Worker, Outcome | None]]:
        ready = wait([worker.pipe for worker in self._workers.values()], seconds)
        found = [self._receive(number, worker) for number, worker in list(self._workers.items()) if worker.pipe in ready]
        return [one for one in found if one]

    def _receive(self, number: Worker, worker: _Process) -> tuple[Worker, Outcome | None] | None:
        """Receive a message of a worker, or detect from its closed pipe that it died. Return None if no run is affected."""
        try:
            said: Outcome | None = worker.pipe.recv()  # None: it is ready
        except (EOFError, OSError):
            return self._died(number, worker)
        worker.idle, begun = True, worker.begun
        worker.begun = True
        return (number, said) if begun else None

    def _died(self, number: Worker, worker: _Process) -> tuple[Worker, None] | None:
        self.stop(number)
        if not worker.begun:
            raise InvalidCall(
                f"a worker process ended before it could begin (exit code {worker.process.exitcode}); in a script, start "
                'suites under `if __name__ == "__main__":`'
            )
        return None if worker.idle else (number, None)

    def stop(self, worker: Worker) -> None:
        gone = self._workers.pop(worker)
        gone.process.kill()
        gone.process.join()
        gone.pipe.close()

    def close(self) -> None:
        for worker in self._workers.values():
            worker.process.kill()
        for number in list(self._workers):
            self.stop(number)


def _work(pipe: Connection, folder: Path) -> None:
    """Main loop of a worker process: execute runs until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    threading.Thread(target=_follow_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            pipe.send(execute(pipe.recv(), folder))


def _follow_parent() -> None:
    """Exit this process immediately when its parent dies, as no other process would stop it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def spread(runs: Sequence[Run]) -> list[Run]:
    """Return the runs in an order in which processes rarely compile the same code at the same time.

    One run of each game comes first, then one of each method (the last methods, the expensive searches, first), then the rest,
    whose code is in the cache on disk.
    """
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


def cores() -> int:
    """Return the number of cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
