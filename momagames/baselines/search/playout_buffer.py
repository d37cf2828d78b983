"""What a search by playouts brings home: batches of complete games, and the plans of them that none dominates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import Archive
from momagames.baselines.base import Plan
from momagames.contract import Game

BATCH = 512  # complete games between two looks at the archive


class Batch(NamedTuple):
    """Complete games, as compiled loops write them.

    moves     int32[B, T], the actions
    lengths   int64[B], how many of them
    values    float64[B, K], the returns
    found     int64[B], steps of the engine that had been made
    """

    moves: NDArray[np.int32]
    lengths: NDArray[np.int64]
    values: NDArray[np.float64]
    found: NDArray[np.int64]


class PlayoutBuffer:
    """A batch to be filled, and the archive that it goes to."""

    def __init__(self, game: Game) -> None:
        goals = len(game.objectives)
        self.batch = Batch(
            np.empty((BATCH, game.max_episode_steps), np.int32),
            np.empty(BATCH, np.int64),
            np.empty((BATCH, goals)),
            np.empty(BATCH, np.int64),
        )
        self.archive = Archive(goals)
        self.games = 0

    def bring(self, count: int, label: str) -> None:
        """Take in the first `count` games of the batch."""
        batch = self.batch

        def plan(i: int) -> Plan:
            actions = batch.moves[i, : batch.lengths[i]].tolist()
            return Plan(tuple(actions), batch.values[i].copy(), int(batch.found[i]), label)

        self.games += count
        self.archive.add(batch.values[:count], plan)
