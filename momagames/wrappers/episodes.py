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

Arrays = tuple[NDArray[Any], ...]  # returns, discounted returns, moves and steps


class EpisodeStatistics:
    """The running episodes of N environments.

    returns   float64[N, A, K], sums of the rewards
    moves     int64[N, A], actions of each agent
    steps     int64[N], environment steps
    gamma     discount for each environment step of `discounted`, None without these
    discounted
              float64[N, A, K], discounted sums of the rewards; without rows if there is no gamma
    stored    the same of the last finished episodes: arrays of those that finished in one step, newest last
    """

    def __init__(self, spec: RewardSpec, count: int, buffer_length: int, gamma: float | None) -> None:
        self.spec, self.gamma = spec, gamma
        self.returns = np.zeros((count, *spec.shape))
        self.discounted = np.zeros((0 if gamma is None else count, *spec.shape))
        self.moves = np.zeros((count, len(spec.agents)), np.int64)
        self.steps = np.zeros(count, np.int64)
        self.stored: deque[Arrays] = deque()
        self.num_stored, self.buffer_length = 0, buffer_length

    def __deepcopy__(self, memo: dict[int, Any]) -> EpisodeStatistics:
        other = copy.copy(self)
        for name in ("returns", "discounted", "moves", "steps", "stored"):
            setattr(other, name, getattr(self, name).copy())  # stored episodes do not change
        return other

    def restart(self, chosen: NDArray[Any]) -> None:
        """Start new episodes in these environments, bool[N] or indices."""
        for array in (self.returns, self.moves, self.steps):
            array[chosen] = 0
        if self.gamma is not None:
            self.discounted[chosen] = 0

    def add(self, reward: NDArray[Any], acting: NDArray[np.bool_], moved: NDArray[np.bool_]) -> None:
        """Add a step: reward[N, A, K]; acting bool[N, A], agents that acted; moved bool[N], environments that stepped."""
        compiled_loops().add_step(*self.sums, self.gamma or 0.0, reward, acting, moved)

    @property
    def sums(self) -> Arrays:
        return self.returns, self.discounted, self.moves, self.steps

    def entry(self, env: int, agent: int) -> dict[str, Any]:
        """Return the entry of an agent for infos[agent]["episode"]."""
        entry = {"r": self._return_of(self.returns[env, agent])}
        if self.gamma is not None:
            entry["dr"] = self._return_of(self.discounted[env, agent])
        return entry | {"l": int(self.moves[env, agent]), "steps": int(self.steps[env])}

    def _return_of(self, returns: NDArray[np.float64]) -> Any:
        return float(returns[0]) if self.spec.scalar else returns.copy()

    def close(self) -> None:
        """Store the finished episode of a single environment."""
        self._store(*(array.copy() for array in self.sums))

    def finish(self, ended: NDArray[np.bool_], count: int) -> Arrays:
        """Store the `count` finished episodes, bool[N], and start new ones; return copies of the sums before that."""
        own = self.sums
        sums = [np.empty_like(array) for array in own]
        finished = [np.empty((min(count, len(array)), *array.shape[1:]), array.dtype) for array in own]
        compiled_loops().finish_episodes(ended, *own, *sums, *finished)
        self._store(*finished)
        return tuple(sums)

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
        """The last finished episodes, newest last: {"r": {agent: return}, "l": {agent: moves}, "steps": steps}.

        With a gamma also {"dr": {agent: discounted return}}.
        """
        episodes = [self._episode(finished, i) for finished in self.stored for i in range(len(finished[-1]))]
        return episodes[-self.buffer_length :]

    def _episode(self, finished: Arrays, i: int) -> dict[str, Any]:
        returns, discounted, moves, steps = finished
        agents, kinds = self.spec.agents, {"r": returns} if self.gamma is None else {"r": returns, "dr": discounted}
        episode: dict[str, Any] = {
            name: {agent: self._return_of(row) for agent, row in zip(agents, array[i], strict=True)}
            for name, array in kinds.items()
        }
        return episode | {"l": dict(zip(agents, moves[i].tolist(), strict=True)), "steps": int(steps[i])}


class StatisticsWrapper:
    """Base of the RecordEpisodeStatistics wrappers of single environments."""

    def __init__(self, env: Any, buffer_length: int, gamma: float | None) -> None:
        super().__init__(env)  # type: ignore[call-arg]
        self.reward_spec = reward_spec_of(env)
        self.statistics = EpisodeStatistics(self.reward_spec, 1, buffer_length, gamma)

    @property
    def episodes(self) -> Any:
        """The last finished episodes, in order."""
        return self.statistics.episodes
