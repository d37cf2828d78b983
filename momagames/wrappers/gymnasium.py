"""Wrappers of Gymnasium environments."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec, WrapperSpec
from numpy.typing import NDArray

from momagames.adapters.gymnasium import SingleAgentEnv
from momagames.adapters.specs import DataSpec
from momagames.contract import State
from momagames.errors import InvalidCall
from momagames.wrappers.common import ONE, RewardWrapperBase, reward_space
from momagames.wrappers.episodes import StatisticsWrapper
from momagames.wrappers.flatten import MASK, FlatObservation
from momagames.wrappers.introspection import IllegalOverride
from momagames.wrappers.recording import ReplayRecorder
from momagames.wrappers.reward_spec import layers
from momagames.wrappers.transforms import Scalarize, Transform

Step = tuple[Any, Any, bool, bool, dict[str, Any]]
EFFECTS = ("RecordVideo", "HumanRendering")  # wrappers of Gymnasium that write files or open windows


class Wrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A Gymnasium wrapper that `env.spec` can make again.

    recipe   keyword arguments of the function in `momagames.wrappers` with the name of this wrapper
    """

    name: str
    recipe: dict[str, Any]

    @property
    def spec(self) -> EnvSpec | None:  # type: ignore[override]
        inner = self.env.spec
        if inner is None:
            return None
        if self.name == Scalarize.__name__:  # made by these arguments of gymnasium.make, which would scalarize once more
            options = {name: value for name, value in inner.kwargs.items() if name not in ("weights", "utility")}
            inner = replace(inner, kwargs=options)
        outer = WrapperSpec(self.name, f"momagames.wrappers:{self.name}", self.recipe)
        return DataSpec.from_spec(inner, outer)

    def clone(self) -> Self:
        """Return an independent copy of the wrappers and the environment, see `SingleAgentEnv.clone`.

        Raises     InvalidCall if a policy or a wrapper cannot be copied, or for another environment
        """
        env = self._find_single_agent_env("clone()")
        copied = env.clone()
        return self._copy_around({id(env): copied, id(env.episode.log): copied.episode.log})

    def peek(self, action: Any) -> Step:
        """Return what step(action) of this wrapper would return, without changing anything; see `SingleAgentEnv.peek`.

        Raises     as step() and clone()
        """
        env = self._find_single_agent_env("peek()")
        twin = env.refresh_twin()
        twin.np_random.bit_generator.state = env.np_random.bit_generator.state  # of HandleIllegal(env, "random")
        known: dict[int, Any] = {id(env): twin}
        for value in (value for layer in layers(self) for value in vars(layer).values()):
            if isinstance(value, (gymnasium.Space, EnvSpec, FlatObservation)):
                known[id(value)] = value  # does not change
            elif isinstance(value, ReplayRecorder):
                known[id(value)] = value.copy_without_recording()
        return self._copy_around(known).step(action)

    def _find_single_agent_env(self, call: str) -> SingleAgentEnv:
        """Return the environment inside all wrappers."""
        for layer in layers(self):
            if isinstance(layer, SingleAgentEnv):
                return layer
            if type(layer).__name__ in EFFECTS:
                raise InvalidCall(
                    f"{call} through {type(layer).__name__}, whose copy would act, too: put that wrapper outermost"
                )
        raise InvalidCall(f'{call} needs an environment made by momagames.make(id, api="gymnasium"), got {self}')

    def _copy_around(self, known: dict[int, Any]) -> Self:
        """Return a copy of the wrappers with the known copies, by id of the original."""
        try:
            return copy.deepcopy(self, known)
        except Exception as error:
            raise InvalidCall(f"the wrappers of {self} cannot be copied ({type(error).__name__}: {error})") from error

    def __str__(self) -> str:
        return f"{self.name}<{self.env}>"

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the inner environment (`game`, `get_state`), as wrappers of PettingZoo do."""
        if name.startswith("_") or "env" not in self.__dict__:
            raise AttributeError(name)
        return self.env.get_wrapper_attr(name)


class RewardWrapper(RewardWrapperBase, Wrapper):
    """Transforms rewards. Scalarize also adds the vector as info["vector_reward"], as MO-Gymnasium does, zeros at the start."""

    def __init__(self, env: Any, transform: Transform) -> None:
        Wrapper.__init__(self, env)
        self._set_transform(transform)

    @property
    def recipe(self) -> dict[str, Any]:  # type: ignore[override]
        """The arguments of the transform as it is now."""
        return self.transform.arguments()

    def _set_transform(self, transform: Transform) -> None:
        super()._set_transform(transform)
        self.name = transform.name
        self.reward_space = reward_space(self.reward_spec, 0)
        self.reward_dim = len(self.reward_spec.objectives)

    @property
    def unwrapped(self) -> Any:
        """The environment of the game, or this wrapper if it changes the reward vector.

        MO-Gymnasium's wrappers and MORL learners read the length of the vector from `env.unwrapped.reward_space`.
        """
        if self.reward_spec.scalar:
            return next(layer for layer in layers(self) if not isinstance(layer, gymnasium.Wrapper))
        return self.env.unwrapped if self.reward_spec.names == self.transform.source.names else self

    def pareto_front(self, gamma: float = 1.0) -> None:
        """Return None: the front of transformed rewards is not known."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self.transform.restart(ONE)
        if isinstance(self.transform, Scalarize):
            spec = self.transform.source
            info = {**info, "vector_reward": np.zeros(spec.shape[1], spec.dtype)}
        return observation, info

    def step(self, action: Any) -> Step:
        observed = self._observe_states() if self.transform.needs_states else None
        observation, reward, terminated, truncated, info = self.env.step(action)
        agent = self.reward_spec.agents[0]
        transformed = self._apply_transform({agent: reward}, terminated or truncated, observed)[agent]
        if isinstance(self.transform, Scalarize):
            info = {**info, "vector_reward": reward}
        return observation, transformed, terminated, truncated, info


