"""Wrappers of PettingZoo parallel environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pettingzoo.utils import BaseParallelWrapper

from momagames.adapters.parallel import MultiObjectiveParallel
from momagames.contract import State
from momagames.engine.flat_rows import FlatRows
from momagames.wrappers import observations
from momagames.wrappers.common import ONE, AgentRewardWrapper, AgentWrapper
from momagames.wrappers.episodes import StatisticsWrapper
from momagames.wrappers.flatten import MASK, AgentSpaces, FlattenAgents
from momagames.wrappers.introspection import IllegalOverride, find_acting_agent, reward_spec_of
from momagames.wrappers.recording import ReplayRecorder
from momagames.wrappers.transforms import Scalarize


class Wrapper(AgentWrapper, BaseParallelWrapper):  # type: ignore[misc]
    """A parallel wrapper whose text is its name and what is inside."""

    changes_observations = False

    def peek(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        """Return what step(actions) of this wrapper would return, without changing anything.

        Raises     as step() and clone() do
        """
        result: tuple[Any, ...] = self._make_twin().step(actions)
        return result

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
        observed = self._observe_states() if self.transform.needs_states else None
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        if rewards:
            over = all(terminations[agent] or truncations[agent] for agent in rewards)
            transformed = self._apply_transform(rewards, over, observed)
            infos = self._add_vectors(infos, rewards)
            rewards = {agent: transformed[agent] for agent in rewards}
        return observations, rewards, terminations, truncations, infos


class RecordEpisodeStatistics(StatisticsWrapper, Wrapper):  # type: ignore[misc]
    """Adds return and length of the episode to the infos of a finished agent."""

    def __init__(self, env: Any, buffer_length: int, gamma: float | None) -> None:
        super().__init__(env, buffer_length, gamma)
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
            self.statistics.close()
        return observations, rewards, terminations, truncations, infos


class HandleIllegal(IllegalOverride, Wrapper):
    """Sets the effect of illegal actions."""


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

    changes_observations = True

    def __init__(self, env: Any, key: str, place: str | None) -> None:
        super().__init__(env, key, place)
        self._rows, inner = None, env
        while isinstance(inner, Wrapper) and not inner.changes_observations:
            inner = inner.env
        if type(inner) is MultiObjectiveParallel and not inner.game.sequential:
            self._rows, self._inner = FlatRows(inner.game, self._flat[inner.possible_agents[0]].fields), inner
            self._index = {agent: i for i, agent in enumerate(inner.possible_agents)}

    def _flatten(self, observations: dict[str, Any]) -> dict[str, Any]:
        if self._rows is None:
            return {agent: self._flat[agent].flatten(one, one[MASK]) for agent, one in observations.items()}
        rows = self._rows.flatten(self._inner.aec_env.episode.observations)
        if len(observations) < len(rows):
            rows = rows[[self._index[agent] for agent in observations]]
        flat = self._flat.values()
        return {
            agent: one.add_mask(row, observations[agent][MASK])
            for agent, one, row in zip(observations, flat, rows)  # noqa: B905 - all agents have the same form
        }

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._flatten(observations), self._flatten_infos(infos, observations)

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        flat, infos = self._flatten(observations), self._flatten_infos(infos, observations)
        return flat, rewards, terminations, truncations, infos

    def _flatten_infos(self, infos: dict[str, Any], observations: dict[str, Any]) -> dict[str, Any]:
        return {agent: self._flat[agent].flatten_info(info, observations[agent][MASK]) for agent, info in infos.items()}


class ObservationWrapper(AgentSpaces, Wrapper):  # type: ignore[misc]
    """Changes observations."""

    changes_observations = True

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        seen, infos = self.env.reset(seed=seed, options=options)
        self._start_episode()
        return {agent: self._change(agent, one) for agent, one in seen.items()}, infos

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        seen, *others = self.env.step(actions)
        return {agent: self._change(agent, one) for agent, one in seen.items()}, *others

    def _start_episode(self) -> None:
        """Forget the last episode."""

    def _change(self, agent: str, observation: Any) -> Any:
        raise NotImplementedError


class FrameStack(ObservationWrapper):
    """Stacks the observations of each agent, see `momagames.wrappers.observations`."""

    def __init__(self, env: Any, stack_size: int) -> None:
        super().__init__(env)
        self._frames = observations.FrameStack(env, stack_size)
        self.spaces = self._frames.spaces
        self._start_episode, self._change = self._frames.clear, self._frames.push  # type: ignore[method-assign]


class AgentIndicator(ObservationWrapper):
    """Adds the agent to its observations, see `momagames.wrappers.observations`."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._indicator = observations.AgentIndicator(env)
        self.spaces = self._indicator.spaces
        self._change = self._indicator.add  # type: ignore[method-assign]


class BlackDeath(Wrapper):
    """All agents stay until the episode ends, see `momagames.wrappers.BlackDeath`."""

    changes_observations = True

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._nothing = reward_spec_of(env).nothing
        self.agents: list[str] = []

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        seen, infos = self.env.reset(seed=seed, options=options)
        self.agents = list(self.env.possible_agents) if self.env.agents else []
        return self._fill(seen, self._absent), self._fill(infos, lambda agent: {})

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        agents = self.env.agents
        seen, rewards, _, truncations, infos = self.env.step({agent: actions[agent] for agent in agents if agent in actions})
        over = not self.env.agents
        cut = over and any(truncations.values())
        results = (
            self._fill(seen, self._absent),
            self._fill(rewards, lambda agent: np.array(self._nothing) if np.ndim(self._nothing) else self._nothing),
            dict.fromkeys(self.agents, over and not cut),
            dict.fromkeys(self.agents, cut),
            self._fill(infos, lambda agent: {}),
        )
        if over:
            self.agents = []
        return results

    def _fill(self, values: dict[str, Any], make: Callable[[str], Any]) -> dict[str, Any]:
        """Return the values of all agents in order, with new ones of those that have left."""
        return {agent: values[agent] if agent in values else make(agent) for agent in self.agents}

    def _absent(self, agent: str) -> Any:
        return observations.make_absent_observation(self.env.observation_space(agent))


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
