"""Worker threads that share the environments of a batch.

The calling thread works too and waits only for pieces that a worker has started, so that sleeping or preempted workers
delay no call. Workers spin for a moment after a call and then sleep.

Short calls run on the calling thread alone. Longer ones are measured now and then with and without the workers, and run in
the faster way: cores may be taken by other processes.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from momagames.engine.worker_kernels import CALLS, FIRST, LINE, PIECE, PIECES, ROWS
from momagames.kernels.jit import INTERPRETED

PIECES_PER_THREAD = 8  # pieces of a thread's run: bounds the loss when another process takes its core
MIN_PIECE_ROWS = 16  # smallest number of rows of a piece: sharing has a cost
SHARED_FROM = 100_000  # ns of work: shorter calls are faster on one thread
WINDOW = 256  # calls between two measurements
PROBES = 4  # calls that are measured in each way, of which the shortest counts

yield_processor = getattr(os, "sched_yield", partial(time.sleep, 0))  # preferred, because a sleep takes at least 50 us


class Workers:
    """`threads` threads, including the calling one, for repeated calls of one compiled loop over the same arrays.

    run_pieces  the loop as made by `compile_shared_loop`
    rows        number of rows; each call works on all of them
    arrays      the arguments of the loop after `low` and `high`
    """

    def __init__(self, run_pieces: Callable[..., Any], rows: int, threads: int, arrays: tuple[Any, ...]) -> None:
        self._run_pieces, self._threads, self._arrays = run_pieces, threads, arrays
        piece = max(MIN_PIECE_ROWS, -(-rows // (threads * PIECES_PER_THREAD)))
        self._control = np.zeros(FIRST + threads * LINE, np.int64)
        self._control[PIECE], self._control[ROWS], self._control[PIECES] = piece, rows, -(-rows // piece)
        self._control[FIRST::LINE] = self._control[PIECES]  # no pieces yet
        self._gate = WorkerGate()
        self._process: int | None = None
        self._probes: list[int] = []  # ns of measured calls, alone and then with the workers
        self._remaining = 0  # calls until the next measurement
        self._is_shared = False

    def run(self) -> None:
        """Work on all rows."""
        if not self._remaining:
            self._probe()
            return
        self._remaining -= 1
        self._run(self._is_shared)

    def _probe(self) -> None:
        """Measure a call; after the last one choose how to run the next calls."""
        start = time.perf_counter_ns()
        self._run(is_shared=len(self._probes) >= PROBES)
        self._probes.append(time.perf_counter_ns() - start)
        alone, shared = self._probes[:PROBES], self._probes[PROBES:]
        if len(shared) == PROBES or (len(alone) == PROBES and min(alone) < SHARED_FROM):
            self._is_shared = bool(shared) and min(shared) < min(alone)
            self._probes, self._remaining = [], WINDOW

    def _run(self, is_shared: bool) -> None:
        """Work until all rows are done. A shared call wakes the threads; those still awake take part in any call."""
        if is_shared and self._process != os.getpid() and not self._gate.closed:  # a forked child inherits no threads
            self._start()
        if is_shared and self._gate.asleep:
            self._gate.notify()
        begin = True
        while not self._run_pieces(self._control, 0, self._threads, begin, *self._arrays):
            begin = False
            yield_processor()

    def close(self) -> None:
        """End the threads. Later calls work on the calling thread alone."""
        self._gate.close()

    def _start(self) -> None:
        self._process, self._gate = os.getpid(), WorkerGate()
        for thread in range(1, 1 if INTERPRETED else self._threads):
            args = (self._run_pieces, self._control, thread, self._threads, self._arrays, self._gate)
            threading.Thread(target=run_worker, args=args, name=f"momagames-{thread}", daemon=True).start()
        weakref.finalize(self, self._gate.close)


class WorkerGate:
    """A condition that workers wait on until the next call or the end. A call does not wait for sleeping workers."""

    def __init__(self) -> None:
        self.asleep, self.closed = 0, False
        self._condition = threading.Condition()

    def wait(self, control: Any, call: int) -> None:
        """Sleep, unless another call has started meanwhile."""
        with self._condition:
            self.asleep += 1
            if control[CALLS] == call and not self.closed:
                self._condition.wait()
            self.asleep -= 1

    def notify(self) -> None:
        with self._condition:
            self._condition.notify_all()

    def close(self) -> None:
        self.closed = True
        self.notify()


def run_worker(
    run_pieces: Callable[..., Any], control: Any, thread: int, threads: int, arrays: tuple[Any, ...], gate: WorkerGate
) -> None:
    """Work on pieces of calls until the gate is closed."""
    while not gate.closed:
        gate.wait(control, run_pieces(control, thread, threads, False, *arrays))
