"""Processes of this machine."""

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
    """Runs in fresh processes. Rows are equal, bit for bit, to those of InProcess.

    A process that dies (killed, out of memory) takes nothing with it but the run in hand, which is tried again in another;
    one that is over its run's time is ended. When this process dies, they end themselves.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def outcomes(self, runs: Sequence[Run], folder: Path) -> Iterator[Outcome]:
        yield from dispatch(_Processes(self.workers, folder), spread(runs), folder)


@dataclass
class _Process:
    """A worker: its process, our end of its pipe, and how far it is."""

    process: BaseProcess
    pipe: Connection
    begun: bool = False
    idle: bool = False


class _Processes:
    """A crew of processes, known by numbers."""

    def __init__(self, workers: int, folder: Path) -> None:
        self._most, self._folder = workers, folder
        self._context = multiprocessing.get_context("spawn")
        self._workers: dict[Worker, _Process] = {}
        self._numbers = itertools.count()

    def hire(self, most: int) -> None:
        while len(self._workers) < min(self._most, most):
            mine, theirs = self._context.Pipe()
            process = self._context.Process(target=_work, args=(theirs, self._folder), daemon=True)
            process.start()
            theirs.close()  # so that the pipe ends with the process
            self._workers[next(self._numbers)] = _Process(process, mine)

    def free(self) -> Sequence[Worker]:
        return [number for number, worker in self._workers.items() if worker.idle]

    def give(self, worker: Worker, run: Run) -> None:
        chosen = self._workers[worker]
        chosen.idle = False
        with contextlib.suppress(OSError):  # it has died; `news` finds out
            chosen.pipe.send(run)

    def news(self, seconds: float) -> Sequence[tuple[Worker, Outcome | None]]:
        spoken = wait([worker.pipe for worker in self._workers.values()], seconds)
        found = [self._hear(number, worker) for number, worker in list(self._workers.items()) if worker.pipe in spoken]
        return [one for one in found if one]

    def _hear(self, number: Worker, worker: _Process) -> tuple[Worker, Outcome | None] | None:
        """What a worker said or, if its pipe has ended, that it died; None if that concerns no run."""
        try:
            said: Outcome | None = worker.pipe.recv()  # None: it can begin
        except (EOFError, OSError):
            return self._died(number, worker)
        worker.idle, begun = True, worker.begun
        worker.begun = True
        return (number, said) if begun else None

    def _died(self, number: Worker, worker: _Process) -> tuple[Worker, None] | None:
        self.dismiss(number)
        if not worker.begun:
            raise InvalidCall(
                f"a worker process ended before it could begin (exit code {worker.process.exitcode}); in a script, start "
                'suites under `if __name__ == "__main__":`'
            )
        return None if worker.idle else (number, None)

    def dismiss(self, worker: Worker) -> None:
        gone = self._workers.pop(worker)
        gone.process.kill()
        gone.process.join()
        gone.pipe.close()

    def close(self) -> None:
        for worker in self._workers.values():
            worker.process.kill()
        for number in list(self._workers):
            self.dismiss(number)


def _work(pipe: Connection, folder: Path) -> None:
    """What a process does: one run after the other, until its parent has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    threading.Thread(target=_follow_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            pipe.send(execute(pipe.recv(), folder))


def _follow_parent() -> None:
    """End this process in the middle of whatever it does when its parent dies: nobody would stop it any more."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


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


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
