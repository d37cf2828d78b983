"""The wrappers around Gymnasium environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec, WrapperSpec
from numpy.typing import NDArray

from momagames.contract import State
from momagames.errors import InvalidCall
from momagames.wrappers.common import ONE, RewardHost, reward_space
from momagames.wrappers.episodes import Books
from momagames.wrappers.flatten import MASK, Flat, numbers
from momagames.wrappers.kinds import form_of, illegal_means
from momagames.wrappers.recording import Recorder
from momagames.wrappers.reward_spec import layers
from momagames.wrappers.transforms import Scalarize, Transform

Step = tuple[Any, Any, bool, bool, dict[str, Any]]


class Wrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A Gymnasium wrapper that `env.spec` knows how to make again.

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
        spec: EnvSpec = type(inner)(**{**_fields(inner), "additional_wrappers": (*inner.additional_wrappers, outer)})
        return spec

    def __str__(self) -> str:
        return f"{self.name}<{self.env}>"

    def __getattr__(self, name: str) -> Any:
        """As the wrappers of PettingZoo: what we do not have, the inner environment may (`game`, `get_state`)."""
        if name.startswith("_") or "env" not in self.__dict__:
            raise AttributeError(name)
        return self.env.get_wrapper_attr(name)


def _fields(spec: EnvSpec) -> dict[str, Any]:
    names = [name for name, field in type(spec).__dataclass_fields__.items() if field.init]
    return {name: getattr(spec, name) for name in names}


class RewardWrapper(RewardHost, Wrapper):
    """Pays other rewards. Scalarize also puts the vector into info["vector_reward"], as MO-Gymnasium does."""

    def __init__(self, env: Any, transform: Transform, recipe: dict[str, Any]) -> None:
        Wrapper.__init__(self, env)
        self.recipe = recipe
        self._bind(transform)

    def _bind(self, transform: Transform) -> None:
        super()._bind(transform)
        self.name = transform.name
        self.reward_space = reward_space(self.reward_form, 0)
        self.reward_dim = len(self.reward_form.objectives)

    @property
    def unwrapped(self) -> Any:
        """The game's door; this wrapper itself where the reward vector has changed: MO-Gymnasium's wrappers and MORL
        learners take the length of the vector from `env.unwrapped.reward_space`."""
        if self.reward_form.scalar:
            return next(layer for layer in layers(self) if not isinstance(layer, gymnasium.Wrapper))
        return self.env.unwrapped if self.reward_form.names == self.transform.source.names else self

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        result: tuple[Any, dict[str, Any]] = self.env.reset(seed=seed, options=options)
        self.transform.restart(ONE)
        return result

    def step(self, action: Any) -> Step:
        seen = self._look()
        observation, reward, terminated, truncated, info = self.env.step(action)
        paid = self._single({self.reward_form.agents[0]: reward}, terminated or truncated, seen)
        if isinstance(self.transform, Scalarize):
            info = {**info, "vector_reward": reward}
        return observation, self.reward_form.hand_out(paid, 0), terminated, truncated, info


class RecordEpisode(Wrapper):
    """Puts the return and the length of the episode into info["episode"] at its end."""

    name = "RecordEpisode"

    def __init__(self, env: Any, kept: int) -> None:
        super().__init__(env)
        self.recipe = {"kept": kept}
        self.reward_form = form_of(env)
        self.books = Books(self.reward_form, 1, kept)

    @property
    def episodes(self) -> Any:
        """The last finished episodes, newest last."""
        return self.books.episodes

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        result = self.env.reset(seed=seed, options=options)
        self.books.restart(ONE)
        return result

    def step(self, action: Any) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.books.add(self.reward_form.gather({self.reward_form.agents[0]: reward}), np.ones((1, 1), np.bool_), ONE)
        if terminated or truncated:
            info = {**info, "episode": self.books.entry(0, 0)}
            self.books.close(0)
        return observation, reward, terminated, truncated, info


class HandleIllegal(Wrapper):
    """Says what an illegal action does."""

    name = "HandleIllegal"

    def __init__(self, env: Any, how: str) -> None:
        super().__init__(env)
        self.recipe = {"how": how}
        self.how = how

    def step(self, action: Any) -> Step:
        with illegal_means(self.env, self.how):
            return self.env.step(action)


class FixedInstance(Wrapper):
    """Begins every game from one position."""

    name = "FixedInstance"

    def __init__(self, env: Any, start: State, seed: int) -> None:
        super().__init__(env)
        self.recipe = {"seed": seed}
        self.start = start

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        result: tuple[Any, dict[str, Any]] = self.env.reset(seed=seed, options={"state": self.start, **(options or {})})
        return result


class TabularObservation(Wrapper):
    """Shows the number of an observation in place of it."""

    name = "TabularObservation"

    def __init__(self, env: Any, limit: int) -> None:
        super().__init__(env)
        self.recipe = {"limit": limit}
        self.limit = limit
        self.observation_space = gymnasium.spaces.MultiDiscrete([limit])
        self.numbers: dict[bytes, int] = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return self._number(observation), info

    def step(self, action: Any) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._number(observation), reward, terminated, truncated, info

    def _number(self, observation: Any) -> NDArray[np.int64]:
        seen = np.asarray(gymnasium.spaces.flatten(self.env.observation_space, observation)).tobytes()
        if seen not in self.numbers:
            if len(self.numbers) == self.limit:
                raise InvalidCall(
                    f"there are more than limit={self.limit} observations; say a larger one, or take a smaller game"
                )
            self.numbers[seen] = len(self.numbers)
        return np.array([self.numbers[seen]])


class Flatten(Wrapper):
    """Shows one vector of numbers, see `momagames.wrappers.flatten`, and beside it the mask of the infos."""

    name = "Flatten"

    def __init__(self, env: Any, key: str) -> None:
        super().__init__(env)
        self.recipe = {"key": key}
        self._flat = Flat(env.observation_space, env.action_space, key)
        self.observation_space = self._flat.space

    def _shown(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        seen = self._flat.show(observation, info[MASK])
        return seen, numbers({**info, MASK: seen[MASK]})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return self._shown(*self.env.reset(seed=seed, options=options))

    def step(self, action: Any) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        seen, told = self._shown(observation, info)
        return seen, reward, terminated, truncated, told


class Record(Wrapper):
    """Writes episodes to files, see `momagames.wrappers.recording`."""

    name = "Record"

    def __init__(self, env: Any, recorder: Recorder) -> None:
        super().__init__(env)
        self.recorder = recorder
        kept = ("folder", "formats", "name", "when", "fps")
        self.recipe = {key: getattr(recorder, key) for key in kept}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        result: tuple[Any, dict[str, Any]] = self.recorder.reset(lambda: self.env.reset(seed=seed, options=options), seed)
        return result

    def step(self, action: Any) -> Step:
        result = self.env.step(action)
        self.recorder.follow()
        return result
