"""Returns and lengths of episodes, counted once for every step in every API."""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.wrappers.introspection import reward_spec_of
from momagames.wrappers.reward_spec import RewardSpec
from momagames.wrappers.transforms import compiled_loops

Arrays = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]  # returns, moves and steps


class EpisodeStatistics:
    """The running episodes of N environments.

    returns   float64[N, A, K], sums of the rewards
    moves     int64[N, A], actions of each agent
    steps     int64[N], environment steps
    stored    returns, moves and steps of the last finished episodes: arrays of those that finished in one step, newest last
    """

    def __init__(self, spec: RewardSpec, count: int, buffer_length: int) -> None:
        self.spec = spec
        self.returns = np.zeros((count, *spec.shape))
        self.moves = np.zeros((count, len(spec.agents)), np.int64)
        self.steps = np.zeros(count, np.int64)
        self.stored: deque[Arrays] = deque()
        self.num_stored, self.buffer_length = 0, buffer_length

    def __deepcopy__(self, memo: dict[int, Any]) -> EpisodeStatistics:
        other = copy.copy(self)
        for name in ("returns", "moves", "steps", "stored"):
            setattr(other, name, getattr(self, name).copy())  # stored episodes do not change
        return other

    def restart(self, chosen: NDArray[Any]) -> None:
        """Start new episodes in these environments, bool[N] or indices."""
        for array in (self.returns, self.moves, self.steps):
            array[chosen] = 0

    def add(self, reward: NDArray[Any], acting: NDArray[np.bool_], moved: NDArray[np.bool_]) -> None:
        """Add a step: reward[N, A, K]; acting bool[N, A], agents that acted; moved bool[N], environments that stepped."""
        compiled_loops().add_step(self.returns, self.moves, self.steps, reward, acting, moved)

    def entry(self, env: int, agent: int) -> dict[str, Any]:
        """Return the entry of an agent for infos[agent]["episode"]."""
        returns = self.returns[env, agent]
        return {
            "r": float(returns[0]) if self.spec.scalar else returns.copy(),
            "l": int(self.moves[env, agent]),
            "steps": int(self.steps[env]),
        }

    def close(self) -> None:
        """Store the finished episode of a single environment."""
        self._store(self.returns.copy(), self.moves.copy(), self.steps.copy())

    def finish(self, ended: NDArray[np.bool_], count: int) -> Arrays:
        """Store the `count` finished episodes, bool[N], and start new ones; return copies of the sums before that."""
        sums = np.empty_like(self.returns), np.empty_like(self.moves), np.empty_like(self.steps)
        finished = (
            np.empty((count, *self.spec.shape)), np.empty((count, self.spec.shape[0]), np.int64), np.empty(count, np.int64)
        )  # fmt: skip
        compiled_loops().finish_episodes(ended, self.returns, self.moves, self.steps, *sums, *finished)
        self._store(*finished)
        return sums

    def _store(self, *finished: Any) -> None:
        stored = self.stored
        stored.append(finished)
        self.num_stored += len(finished[-1])
        while stored and self.num_stored - len(stored[0][-1]) >= self.buffer_length:
            self.num_stored -= len(stored.popleft()[-1])

    def drop_last(self) -> None:
        """Forget the last stored episode of a single environment."""
        if self.stored:
            self.num_stored -= len(self.stored.pop()[-1])

    @property
    def episodes(self) -> list[dict[str, Any]]:
        """The last finished episodes, newest last: {"r": {agent: return}, "l": {agent: moves}, "steps": steps}."""
        agents = self.spec.agents
        episodes = [
            {
                "r": dict(zip(agents, returns[:, 0].tolist() if self.spec.scalar else returns.copy(), strict=True)),
                "l": dict(zip(agents, moves.tolist(), strict=True)),
                "steps": int(steps),
            }
            for finished in self.stored
            for returns, moves, steps in zip(*finished, strict=True)
        ]
        return episodes[-self.buffer_length :]


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
