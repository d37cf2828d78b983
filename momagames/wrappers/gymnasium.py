"""Wrappers of Gymnasium environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec, WrapperSpec
from numpy.typing import NDArray

from momagames.adapters.options import keep_numeric
from momagames.contract import State
from momagames.errors import InvalidCall
from momagames.wrappers.common import ONE, RewardWrapperBase, reward_space
from momagames.wrappers.episodes import EpisodeStatistics
from momagames.wrappers.flatten import MASK, FlatObservation
from momagames.wrappers.introspection import override_illegal, reward_spec_of
from momagames.wrappers.recording import ReplayRecorder
from momagames.wrappers.reward_spec import layers
from momagames.wrappers.transforms import Scalarize, Transform

Step = tuple[Any, Any, bool, bool, dict[str, Any]]


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
        outer = WrapperSpec(self.name, f"momagames.wrappers:{self.name}", self.recipe)
        spec: EnvSpec = type(inner)(**{**_spec_fields(inner), "additional_wrappers": (*inner.additional_wrappers, outer)})
        return spec

    def __str__(self) -> str:
        return f"{self.name}<{self.env}>"

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the inner environment (`game`, `get_state`), as wrappers of PettingZoo do."""
        if name.startswith("_") or "env" not in self.__dict__:
            raise AttributeError(name)
        return self.env.get_wrapper_attr(name)


def _spec_fields(spec: EnvSpec) -> dict[str, Any]:
    names = [name for name, field in type(spec).__dataclass_fields__.items() if field.init]
    return {name: getattr(spec, name) for name in names}


class RewardWrapper(RewardWrapperBase, Wrapper):
    """Transforms rewards. Scalarize also adds the vector as info["vector_reward"], as MO-Gymnasium does, zeros at the start."""

    def __init__(self, env: Any, transform: Transform, recipe: dict[str, Any]) -> None:
        Wrapper.__init__(self, env)
        self.recipe = recipe
        self._set_transform(transform)

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

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self.transform.restart(ONE)
        if isinstance(self.transform, Scalarize):
            spec = self.transform.source
            info = {**info, "vector_reward": np.zeros(spec.shape[1], spec.dtype)}
        return observation, info

    def step(self, action: Any) -> Step:
        observed = self._observe_states()
        observation, reward, terminated, truncated, info = self.env.step(action)
        rewards = self._apply_transform({self.reward_spec.agents[0]: reward}, terminated or truncated, observed)
        if isinstance(self.transform, Scalarize):
            info = {**info, "vector_reward": reward}
        return observation, self.reward_spec.reward_for(rewards, 0), terminated, truncated, info


class RecordEpisodeStatistics(Wrapper):
    """Adds return and length of the episode to info["episode"] at its end."""

    name = "RecordEpisodeStatistics"

    def __init__(self, env: Any, buffer_length: int) -> None:
        super().__init__(env)
        self.recipe = {"buffer_length": buffer_length}
        self.reward_spec = reward_spec_of(env)
        self.statistics = EpisodeStatistics(self.reward_spec, 1, buffer_length)

    @property
    def episodes(self) -> Any:
        """The last finished episodes, in order."""
        return self.statistics.episodes

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        result = self.env.reset(seed=seed, options=options)
        self.statistics.restart(ONE)
        return result

    def step(self, action: Any) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.statistics.add(self.reward_spec.gather({self.reward_spec.agents[0]: reward}), np.ones((1, 1), np.bool_), ONE)
        if terminated or truncated:
            info = {**info, "episode": self.statistics.entry(0, 0)}
            self.statistics.close(0)
        return observation, reward, terminated, truncated, info


class HandleIllegal(Wrapper):
    """Sets the effect of illegal actions."""

    name = "HandleIllegal"

    def __init__(self, env: Any, policy: str) -> None:
        super().__init__(env)
        self.recipe = {"policy": policy}
        self.policy = policy

    def step(self, action: Any) -> Step:
        with override_illegal(self.env, self.policy):
            return self.env.step(action)


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

    def __init__(self, env: Any, key: str) -> None:
        super().__init__(env)
        self.recipe = {"key": key}
        self._flat = FlatObservation(env.observation_space, env.action_space, key)
        self.observation_space = self._flat.space

    def _flatten(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        flat = self._flat.flatten(observation, info[MASK])
        return flat, keep_numeric({**info, MASK: flat[MASK]})

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
        self.recipe = {name: getattr(recorder, name) for name in names}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        result: tuple[Any, dict[str, Any]] = self.recorder.reset(lambda: self.env.reset(seed=seed, options=options), seed)
        return result

    def step(self, action: Any) -> Step:
        result = self.env.step(action)
        self.recorder.record_step()
        return result
