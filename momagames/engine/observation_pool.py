"""What all agents see at once, handed out in arrays that are taken again once nobody holds them.

Four agents see some sixty arrays a step, and to make an array object takes longer than to fill it. CPython counts who holds
an object, and NumPy lets every view of memory hold its owner: if the counts are what they were when nobody had the arrays,
nobody has them. Whoever keeps observations, or a view of a part of one, keeps them unchanged: others are then made.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game

SETS = 3  # loops hold what was seen before the step, and after it


class Copies:
    """A copy of the observations of all agents: uint8[V, B], its fields for each agent, and how often they are held."""

    def __init__(self, game: Game, views: int) -> None:
        self.memory = np.zeros((views, game.observation_bytes), np.uint8)
        self.rows = [tuple(game.observation_views(row).values()) for row in self.memory]
        self._fields = [field for row in self.rows for field in row]
        self._free = (0, 0)
        self._free = self._held()

    def _held(self) -> tuple[int, int]:
        return max(map(getrefcount, self._fields)), getrefcount(self.memory)

    @property
    def free(self) -> bool:
        """Whether nobody else holds any part of this."""
        return self._held() == self._free


class Shown:
    """Hands out copies, in turn."""

    def __init__(self, game: Game, views: int) -> None:
        self._game, self._views = game, views
        self._copies = [Copies(game, views) for _ in range(SETS)]
        self._last = 0

    def of(self, observations: NDArray[np.uint8]) -> list[tuple[NDArray[Any], ...]]:
        """For each agent its fields, in the order of the game, as they are in observations, uint8[V, B]."""
        self._last = number = (self._last + 1) % SETS
        if not self._copies[number].free:
            self._copies[number] = Copies(self._game, self._views)
        copies = self._copies[number]
        copies.memory[:] = observations
        return copies.rows
