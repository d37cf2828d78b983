"""Checkpoints of exact searches: solved positions on disk, from which a long search resumes after an interruption.

A checkpoint is an .npz file with the description of the search (JSON) and the solved positions with their fronts, in their
memory layout. A resumed search starts at the root again and finds them in its table. Only the positions of the current path
are lost.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidFile
from momagames.files.npz_data import read_npz, write_npz

SCHEMA = 2
INTERVAL_SECONDS = 60.0


@dataclass(frozen=True)
class Checkpoint:
    """File of a checkpoint and the interval at which it is written.

    path       file; if it exists the search resumes from it
    interval   seconds between two writes
    """

    path: Path
    interval: float = INTERVAL_SECONDS

    def load(self) -> tuple[dict[str, Any], NDArray[np.uint64]] | None:
        """Load the description of the search and the words of the solved positions, or return None if there is no file.

        Raises InvalidFile if the file cannot be read
        """
        if not self.path.exists():
            return None
        header, arrays = read_npz(self.path, SCHEMA, "checkpoint of a search")
        pool = arrays.get("pool", np.zeros(0))
        if pool.dtype != np.uint64 or pool.ndim != 1:
            raise InvalidFile(f"{self.path}: not a checkpoint of a search: its pool is {pool.dtype}{list(pool.shape)}")
        return header, pool

    def save(self, header: dict[str, Any], pool: NDArray[np.uint64]) -> None:
        """Replace the file atomically."""
        write_npz(self.path, SCHEMA, header, {"pool": pool})


class CheckpointWriter:
    """Writes a checkpoint at its interval, and spends at most a tenth of the time on it."""

    def __init__(self, checkpoint: Checkpoint | None) -> None:
        self._checkpoint = checkpoint
        self._due = time.monotonic() + (checkpoint.interval if checkpoint else 0.0)

    @property
    def is_due(self) -> bool:
        """Whether `save_if_due` writes the file."""
        return self._checkpoint is not None and time.monotonic() >= self._due

    def save_if_due(self, header: dict[str, Any], pool: NDArray[np.uint64]) -> None:
        if self._checkpoint is None or not self.is_due:
            return
        started = time.monotonic()
        self._checkpoint.save(header, pool)
        ended = time.monotonic()
        self._due = ended + max(self._checkpoint.interval, 9 * (ended - started))
