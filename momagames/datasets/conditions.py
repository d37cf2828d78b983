"""What cloned networks are conditioned on: K numbers for each decision, and the numbers that a policy for weights asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from momagames.datasets.shards import Shard

BEST_SHARE = 0.1  # of the episodes, whose mean return a policy asks for


class Conditions(Protocol):
    """Conditions of a network."""

    def find(self, shard: int) -> NDArray[np.float32]:
        """Return the conditions of the decisions of each agent in each episode of a file of data, float32[E, A, K]."""

    def choose(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the condition of the policy for these weights of the objectives, float64[K]."""


class WeightConditions:
    """The weights of the objectives of the policy that plays; equal weights for one without."""

    def __init__(self, shards: Sequence[tuple[Shard, NDArray[np.float32]]]) -> None:
        self._shards = shards

    def find(self, shard: int) -> NDArray[np.float32]:
        episodes, preferences = self._shards[shard]
        found = preferences[episodes.policies]
        equal = np.float32(1 / preferences.shape[1])
        return np.where(np.isnan(found), equal, found)

    def choose(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return weights


class ReturnConditions:
    """The return of the agent in the episode, minus the mean of the data, divided by its standard deviation."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = shards
        returns = np.concatenate([shard.returns.reshape(-1, shard.returns.shape[2]) for shard in shards])
        deviations = returns.std(axis=0)
        self._mean, self._scale = returns.mean(axis=0), np.where(deviations > 0, deviations, 1.0)
        self._scores: NDArray[np.float64] = (returns - self._mean) / self._scale

    def find(self, shard: int) -> NDArray[np.float32]:
        scaled: NDArray[np.float64] = (self._shards[shard].returns - self._mean) / self._scale
        return scaled.astype(np.float32)

    def choose(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        count = max(1, round(len(self._scores) * BEST_SHARE))
        best = np.argsort(-(self._scores @ weights), kind="stable")[:count]
        mean: NDArray[np.float64] = self._scores[best].mean(axis=0)
        return mean
