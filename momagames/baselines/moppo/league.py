"""A league of earlier versions of the network, of which those that are hard to beat play most.

Source: prioritized fictitious self-play, Vinyals and others, "Grandmaster level in StarCraft II using multi-agent reinforcement
learning", Nature 575, 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXPONENT = 2  # of the share of games that a version does not lose, in its probability to play
MEMORY = 0.5  # what earlier results of a version count when it is drawn again


class League:
    """Versions of the network from all of the training, and how the learning agents do against them.

    first       arrays of the first version
    size        number of versions
    interval    updates between two new versions, which replace the oldest ones of a full league

    versions    arrays of each version; the first one in free places
    results     float64[size, 2]: games that the learning agents won, ties as half, and games, recent ones weighted more
    entered     int64[1], number of versions that have entered
    """

    def __init__(self, first: Mapping[str, NDArray[Any]], size: int, interval: int) -> None:
        self.interval = interval
        self.versions = [dict(first) for _ in range(size)]
        self.results, self.entered = np.zeros((size, 2)), np.ones(1, np.int64)

    def enter(self, version: Mapping[str, NDArray[Any]]) -> None:
        """Add a version in the place of the oldest one."""
        place = int(self.entered[0]) % len(self.versions)
        self.versions[place], self.results[place] = dict(version), 0.0
        self.entered += 1

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the versions that play next, int64[count]."""
        wins, games = self.results[: int(self.entered[0])].T
        priorities = (1 - (wins + 0.5) / (games + 1)) ** EXPONENT
        drawn = rng.choice(len(priorities), count, p=priorities / priorities.sum())
        self.results[np.unique(drawn)] *= MEMORY
        return drawn

    def record(self, versions: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """Add games of the learning agents against versions int64[n]: 1 won, 0.5 tied, 0 lost, float64[n]."""
        np.add.at(self.results, versions, np.stack([scores, np.ones(len(scores))], axis=1))


def score_games(
    returns: NDArray[np.float64], weights: NDArray[np.float32], is_learning: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return 1, 0.5 or 0 for each game: whether the utility of the learning agents is above, at or below the highest other one.

    returns, weights    scaled, [n, A, K]; all are valued with the weights of the learning agents of the game
    is_learning         bool[n, A], some and not all of each game
    """
    own = np.where(is_learning[:, :, None], weights, 0).sum(axis=1) / is_learning.sum(axis=1)[:, None]
    utilities = (returns * own[:, None]).sum(axis=2)
    best = np.where(is_learning, utilities, -np.inf).max(axis=1), np.where(is_learning, -np.inf, utilities).max(axis=1)
    return np.asarray((np.sign(best[0] - best[1]) + 1) / 2)
