"""Threads that share out the environments of a batch.

Whoever calls takes part, and waits only for pieces that somebody else has begun: workers that sleep, or that the machine
has no time for, hold nobody up. Workers wait for the next call awake for a moment, and then asleep.
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

PIECES_PER_THREAD = 8  # pieces of a thread's run: what is lost at the end when another takes its core
MIN_PIECE_ROWS = 16  # rows of a piece: fewer are not worth the exchange

yield_processor = getattr(os, "sched_yield", partial(time.sleep, 0))  # where there is a choice: a sleep lasts 50 us at least


class Workers:
    """`threads` threads, the caller's among them, for one compiled loop over the same arrays again and again.

    share    what `sharing` made of the loop
    rows     how many rows there are: each call works on all of them
    arrays   the arguments of the loop after `low` and `high`
    """

    def __init__(self, share: Callable[..., Any], rows: int, threads: int, arrays: tuple[Any, ...]) -> None:
        self._share, self._threads, self._arrays = share, threads, arrays
        piece = max(MIN_PIECE_ROWS, -(-rows // (threads * PIECES_PER_THREAD)))
        self._mail = np.zeros(FIRST + threads * LINE, np.int64)
        self._mail[PIECE], self._mail[ROWS], self._mail[PIECES] = piece, rows, -(-rows // piece)
        self._mail[FIRST::LINE] = self._mail[PIECES]  # nothing to do yet
        self._bed = WorkerGate()
        self._process: int | None = None

    def run(self) -> None:
        """Work on all rows."""
        if self._process != os.getpid():  # the first call, here or in a forked child, which inherits no threads
            self._start()
        if self._bed.asleep:
            self._bed.notify()
        begin = True
        while not self._share(self._mail, 0, self._threads, begin, *self._arrays):
            begin = False
            yield_processor()

    def _start(self) -> None:
        self._process, self._bed = os.getpid(), WorkerGate()
        for thread in range(1, 1 if INTERPRETED else self._threads):
            args = (self._share, self._mail, thread, self._threads, self._arrays, self._bed)
            threading.Thread(target=run_worker, args=args, name=f"momagames-{thread}", daemon=True).start()
        weakref.finalize(self, self._bed.close)


class WorkerGate:
    """Where workers sleep until they are called or sent home. A call that one of them misses is done without it."""

    def __init__(self) -> None:
        self.asleep, self.closed = 0, False
        self._woken = threading.Condition()

    def wait(self, mail: Any, call: int) -> None:
        """Sleep, unless there has been another call meanwhile."""
        with self._woken:
            self.asleep += 1
            if mail[CALLS] == call and not self.closed:
                self._woken.wait()
            self.asleep -= 1

    def notify(self) -> None:
        with self._woken:
            self._woken.notify_all()

    def close(self) -> None:
        self.closed = True
        self.notify()


def run_worker(share: Callable[..., Any], mail: Any, thread: int, threads: int, arrays: tuple[Any, ...], bed: WorkerGate) -> None:
    """The life of a worker."""
    while not bed.closed:
        bed.wait(mail, share(mail, thread, threads, False, *arrays))
