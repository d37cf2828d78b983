"""Buffers for the observations of all agents, reused when unreferenced.

Four agents see some sixty arrays a step, and creating an array object takes longer than filling it. CPython counts the
references to every object, and in NumPy each view of memory references its owner. If the counts are what they were when
only the pool had the arrays, a buffer is free. Observations that a caller keeps, or a view of a part of one, never change:
the pool then creates another buffer.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game

BUFFERS = 3  # loops hold the observations before and after a step


class ObservationBuffer:
    """Memory for the observations of all agents, uint8[V, B], and its fields by name for each agent."""

    def __init__(self, game: Game, views: int) -> None:
        self.memory = np.zeros((views, game.observation_bytes), np.uint8)
        self.rows = [game.observation_views(row) for row in self.memory]
        self._fields = [field for row in self.rows for field in row.values()]
        self._free_counts = (0, 0)
        self._free_counts = self._count_references()

    def _count_references(self) -> tuple[int, int]:
        return max(map(getrefcount, self._fields)), getrefcount(self.memory)

    @property
    def is_free(self) -> bool:
        """True if no caller references any part of this."""
        return self._count_references() == self._free_counts


class ObservationPool:
    """Buffers that are handed out in turn."""

    def __init__(self, game: Game, views: int) -> None:
        self._game, self._views = game, views
        self._buffers = [ObservationBuffer(game, views) for _ in range(BUFFERS)]
        self._last = 0

    def copy_fields(self, observations: NDArray[np.uint8]) -> list[dict[str, NDArray[Any]]]:
        """Copy observations, uint8[V, B], to a free buffer; return its fields by name for each agent (not to be changed)."""
        self._last = i = (self._last + 1) % BUFFERS
        if not self._buffers[i].is_free:
            self._buffers[i] = ObservationBuffer(self._game, self._views)
        buffer = self._buffers[i]
        buffer.memory[:] = observations
        return buffer.rows
