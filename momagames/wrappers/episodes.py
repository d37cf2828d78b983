"""Returns and lengths of episodes, counted once for every step in every API."""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.wrappers.introspection import reward_spec_of
from momagames.wrappers.reward_spec import RewardSpec


class EpisodeStatistics:
    """The running episodes of N environments.

    returns   float64[N, A, K], sums of the rewards
    moves     int64[N, A], actions of each agent
    steps     int64[N], environment steps
    episodes  the last finished episodes, newest last: {"r": {agent: return}, "l": {agent: moves}, "steps": steps}
    """

    def __init__(self, spec: RewardSpec, count: int, buffer_length: int) -> None:
        self.spec = spec
        self.returns = np.zeros((count, *spec.shape))
        self.moves = np.zeros((count, len(spec.agents)), np.int64)
        self.steps = np.zeros(count, np.int64)
        self.episodes: deque[dict[str, Any]] = deque(maxlen=buffer_length)

    def __deepcopy__(self, memo: dict[int, Any]) -> EpisodeStatistics:
        other = copy.copy(self)
        for name in ("returns", "moves", "steps", "episodes"):
            setattr(other, name, getattr(self, name).copy())  # stored episodes do not change
        return other

    def restart(self, chosen: NDArray[np.bool_]) -> None:
        """Start new episodes in these environments, bool[N]."""
        for array in (self.returns, self.moves, self.steps):
            array[chosen] = 0

    def add(self, reward: NDArray[Any], moved: NDArray[np.bool_], stepped: NDArray[np.bool_]) -> None:
        """Add a step: reward[N, A, K]; moved bool[N, A], agents that acted; stepped bool[N], environments that stepped."""
        self.returns += reward
        self.moves += moved
        self.steps += stepped

    def entry(self, env: int, agent: int) -> dict[str, Any]:
        """Return the entry of an agent for infos[agent]["episode"]."""
        returns = self.returns[env, agent]
        return {
            "r": float(returns[0]) if self.spec.scalar else returns.copy(),
            "l": int(self.moves[env, agent]),
            "steps": int(self.steps[env]),
        }

    def close(self, env: int) -> None:
        """Store the finished episode of an environment."""
        entries = {agent: self.entry(env, i) for i, agent in enumerate(self.spec.agents)}
        self.episodes.append(
            {
                "r": {agent: entry["r"] for agent, entry in entries.items()},
                "l": {agent: entry["l"] for agent, entry in entries.items()},
                "steps": int(self.steps[env]),
            }
        )


class StatisticsWrapper:
    """Base of the RecordEpisodeStatistics wrappers of single environments."""

    def __init__(self, env: Any, buffer_length: int) -> None:
        super().__init__(env)  # type: ignore[call-arg]
        self.reward_spec = reward_spec_of(env)
        self.statistics = EpisodeStatistics(self.reward_spec, 1, buffer_length)

    @property
    def episodes(self) -> Any:
        """The last finished episodes, in order."""
        return self.statistics.episodes
