"""Decisions of agents as rows, for learners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.datasets.replaying import Block
from momagames.datasets.shards import Shard


@dataclass(frozen=True)
class Decisions:
    """R decisions: a row for each agent that acts in a step, and has not left the game.

    rows             uint8[R, B], bytes of the observations; `observations` has them by field
    masks            int8[R, M], legal actions
    agents           int64[R], index of the agent
    actions          int64[R, P]
    rewards          float32[R, K], of the agent from this step up to its next decision, or to the end
    returns_to_go    float32[R, K], of the agent from this step to the end
    returns          float32[R, K], of the agent in the whole episode
    preferences      float32[R, K], weights of the objectives of its policy; NaN for one without
    episodes         int64[R], number of the episode in the dataset;  steps int64[R], the step in the episode
    is_last          bool[R], whether it is the last decision of the agent in the episode
    states           record[R], or None; they hold what is hidden from the agent
    """

    game: Game
    rows: NDArray[np.uint8]
    masks: NDArray[np.int8]
    agents: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    returns_to_go: NDArray[np.float32]
    returns: NDArray[np.float32]
    preferences: NDArray[np.float32]
    episodes: NDArray[np.int64]
    steps: NDArray[np.int64]
    is_last: NDArray[np.bool_]
    states: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def observations(self) -> dict[str, NDArray[Any]]:
        """Observations by field, [R, ...]."""
        return self.game.observation_views(self.rows)

    def select(self, chosen: NDArray[np.int64]) -> Decisions:
        """Return some of the decisions, by index int64[n]."""
        arrays: dict[str, Any] = {name: one[chosen] for name, one in vars(self).items() if isinstance(one, np.ndarray)}
        return replace(self, **arrays)


def iterate_decisions(
    game: Game, shard: Shard, blocks: Iterable[Block], preferences: NDArray[np.float32], first: int,
    batch_size: int, rng: np.random.Generator | None,
) -> Iterator[Decisions]:  # fmt: skip
    """Yield the decisions of the episodes of a file of data in batches, in a random order within each block with `rng`.

    preferences    float32[policies, K]
    first          number of the first episode of the file in the dataset
    """
    for block in blocks:
        found = collect_decisions(game, shard, block, preferences)
        found = replace(found, episodes=found.episodes + first)
        order = np.arange(len(found)) if rng is None else rng.permutation(len(found))
        for start in range(0, len(order), batch_size):
            yield found.select(order[start : start + batch_size])


def collect_decisions(game: Game, shard: Shard, block: Block, preferences: NDArray[np.float32]) -> Decisions:
    """Return the decisions of a block in the order of episodes, steps and agents; `episodes` counts in the file of data."""
    steps, count, agents = block.rewards.shape[:3]
    left = np.zeros((steps, count, agents), np.bool_)  # before the step
    left[1:] = block.terminated[:-1]
    is_acting = (np.arange(steps)[:, None] < block.lengths)[:, :, None]
    is_acting = is_acting & ~np.take_along_axis(left, block.agents[:-1], axis=2)
    n, t, v = is_acting.swapaxes(0, 1).nonzero()
    acting = block.agents[t, n, v]
    to_go = np.cumsum(block.rewards[::-1].astype(np.float64), axis=0)[::-1]
    own_to_go = to_go[t, n, acting]
    # the next decision of the same agent in the same episode
    order = np.lexsort((t, acting, n))
    follows = (np.diff(n[order]) == 0) & (np.diff(acting[order]) == 0)
    later = np.zeros_like(own_to_go)
    later[order[:-1][follows]] = own_to_go[order[1:][follows]]
    is_last = np.ones(len(n), np.bool_)
    is_last[order[:-1][follows]] = False
    episodes = block.first + n
    return Decisions(
        game, block.observations[t, n, v], block.masks[t, n, v], acting, block.actions[t, n, v],
        (own_to_go - later).astype(np.float32), own_to_go.astype(np.float32),
        shard.returns[episodes, acting].astype(np.float32), preferences[shard.policies[episodes, acting]],
        episodes, t, is_last, None if block.states is None else block.states[t, n],
    )  # fmt: skip
