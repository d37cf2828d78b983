"""Wrappers of PettingZoo AEC environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from pettingzoo.utils import BaseWrapper

from momagames.contract import State
from momagames.wrappers import observations
from momagames.wrappers.common import NONE, ONE, AgentRewardWrapper, AgentWrapper
from momagames.wrappers.episodes import StatisticsWrapper
from momagames.wrappers.flatten import MASK, AgentSpaces, FlattenAgents
from momagames.wrappers.introspection import IllegalOverride
from momagames.wrappers.recording import ReplayRecorder
from momagames.wrappers.transforms import Scalarize, Transform


def _has_left(env: Any, agent: str) -> bool:
    return bool(env.terminations[agent] or env.truncations[agent])


def _is_over(env: Any) -> bool:
    terminations, truncations = env.terminations, env.truncations
    for agent in env.agents:  # noqa: SIM110 - the first one mostly decides: a generator costs more than this loop
        if not (terminations[agent] or truncations[agent]):
            return False
    return True


def _step_finished_agent(env: Any, action: Any) -> bool:
    """Take the last step of an agent; return whether the environment then started again, as in PettingZoo's MultiEpisodeEnv."""
    was_over = _is_over(env)
    env.step(action)
    return was_over and not _is_over(env)


def _has_advanced(env: Any, mover: str) -> bool:
    """Return whether a simultaneous game moved: only the last action of a round moves it, or a forfeit."""
    order = env.possible_agents  # the mover is the last agent of the round
    if not env.agents or order.index(env.agent_selection) <= order.index(mover):
        return True
    return any(_has_left(env, agent) for agent in env.agents)  # none had before: finished agents step first


