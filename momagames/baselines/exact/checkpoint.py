"""Solved positions kept on disk, so that a long search can be broken off and go on later.

A checkpoint is an .npz file: what was searched (JSON), and the solved positions with their fronts, as they lie in memory. A
search that goes on begins at the root again and finds them in its table; positions in hand are lost, a path of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.npz_io import read_npz, write_npz
from momagames.errors import InvalidFile

SCHEMA = 2
EVERY = 60.0  # seconds


@dataclass(frozen=True)
class Checkpoint:
    """Where solved positions are kept, and how often.

    path     of the file; if it is there the search goes on from it
    every    seconds from one writing to the next
    """

    path: Path
    every: float = EVERY

    def load(self) -> tuple[dict[str, Any], NDArray[np.uint64]] | None:
        """What was searched, and the words of the solved positions; None without a file. InvalidFile if it cannot be read."""
        if not self.path.exists():
            return None
        head, arrays = read_npz(self.path, SCHEMA, "checkpoint of a search")
        pool = arrays.get("pool", np.zeros(0))
        if pool.dtype != np.uint64 or pool.ndim != 1:
            raise InvalidFile(f"{self.path}: not a checkpoint of a search: its pool is {pool.dtype}{list(pool.shape)}")
        return head, pool

    def save(self, head: dict[str, Any], pool: NDArray[np.uint64]) -> None:
        """Write all, aside first."""
        write_npz(self.path, SCHEMA, head, {"pool": pool})


class CheckpointWriter:
    """Writes a checkpoint when it is time, and not more than a tenth of the time."""

    def __init__(self, checkpoint: Checkpoint | None) -> None:
        self._to = checkpoint
        self._due = time.monotonic() + (checkpoint.every if checkpoint else 0.0)

    def look(self, head: dict[str, Any], pool: NDArray[np.uint64]) -> None:
        if self._to is None or time.monotonic() < self._due:
            return
        began = time.monotonic()
        self._to.save(head, pool)
        ended = time.monotonic()
        self._due = ended + max(self._to.every, 9 * (ended - began))
