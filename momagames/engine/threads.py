"""Jobs on several threads: compiled code that works without the GIL, on memory of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import chain, pairwise

SMALLEST_WORK = 512  # rows of a call that repay a second thread: about a millisecond of work

Job = Callable[[], None]
_here = threading.local()  # whether this thread works on a job


def run_jobs(jobs: Sequence[Job], threads: int) -> None:
    """Run all jobs, on up to this number of threads, each of which takes the next one when it has finished one.

    The calling thread takes the first one. A job must spend its time in code without the GIL, and write to memory of its own,
    so that results do not depend on the number of threads. Jobs that start jobs run them on their own thread.
    """
    others = min(threads, len(jobs)) - 1
    if others < 1 or getattr(_here, "is_working", False):
        for job in jobs:
            job()
        return
    pending = iter(jobs[1:])

    def work(first: Sequence[Job]) -> None:
        _here.is_working = True
        try:
            for job in chain(first, pending):
                job()
        finally:
            _here.is_working = False

    futures = [_make_pool(threads - 1, os.getpid()).submit(work, ()) for _ in range(others)]
    try:
        work(jobs[:1])
    finally:
        for future in futures:
            future.result()


def run_in_parts(run: Callable[[int, int], None], rows: int, threads: int, smallest: int | None = None) -> None:
    """Call run(start, end) for parts of range(rows), one on each thread; see `run_jobs`.

    smallest    number of rows below which the calling thread works alone; None: SMALLEST_WORK
    """
    count = threads if rows >= (SMALLEST_WORK if smallest is None else smallest) else 1
    run_jobs([partial(run, *part) for part in pairwise(rows * i // count for i in range(count + 1))], threads)


@cache
def _make_pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return the threads of this process, which are kept: to start one takes as long as a small part."""
    return ThreadPoolExecutor(threads)
