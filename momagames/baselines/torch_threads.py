"""Threads of PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


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
