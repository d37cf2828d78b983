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
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from momagames.benchmark.executors.executor import Outcome, execute_run
from momagames.benchmark.executors.worker_pool import Worker, dispatch
from momagames.benchmark.runs import Run
from momagames.errors import InvalidCall

MAX_KILLED_STARTS = 5  # workers that were killed before their first run
EXIT_S = 5.0  # for a worker to end after its pipe has closed


class ProcessPool:
    """Executor in new processes. Rows are equal, bit for bit, to those of InProcess.

    If a process dies (killed, out of memory), only its current run is lost and retried in another process. A process that
    exceeds the time limit of its run is killed. Worker processes exit when this process dies.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def execute_runs(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
        yield from dispatch(_Processes(self.workers, folder), order_runs(runs), folder)


@dataclass
class _Process:
    """A worker process, the parent's end of its pipe, and its state."""

    process: BaseProcess
    pipe: Connection
    is_ready: bool = False
    is_idle: bool = False


class _Processes:
    """Worker pool of processes, identified by numbers."""

    def __init__(self, workers: int, folder: Path) -> None:
        self._max_workers, self._folder = workers, folder
        self._context = multiprocessing.get_context("spawn")
        self._workers: dict[Worker, _Process] = {}
        self._numbers = itertools.count()
        self._killed_starts = 0

    def start(self, wanted: int) -> None:
        while len(self._workers) < min(self._max_workers, wanted):
            own_end, worker_end = self._context.Pipe()
            process = self._context.Process(target=_run_worker, args=(worker_end, self._folder), daemon=True)
            with _block_interrupt():
                process.start()
            worker_end.close()  # the pipe then closes with the process
            self._workers[next(self._numbers)] = _Process(process, own_end)

    def list_idle(self) -> Sequence[Worker]:
        return [number for number, worker in self._workers.items() if worker.is_idle]

    def submit(self, worker: Worker, run: Run) -> None:
        chosen = self._workers[worker]
        chosen.is_idle = False
        with contextlib.suppress(OSError):  # it has died; `poll` detects it
            chosen.pipe.send(run)

    def poll(self, seconds: float) -> Sequence[tuple[Worker, Outcome | None]]:
        ready = wait([worker.pipe for worker in self._workers.values()], seconds)
        found = [self._receive(number, worker) for number, worker in list(self._workers.items()) if worker.pipe in ready]
        return [one for one in found if one]

    def _receive(self, number: Worker, worker: _Process) -> tuple[Worker, Outcome | None] | None:
        """Receive a message of a worker, or detect from its closed pipe that it died. Return None if no run is affected."""
        try:
            outcome: Outcome | None = worker.pipe.recv()  # None: it is ready
        except (EOFError, OSError):
            return self._handle_death(number, worker)
        worker.is_idle, was_ready = True, worker.is_ready
        worker.is_ready = True
        return (number, outcome) if was_ready else None

    def _handle_death(self, number: Worker, worker: _Process) -> tuple[Worker, None] | None:
        """Remove a dead worker. One that was killed before its first run is replaced; one that failed by itself is an error."""
        worker.process.join(EXIT_S)  # the pipe closes before the process has ended
        self.stop(number)
        if not worker.is_ready:
            self._killed_starts += 1
            if (worker.process.exitcode or 0) < 0 and self._killed_starts < MAX_KILLED_STARTS:
                return None
            raise InvalidCall(
                f"a worker process ended before its first run (exit code {worker.process.exitcode}); in a script, start "
                'suites under `if __name__ == "__main__":`'
            )
        return None if worker.is_idle else (number, None)

    def stop(self, worker: Worker) -> None:
        stopped = self._workers.pop(worker)
        stopped.process.kill()
        stopped.process.join()
        stopped.pipe.close()

    def close(self) -> None:
        for worker in self._workers.values():
            worker.process.kill()
        for number in list(self._workers):
            self.stop(number)


@contextlib.contextmanager
def _block_interrupt() -> Iterator[None]:
    """Block Ctrl-C in this thread. A process that is started meanwhile never gets it, not even while it imports its code."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # else the first process starts it below, which unblocks Ctrl-C again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_worker(pipe: Connection, folder: Path) -> None:
    """Main loop of a worker process: execute runs until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            pipe.send(execute_run(pipe.recv(), folder))


def _exit_with_parent() -> None:
    """Exit this process immediately when its parent dies, as no other process would stop it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def order_runs(runs: Sequence[Run]) -> list[Run]:
    """Return the runs in an order in which processes rarely compile the same code at the same time.

    One run of each game comes first, then one of each method (the last methods, the expensive searches, first), then the rest,
    whose code is in the cache on disk.
    """
    games: dict[str, int] = {}
    methods: dict[tuple[str, str], int] = {}
    for i, run in enumerate(runs):
        games.setdefault(run.game.id, i)
        methods.setdefault((run.game.id, run.method.name), i)

    def sort_key(i: int) -> tuple[int, int, int]:
        first = methods[runs[i].game.id, runs[i].method.name]
        if i in games.values():
            return 0, i, 0
        return (1, -i, 0) if i == first else (2, first, i)

    return [runs[i] for i in sorted(range(len(runs)), key=sort_key)]


def count_cores() -> int:
    """Return the number of cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
