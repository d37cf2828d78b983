"""Threads of PyTorch, and kernels on several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise

SMALLEST_WORK = 512  # rows of a call that repay a second thread: about a millisecond of work


@contextmanager
def use_torch_threads(count: int) -> Iterator[None]:
    """Let PyTorch use this number of threads, and the former number afterwards."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def run_in_parts(run: Callable[[int, int], None], rows: int, threads: int) -> None:
    """Call run(start, end) for parts of range(rows), one on each thread. `run` must call a kernel without the GIL.

    Every thread must write to memory of its own, so that results do not depend on the number of threads. Few rows are left to
    the calling thread alone.
    """
    if threads == 1 or rows < SMALLEST_WORK:
        run(0, rows)
        return
    marks = [rows * i // threads for i in range(threads + 1)]
    own, *others = pairwise(marks)
    pool = _make_pool(threads - 1, os.getpid())
    futures = [pool.submit(run, *part) for part in others]
    run(*own)
    for future in futures:
        future.result()


@cache
def _make_pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return the threads of this process, which are kept: to start one takes as long as a small part."""
    return ThreadPoolExecutor(threads)
