"""Wrappers of PettingZoo AEC environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from pettingzoo.utils import BaseWrapper

from momagames.contract import State
from momagames.wrappers.common import ONE, AgentRewardWrapper
from momagames.wrappers.episodes import StatisticsWrapper
from momagames.wrappers.flatten import MASK, FlattenAgents
from momagames.wrappers.introspection import override_illegal
from momagames.wrappers.recording import ReplayRecorder
from momagames.wrappers.transforms import Scalarize, Transform


def _has_left(env: Any, agent: str) -> bool:
    return bool(env.terminations[agent] or env.truncations[agent])


def _is_over(env: Any) -> bool:
    return all(_has_left(env, agent) for agent in env.agents)


def _step_finished_agent(env: Any, action: Any) -> bool:
    """Take the last step of an agent; return whether the environment then started again, as in PettingZoo's MultiEpisodeEnv."""
    was_over = _is_over(env)
    env.step(action)
    return was_over and not _is_over(env)


def _has_advanced(env: Any, mover: str) -> bool:
    """Return whether the game moved: in simultaneous games only the last action of a round moves it, or a forfeit."""
    if not env.metadata.get("is_parallelizable"):
        return True
    order = env.possible_agents  # the mover is the last agent of the round
    if not env.agents or order.index(env.agent_selection) <= order.index(mover):
        return True
    return any(_has_left(env, agent) for agent in env.agents)  # none had before: finished agents step first


class RewardWrapper(AgentRewardWrapper, BaseWrapper):  # type: ignore[misc]
    """Transforms rewards and their sums since the last action of each agent.

    The transform is applied once for every step of the game, never in last(). The inner environment is not modified.
    Scalarize also adds the vector of the reward of last() as infos[agent]["vector_reward"], zeros at the start.
    """

    def __init__(self, env: Any, transform: Transform) -> None:
        self._infos: dict[str, dict[str, Any]] | None = None
        super().__init__(env, transform)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed=seed, options=options)
        self._start_episode()

    def _start_episode(self) -> None:
        self.transform.restart(ONE)
        self._totals = np.zeros((1, *self.reward_spec.shape), self.reward_spec.dtype)
        self._set_rewards(np.zeros_like(self._totals))

    def step(self, action: Any) -> None:
        mover = getattr(self.env, "agent_selection", None)
        if mover is None or not self.env.agents:  # before reset() or after the end: the environment raises
            self.env.step(action)
            return
        if _has_left(self.env, mover):
            if _step_finished_agent(self.env, action):
                self._start_episode()
            else:
                self._set_rewards(np.zeros_like(self._totals))
            return
        observed = self._observe_states()
        self.env.step(action)
        totals = self._totals.copy()  # last() may have returned rows of the previous array
        totals[0, self.reward_spec.index[mover]] = 0
        if _has_advanced(self.env, mover):
            over = all(_has_left(self.env, agent) for agent in self.env.agents)
            reward = self._apply_transform(self.env.rewards, over, observed)
        else:
            reward = np.zeros_like(totals)
        self._totals = totals + reward
        self._set_rewards(reward)

    def _set_rewards(self, reward: Any) -> None:
        self._infos = None
        spec, agents = self.reward_spec, self.env.agents
        if spec.scalar:
            rewards, totals = reward[0, :, 0].tolist(), self._totals[0, :, 0].tolist()
        else:
            rewards, totals = reward[0], self._totals[0]
        self.rewards = {agent: rewards[spec.index[agent]] for agent in agents}
        self._cumulative_rewards = {agent: totals[spec.index[agent]] for agent in agents}

    def last(self, observe: bool = True) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = self.env.last(observe)
        agent = self.env.agent_selection
        reward = self._cumulative_rewards[agent]
        info = self.infos[agent] if isinstance(self.transform, Scalarize) else info
        return observation, reward if self.reward_spec.scalar else reward.copy(), terminated, truncated, info

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """The infos of the agents; the same objects until the next step."""
        inner: dict[str, dict[str, Any]] = self.env.infos
        if not isinstance(self.transform, Scalarize):
            return inner
        if self._infos is None:
            vectors = self.env._cumulative_rewards
            self._infos = {agent: {**info, "vector_reward": np.array(vectors[agent])} for agent, info in inner.items()}
        return self._infos


