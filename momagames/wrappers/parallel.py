"""Wrappers of PettingZoo parallel environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from pettingzoo.utils import BaseParallelWrapper

from momagames.contract import State
from momagames.wrappers.common import ONE, AgentRewardWrapper
from momagames.wrappers.episodes import StatisticsWrapper
from momagames.wrappers.flatten import MASK, FlattenAgents
from momagames.wrappers.introspection import find_acting_agent, override_illegal
from momagames.wrappers.recording import ReplayRecorder
from momagames.wrappers.transforms import Scalarize


class Wrapper(BaseParallelWrapper):  # type: ignore[misc]
    """A parallel wrapper whose text is its name and what is inside."""

    def __str__(self) -> str:
        return f"{type(self).__name__}<{self.env}>"


class RewardWrapper(AgentRewardWrapper, Wrapper):  # type: ignore[misc]
    """Transforms rewards; the dicts of the inner environment are not modified.

    Scalarize also adds the vector as infos[agent]["vector_reward"], zeros at the start.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        observations, infos = self.env.reset(seed=seed, options=options)
        self.transform.restart(ONE)
        spec = self.transform.source
        return observations, self._add_vectors(infos, {agent: np.zeros(spec.shape[1], spec.dtype) for agent in infos})

    def _add_vectors(self, infos: dict[str, Any], vectors: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(self.transform, Scalarize):
            return infos
        return {agent: {**info, "vector_reward": vectors[agent]} for agent, info in infos.items()}

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        observed = self._observe_states()
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        if rewards:
            over = all(terminations[agent] or truncations[agent] for agent in rewards)
            reward, spec = self._apply_transform(rewards, over, observed), self.reward_spec
            infos = self._add_vectors(infos, rewards)
            rewards = {agent: spec.reward_for(reward, spec.index[agent]) for agent in rewards}
        return observations, rewards, terminations, truncations, infos


class RecordEpisodeStatistics(StatisticsWrapper, Wrapper):  # type: ignore[misc]
    """Adds return and length of the episode to the infos of a finished agent."""

    def __init__(self, env: Any, buffer_length: int) -> None:
        super().__init__(env, buffer_length)
        self._acting_agent: str | None = None  # the agent to move in a sequential game

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        observations, infos = self.env.reset(seed=seed, options=options)
        self.statistics.restart(ONE)
        self._acting_agent = find_acting_agent(self.env, infos)
        return observations, infos

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        if not rewards:
            return observations, rewards, terminations, truncations, infos
        moved = [agent in rewards and self._acting_agent in (None, agent) for agent in self.reward_spec.agents]
        self.statistics.add(self.reward_spec.gather(rewards), np.array([moved]), ONE)
        self._acting_agent = find_acting_agent(self.env, infos)
        done = [agent for agent in rewards if terminations[agent] or truncations[agent]]
        if done:
            entries = {agent: self.statistics.entry(0, self.reward_spec.agents.index(agent)) for agent in done}
            infos = {a: {**info, "episode": entries[a]} if a in entries else info for a, info in infos.items()}
        if len(done) == len(rewards):
            self.statistics.close(0)
        return observations, rewards, terminations, truncations, infos


class HandleIllegal(Wrapper):
    """Sets the effect of illegal actions."""

    def __init__(self, env: Any, policy: str) -> None:
        super().__init__(env)
        self.policy = policy

    def step(self, actions: dict[str, Any]) -> Any:
        with override_illegal(self.env, self.policy):
            return self.env.step(actions)


class FixedInstance(Wrapper):
    """Starts every episode from one position."""

    def __init__(self, env: Any, start: State, seed: int) -> None:
        super().__init__(env)
        self.start = start

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        result: tuple[Any, Any] = self.env.reset(seed=seed, options={"state": self.start, "keep_rng": True, **(options or {})})
        return result


class Flatten(FlattenAgents, Wrapper):  # type: ignore[misc]
    """Flattens observations, see `momagames.wrappers.flatten`."""

    def _flatten(self, observations: dict[str, Any]) -> dict[str, Any]:
        return {agent: self._flat[agent].flatten(one, one[MASK]) for agent, one in observations.items()}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._flatten(observations), self._flatten_infos(infos, observations)

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        flat, infos = self._flatten(observations), self._flatten_infos(infos, observations)
        return flat, rewards, terminations, truncations, infos

    def _flatten_infos(self, infos: dict[str, Any], observations: dict[str, Any]) -> dict[str, Any]:
        return {agent: self._flat[agent].flatten_info(info, observations[agent][MASK]) for agent, info in infos.items()}


class RecordReplay(Wrapper):
    """Writes episodes to files, see `momagames.wrappers.recording`."""

    def __init__(self, env: Any, recorder: ReplayRecorder) -> None:
        super().__init__(env)
        self.recorder = recorder

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        result: tuple[Any, Any] = self.recorder.reset(lambda: self.env.reset(seed=seed, options=options), seed)
        return result

    def step(self, actions: dict[str, Any]) -> Any:
        result = self.env.step(actions)
        self.recorder.record_step(not self.env.agents)
        return result

    def close(self) -> None:
        self.recorder.close()
        self.env.close()
