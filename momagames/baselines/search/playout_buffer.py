"""Buffer of the complete games of a playout search, and the archive of their non-dominated plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import Archive
from momagames.baselines.base import Plan
from momagames.contract import Game

BATCH_GAMES = 512  # complete games between two updates of the archive


class Batch(NamedTuple):
    """Complete games, written by compiled loops.

    moves     int32[B, T], the actions
    lengths   int64[B], the number of actions
    values    float64[B, K], the returns
    steps     int64[B], environment steps of the search when the game was complete
    """

    moves: NDArray[np.int32]
    lengths: NDArray[np.int64]
    values: NDArray[np.float64]
    steps: NDArray[np.int64]


class PlayoutBuffer:
    """A batch of games and the archive that it is flushed to."""

    def __init__(self, game: Game) -> None:
        num_objectives = len(game.objectives)
        self.batch = Batch(
            np.empty((BATCH_GAMES, game.max_episode_steps), np.int32),
            np.empty(BATCH_GAMES, np.int64),
            np.empty((BATCH_GAMES, num_objectives)),
            np.empty(BATCH_GAMES, np.int64),
        )
        self.archive = Archive(num_objectives)
        self.num_games = 0

    def flush(self, count: int, label: str, prefix: Sequence[int] = (), gained: NDArray[np.float64] | float = 0.0) -> None:
        """Add the first `count` games of the batch to the archive.

        prefix, gained   the actions before the position where these games began, and their return, float64[K]
        """
        batch, values = self.batch, self.batch.values[:count] + gained

        def plan(i: int) -> Plan:
            actions = batch.moves[i, : batch.lengths[i]].tolist()
            return Plan((*prefix, *actions), values[i].copy(), int(batch.steps[i]), label)

        self.num_games += count
        self.archive.add(values, plan)
