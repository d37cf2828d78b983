"""A parallel game as one Gymnasium environment, played by one joint agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from momagames.contract import Objective, join_mask, read_integers, read_numbers, split_mask
from momagames.errors import InvalidCall, InvalidParameter, check_choice
from momagames.wrappers.common import reward_space
from momagames.wrappers.introspection import find_acting_agent, reward_spec_of
from momagames.wrappers.reward_spec import RewardSpec

JOINT = "joint"  # the name of the agent
REWARDS = ("sum", "mean", "each")
OBSERVATIONS = ("state", "agents")


class Centralize(gymnasium.Env[Any, Any]):
    """A joint agent for all agents; see `momagames.wrappers.Centralize`."""

    def __init__(
        self, env: Any, reward: Literal["sum", "mean", "each"] = "sum", observation: Literal["state", "agents"] = "state"
    ) -> None:
        check_choice("reward", reward, REWARDS)
        check_choice("observation", observation, OBSERVATIONS)
        self.env, self._order = env, list(env.possible_agents)
        self._source = reward_spec_of(env)
        self.reward_spec, self._join = make_joint_reward(self._source, reward)
        self.metadata = {"name": f"centralized {env}", **env.metadata}
        self.render_mode = getattr(env, "render_mode", None)
        self._parts = [_part_sizes(env.action_space(agent), agent) for agent in self._order]
        sizes = [size for parts in self._parts for size in parts]
        self.action_space = spaces.MultiDiscrete(sizes)
        self._sizes = tuple(sizes)
        self._is_simple = all(isinstance(env.action_space(agent), spaces.Discrete) for agent in self._order)
        observed = [env.observation_space(agent) for agent in self._order]
        self._has_masks = all(isinstance(space, spaces.Dict) and "action_mask" in space.spaces for space in observed)
        self._takes_turns = not env.metadata.get("is_parallelizable", False)
        self._central = observation == "state"
        self.observation_space = _state_space(env) if self._central else self._agents_space()
        self.reward_space = reward_space(self.reward_spec, 0)
        self.reward_dim = len(self.reward_spec.objectives)
        self._started = False

    def _agents_space(self) -> spaces.Dict:
        return spaces.Dict({agent: self.env.observation_space(agent) for agent in self._order})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        observations, infos = self.env.reset(seed=seed, options=options)
        self._observations = {agent: _zero_observation(self.env.observation_space(agent)) for agent in self._order} | dict(
            observations
        )
        self._started = True
        self._playing = bool(self.env.agents)
        return self._observation(), self._info(infos)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Apply the parts of the joint action of all live agents (sequential games: only that of the agent to move)."""
        if not self._started or not self._playing:
            raise InvalidCall(
                f"step() {'after the end of the episode' if self._started else 'before reset()'}: call reset() first"
            )
        observations, rewards, _, truncations, infos = self.env.step(self._split_action(action))
        self._observations.update(observations)
        self._playing = bool(self.env.agents)
        cut = not self._playing and any(truncations.values())
        joint = self._join(self._source.gather(rewards)[0])
        reward = float(joint[0]) if self.reward_spec.scalar else joint.astype(np.float32)
        return self._observation(), reward, not self._playing and not cut, cut, self._info(infos)

    def _split_action(self, action: Any) -> dict[str, Any]:
        """Return the action of each live agent."""
        shape = (len(self._sizes),)
        given = read_integers(action, len(self._sizes))
        if given is None or given.shape != shape:
            array = read_numbers(action)
            found = f"={action!r:.60}" if array is None else f" of shape {array.shape} of {array.dtype}"
            raise InvalidParameter(
                f"invalid joint action{found}: expected integers of shape {shape}, the parts of "
                f"{', '.join(self._order)} in this order"
            )
        if self._is_simple:
            return {agent: part for agent, part in zip(self._order, given.tolist(), strict=True) if agent in self.env.agents}
        divided, start = {}, 0
        for agent, parts in zip(self._order, self._parts, strict=True):
            part = given[start : start + len(parts)]
            start += len(parts)
            if agent in self.env.agents:
                simple = isinstance(self.env.action_space(agent), spaces.Discrete)
                divided[agent] = int(part[0]) if simple else part
        return divided

    def _observation(self) -> Any:
        if self._central:
            return self.env.state()
        return {agent: self._observations[agent] for agent in self._order}

    def _info(self, infos: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Return the infos of the agents, `active_agent` in a sequential game, and `action_mask` if masks are observed.

        The mask is a tuple of the masks of the parts, the form that `action_space.sample` accepts.
        """
        info: dict[str, Any] = {"agents": infos}
        if self._takes_turns:
            active = next((one["active_agent"] for one in infos.values() if "active_agent" in one), None)
            if active is None:  # with numeric_infos
                active = find_acting_agent(self.env, infos)
            if active is not None:
                info["active_agent"] = active
        if self._has_masks:
            if self._is_simple:
                info["action_mask"] = tuple([self._observations[agent]["action_mask"] for agent in self._order])
            else:
                info["action_mask"] = tuple(split_mask(self.action_masks(), self._sizes))
        return info

    def action_masks(self) -> NDArray[np.int8]:
        """Return the last observed masks of all agents one after the other, int8[sum of all parts]."""
        masks = [self._observations[agent]["action_mask"] for agent in self._order]
        return np.concatenate(masks if self._is_simple else [join_mask(mask) for mask in masks], dtype=np.int8)

    def get_state(self) -> dict[str, Any]:
        """Return the position as JSON-serializable data."""
        state: dict[str, Any] = self.env.get_state()
        return state

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()

    def __str__(self) -> str:
        return f"Centralize<{self.env}>"


Join = Callable[[NDArray[Any]], NDArray[Any]]


def make_joint_reward(source: RewardSpec, reward: str) -> tuple[RewardSpec, Join]:
    """Return the rewards of the joint agent, and the function reward[A, K] -> [K'] that computes them."""
    count = len(source.agents)
    if reward == "each":
        if source.scalar:
            raise InvalidCall("reward='each' needs reward vectors: apply Scalarize after Centralize")
        objectives = tuple(replace(o, name=f"{agent}.{o.name}") for agent in source.agents for o in source.objectives)
        low, high = source.low.reshape(1, -1), source.high.reshape(1, -1)
        return RewardSpec((JOINT,), (0,), objectives, low, high), np.ravel
    share = count if reward == "sum" else 1
    objectives = tuple(_scale_objective(o, share) for o in source.objectives)
    low, high = (bound.mean(axis=0, keepdims=True) * share for bound in (source.low, source.high))
    return RewardSpec((JOINT,), (0,), objectives, low, high, source.scalar), _sum_rewards if reward == "sum" else _mean_reward


def _sum_rewards(rewards: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(rewards.sum(axis=0))


def _mean_reward(rewards: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(rewards.mean(axis=0))


def _scale_objective(o: Objective, count: int) -> Objective:
    return replace(
        o, low=o.low * count, high=o.high * count, return_low=o.return_low * count, return_high=o.return_high * count
    )


def _part_sizes(space: Any, agent: str) -> list[int]:
    """Return the sizes of the parts of the action of an agent."""
    if isinstance(space, spaces.Discrete) and space.start == 0:
        return [int(space.n)]
    if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1:
        return [int(n) for n in space.nvec]
    raise InvalidParameter(f"Centralize needs Discrete or MultiDiscrete actions that count from 0; {agent} has {space}")


def _zero_observation(space: spaces.Space[Any]) -> Any:
    """Return zeros: the observation of an agent that had already left at the start position of the episode."""
    if isinstance(space, spaces.Dict):
        return {name: _zero_observation(part) for name, part in space.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_zero_observation(part) for part in space)
    return np.zeros(space.shape or (), space.dtype)


def _state_space(env: Any) -> spaces.Space[Any]:
    space = getattr(env, "state_space", None) or getattr(env, "central_observation_space", None)
    if not isinstance(space, spaces.Space):
        raise InvalidParameter(f"{env} declares no space of state(): use observation='agents'")
    return space