class RecordEpisodeStatistics(StatisticsWrapper, BaseWrapper):  # type: ignore[misc]
    """Adds return and length of the episode to the infos of a finished agent."""

    def __init__(self, env: Any, buffer_length: int) -> None:
        super().__init__(env, buffer_length)
        self._finished: dict[str, dict[str, Any]] = {}

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        inner = self.env.infos
        return {a: {**inner[a], "episode": self._finished[a]} if a in self._finished else inner[a] for a in inner}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed=seed, options=options)
        self.statistics.restart(ONE)
        self._finished = {}
        self._store_finished()

    def step(self, action: Any) -> None:
        mover = getattr(self.env, "agent_selection", None)
        if mover is None or not self.env.agents:
            self.env.step(action)
            return
        if _has_left(self.env, mover):
            if _step_finished_agent(self.env, action):
                self._continue_episode()
            return
        self.env.step(action)
        moved = np.array([[agent == mover for agent in self.reward_spec.agents]])
        advanced = _has_advanced(self.env, mover)
        reward = self.reward_spec.gather(self.env.rewards if advanced else {})
        self.statistics.add(reward, moved, np.array([advanced]))
        self._store_finished()

    def _continue_episode(self) -> None:
        """Go on with the stored episode, which is one until the next reset()."""
        self._finished = {}
        if self.statistics.steps[0] and self.statistics.episodes:
            self.statistics.episodes.pop()

    def _store_finished(self) -> None:
        """Store the finished agents, and the episode when all agents have finished."""
        agents = self.env.agents
        for agent in agents:
            if agent not in self._finished and _has_left(self.env, agent):
                self._finished[agent] = self.statistics.entry(0, self.reward_spec.index[agent])
        if all(agent in self._finished for agent in agents) and self.statistics.steps[0]:
            self.statistics.close(0)

    def last(self, observe: bool = True) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, _ = self.env.last(observe)
        return observation, reward, terminated, truncated, self.infos[self.env.agent_selection]


class HandleIllegal(BaseWrapper):  # type: ignore[misc]
    """Sets the effect of illegal actions."""

    def __init__(self, env: Any, policy: str) -> None:
        super().__init__(env)
        self.policy = policy

    def step(self, action: Any) -> None:
        with override_illegal(self.env, self.policy):
            self.env.step(action)


class FixedInstance(BaseWrapper):  # type: ignore[misc]
    """Starts every episode from one position."""

    def __init__(self, env: Any, start: State, seed: int) -> None:
        super().__init__(env)
        self.start = start

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed=seed, options={"state": self.start, "keep_rng": True, **(options or {})})


class Flatten(FlattenAgents, BaseWrapper):  # type: ignore[misc]
    """Flattens observations, see `momagames.wrappers.flatten`."""

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        return {agent: self._flatten_info(agent, info) for agent, info in self.env.infos.items()}

    def _flatten_info(self, agent: str, info: dict[str, Any]) -> dict[str, Any]:
        flat = self._flat[agent]
        return flat.flatten_info(info, self.env.observe(agent)[MASK] if flat.place == "info" else ())

    def observe(self, agent: str) -> Any:
        observation = self.env.observe(agent)
        return self._flat[agent].flatten(observation, observation[MASK])

    def last(self, observe: bool = True) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        _, reward, terminated, truncated, info = self.env.last(observe=False)
        agent = self.env.agent_selection
        return self.observe(agent) if observe else None, reward, terminated, truncated, self._flatten_info(agent, info)


class RecordReplay(BaseWrapper):  # type: ignore[misc]
    """Writes episodes to files, see `momagames.wrappers.recording`."""

    def __init__(self, env: Any, recorder: ReplayRecorder) -> None:
        super().__init__(env)
        self.recorder = recorder

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.recorder.reset(lambda: self.env.reset(seed=seed, options=options), seed)

    def step(self, action: Any) -> None:
        self.env.step(action)
        self.recorder.record_step(_is_over(self.env))

    def close(self) -> None:
        self.recorder.close()
        self.env.close()