class RecordEpisodeStatistics(StatisticsWrapper, Wrapper):
    """Adds return and length of the episode to info["episode"] at its end."""

    name = "RecordEpisodeStatistics"

    def __init__(self, env: Any, buffer_length: int, gamma: float | None) -> None:
        super().__init__(env, buffer_length, gamma)
        self.recipe = {"buffer_length": buffer_length, "gamma": gamma}
        self._resets_in_step = any(isinstance(layer, gymnasium.wrappers.Autoreset) for layer in layers(env))
        self._is_over = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        result = self.env.reset(seed=seed, options=options)
        self._start_episode()
        return result

    def _start_episode(self) -> None:
        self.statistics.restart(ONE)
        self._is_over = False

    def step(self, action: Any) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self._is_over:  # the environment has started again by itself
            self._start_episode()
            if self._resets_in_step:
                return observation, reward, terminated, truncated, info
        self.statistics.add(self.reward_spec.gather({self.reward_spec.agents[0]: reward}), np.ones((1, 1), np.bool_), ONE)
        if terminated or truncated:
            info = {**info, "episode": self.statistics.entry(0, 0)}
            self.statistics.close()
            self._is_over = True
        return observation, reward, terminated, truncated, info


class HandleIllegal(IllegalOverride, Wrapper):
    """Sets the effect of illegal actions."""

    name = "HandleIllegal"

    def __init__(self, env: Any, policy: str) -> None:
        super().__init__(env, policy)
        self.recipe = {"policy": policy}


class FixedInstance(Wrapper):
    """Starts every episode from one position."""

    name = "FixedInstance"

    def __init__(self, env: Any, start: State, seed: int) -> None:
        super().__init__(env)
        self.recipe = {"seed": seed}
        self.start = start

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        result: tuple[Any, dict[str, Any]] = self.env.reset(
            seed=seed, options={"state": self.start, "keep_rng": True, **(options or {})}
        )
        return result


class TabularObservation(Wrapper):
    """Replaces an observation by its index in the order of first occurrence."""

    name = "TabularObservation"

    def __init__(self, env: Any, limit: int) -> None:
        super().__init__(env)
        self.recipe = {"limit": limit}
        self.limit = limit
        self.observation_space = gymnasium.spaces.MultiDiscrete([limit])
        self.indices: dict[bytes, int] = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return self._get_index(observation), info

    def step(self, action: Any) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._get_index(observation), reward, terminated, truncated, info

    def _get_index(self, observation: Any) -> NDArray[np.int64]:
        content = np.asarray(gymnasium.spaces.flatten(self.env.observation_space, observation)).tobytes()
        if content not in self.indices:
            if len(self.indices) == self.limit:
                raise InvalidCall(
                    f"there are more than limit={self.limit} observations: choose a larger limit or a smaller game"
                )
            self.indices[content] = len(self.indices)
        return np.array([self.indices[content]])


class Flatten(Wrapper):
    """Flattens observations and adds the mask of the infos, see `momagames.wrappers.flatten`."""

    name = "Flatten"

    def __init__(self, env: Any, key: str, place: str | None) -> None:
        super().__init__(env)
        self.recipe = {"key": key, "mask": place}
        self._flat = FlatObservation(env.observation_space, env.action_space, key, place)
        self.observation_space = self._flat.space

    def _flatten(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        flat, others = self._flat.flatten(observation, info[MASK]), {name: info[name] for name in info if name != MASK}
        infos = self._flat.flatten_info(others, info[MASK])
        return flat, {**infos, MASK: flat[MASK]} if self._flat.place == "observation" else infos

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return self._flatten(*self.env.reset(seed=seed, options=options))

    def step(self, action: Any) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        flat, infos = self._flatten(observation, info)
        return flat, reward, terminated, truncated, infos


class RecordReplay(Wrapper):
    """Writes episodes to files, see `momagames.wrappers.recording`."""

    name = "RecordReplay"

    def __init__(self, env: Any, recorder: ReplayRecorder) -> None:
        super().__init__(env)
        self.recorder = recorder
        names = ("folder", "formats", "name", "when", "fps")
        self.recipe = {name: getattr(recorder, name) for name in names} | {"frames": recorder.between}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        result: tuple[Any, dict[str, Any]] = self.recorder.reset(lambda: self.env.reset(seed=seed, options=options), seed)
        return result

    def step(self, action: Any) -> Step:
        result = self.env.step(action)
        self.recorder.record_step(result[2] or result[3])
        return result

    def close(self) -> None:
        self.recorder.close()
        self.env.close()
