"""Threads of PyTorch, and kernels on as many threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise


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


def run_in_parts(run: Callable[[int, int], None], count: int) -> None:
    """Call run(start, end) for parts of range(count), one on each thread of PyTorch. `run` must call a kernel without the GIL.

    Every thread must write to memory of its own, so that results do not depend on the number of threads.
    """
    import torch

    threads = torch.get_num_threads()
    if threads == 1:
        run(0, count)
        return
    marks = [count * i // threads for i in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(run, *part) for part in pairwise(marks)]:
            future.result()