class Wrapper(AgentWrapper, BaseWrapper):  # type: ignore[misc]
    """An AEC wrapper that reads the inner environment directly: PettingZoo's finds each of these by a failing look-up first."""

    agents = property(lambda self: self.env.agents)
    agent_selection = property(lambda self: self.env.agent_selection)
    terminations = property(lambda self: self.env.terminations)
    truncations = property(lambda self: self.env.truncations)

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._is_sequential = not env.metadata.get("is_parallelizable")

    def last(self, observe: bool = True) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        result: tuple[Any, Any, bool, bool, dict[str, Any]] = self.env.last(observe)
        return result

    def peek(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Return what last() of this wrapper would return after step(action), without changing anything.

        Raises     as step(), last() and clone() do
        """
        twin = self._make_twin()
        twin.step(action)
        return twin.last()


class RewardWrapper(AgentRewardWrapper, Wrapper):  # type: ignore[misc]
    """Transforms rewards and their sums since the last action of each agent.

    The transform is applied once for every step of the game, never in last(). The inner environment is not modified.
    Scalarize also adds the vector of the reward of last() as infos[agent]["vector_reward"], zeros at the start.
    """

    def __init__(self, env: Any, transform: Transform) -> None:
        self._infos: dict[str, dict[str, Any]] = {}  # with the vectors, made when they are read
        super().__init__(env, transform)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed=seed, options=options)
        self._start_episode()

    def _start_episode(self) -> None:
        self.transform.restart(ONE)
        self._cumulative_rewards = dict.fromkeys(self.reward_spec.agents, self.reward_spec.nothing)
        self._set_rewards(self._zeros())

    def step(self, action: Any) -> None:
        mover = getattr(self.env, "agent_selection", None)
        if mover is None or not self.env.agents:  # before reset() or after the end: the environment raises
            self.env.step(action)
            return
        if _has_left(self.env, mover):
            if _step_finished_agent(self.env, action):
                self._start_episode()
            else:
                self._set_rewards(self._zeros())
            return
        observed = self._observe_states() if self.transform.needs_states else None
        self.env.step(action)
        self._cumulative_rewards[mover] = self.reward_spec.nothing
        if self._is_sequential or _has_advanced(self.env, mover):
            over = self.transform.needs_context and _is_over(self.env)
            self._set_rewards(self._apply_transform(self.env.rewards, over, observed))
        else:
            self._set_rewards(self._zeros())

    def _zeros(self) -> dict[str, Any]:
        return self.reward_spec.split(np.zeros((1, *self.reward_spec.shape), self.reward_spec.dtype))

    def _set_rewards(self, rewards: dict[str, Any]) -> None:
        """Set `rewards` of the live agents and add them to the sums, as new objects: last() may have returned the old ones."""
        totals, agents = self._cumulative_rewards, self.env.agents
        self.rewards = rewards if len(agents) == len(rewards) else {agent: rewards[agent] for agent in agents}
        self._cumulative_rewards = {agent: totals[agent] + rewards[agent] for agent in agents}
        self._infos = {}

    def last(self, observe: bool = True) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, vector, terminated, truncated, info = self.env.last(observe)
        agent = self.env.agent_selection
        reward = self._cumulative_rewards[agent]
        if isinstance(self.transform, Scalarize):
            if agent not in self._infos:
                self._infos[agent] = {**info, "vector_reward": np.array(vector)}
            return observation, reward, terminated, truncated, self._infos[agent]
        return observation, reward if self.reward_spec.scalar else reward.copy(), terminated, truncated, info

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """The infos of the agents; the same objects until the next step."""
        inner: dict[str, dict[str, Any]] = self.env.infos
        if not isinstance(self.transform, Scalarize):
            return inner
        vectors = self.env._cumulative_rewards
        for agent in inner.keys() - self._infos.keys():
            self._infos[agent] = {**inner[agent], "vector_reward": np.array(vectors[agent])}
        return {agent: self._infos[agent] for agent in inner}


class RecordEpisodeStatistics(StatisticsWrapper, Wrapper):  # type: ignore[misc]
    """Adds return and length of the episode to the infos of a finished agent."""

    def __init__(self, env: Any, buffer_length: int, gamma: float | None) -> None:
        super().__init__(env, buffer_length, gamma)
        self._finished: dict[str, dict[str, Any]] = {}
        agents = self.reward_spec.agents
        self._moved = dict(zip(agents, np.eye(len(agents), dtype=np.bool_)[:, None], strict=True))  # bool[1, A] by agent
        self._no_rewards = self.reward_spec.gather({})

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
        if self._is_sequential or _has_advanced(self.env, mover):
            self.statistics.add(self.reward_spec.gather(self.env.rewards), self._moved[mover], ONE)
        else:
            self.statistics.add(self._no_rewards, self._moved[mover], NONE)
        self._store_finished()

    def _continue_episode(self) -> None:
        """Go on with the stored episode, which is one until the next reset()."""
        self._finished = {}
        if self.statistics.steps[0]:
            self.statistics.drop_last()

    def _store_finished(self) -> None:
        """Store the finished agents, and the episode when all agents have finished."""
        if not (True in self.env.terminations.values() or True in self.env.truncations.values()):
            return
        left = [agent for agent in self.env.agents if _has_left(self.env, agent)]
        for agent in left:
            if agent not in self._finished:
                self._finished[agent] = self.statistics.entry(0, self.reward_spec.index[agent])
        if left and len(left) == len(self.env.agents) and self.statistics.steps[0]:
            self.statistics.close()

    def last(self, observe: bool = True) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        result: tuple[Any, Any, bool, bool, dict[str, Any]] = self.env.last(observe)
        if self.env.agent_selection not in self._finished:
            return result
        return *result[:4], {**result[4], "episode": self._finished[self.env.agent_selection]}


class HandleIllegal(IllegalOverride, Wrapper):
    """Sets the effect of illegal actions."""


class FixedInstance(Wrapper):
    """Starts every episode from one position."""

    def __init__(self, env: Any, start: State, seed: int) -> None:
        super().__init__(env)
        self.start = start

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed=seed, options={"state": self.start, "keep_rng": True, **(options or {})})


class Flatten(FlattenAgents, Wrapper):  # type: ignore[misc]
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


class ObservationWrapper(AgentSpaces, Wrapper):  # type: ignore[misc]
    """Changes observations."""

    def last(self, observe: bool = True) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        _, *others = self.env.last(observe=False)
        return (self.observe(self.env.agent_selection) if observe else None, *others)  # type: ignore[return-value]


class FrameStack(ObservationWrapper):
    """Stacks the observations of each agent at its turns, see `momagames.wrappers.observations`."""

    def __init__(self, env: Any, stack_size: int) -> None:
        super().__init__(env)
        self._frames = observations.FrameStack(env, stack_size)
        self.spaces = self._frames.spaces

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed=seed, options=options)
        self._frames.clear()
        self._push()

    def step(self, action: Any) -> None:
        self.env.step(action)
        self._push()

    def _push(self) -> None:
        if self.env.agents:
            agent = self.env.agent_selection
            self._frames.push(agent, self.env.observe(agent))

    def observe(self, agent: str) -> Any:
        observation = self.env.observe(agent)
        is_acting = self.env.agents and agent == self.env.agent_selection
        return self._frames.replace_last(agent, observation) if is_acting else self._frames.add(agent, observation)


class AgentIndicator(ObservationWrapper):
    """Adds the agent to its observations, see `momagames.wrappers.observations`."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._indicator = observations.AgentIndicator(env)
        self.spaces = self._indicator.spaces

    def observe(self, agent: str) -> Any:
        return self._indicator.add(agent, self.env.observe(agent))


class RecordReplay(Wrapper):
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
