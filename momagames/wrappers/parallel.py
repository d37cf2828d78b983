"""The wrappers around PettingZoo parallel environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils import BaseParallelWrapper

from momagames.contract import State
from momagames.wrappers.common import ONE, RewardHost, reward_spaces
from momagames.wrappers.episodes import Books
from momagames.wrappers.flatten import MASK, OfAgents, numbers
from momagames.wrappers.kinds import form_of, illegal_means
from momagames.wrappers.recording import Recorder
from momagames.wrappers.reward_spec import Form
from momagames.wrappers.transforms import Scalarize, Transform


class RewardWrapper(RewardHost, BaseParallelWrapper):  # type: ignore[misc]
    """Pays other rewards; the dicts of the inner environment stay as they are.

    Scalarize also puts the vector into infos[agent]["vector_reward"]: zeros at the start.
    """

    def __init__(self, env: Any, transform: Transform) -> None:
        super().__init__(env)
        self._bind(transform)

    def _bind(self, transform: Transform) -> None:
        super()._bind(transform)
        self.reward_spaces = reward_spaces(self.reward_form)

    def reward_space(self, agent: str) -> spaces.Box:
        """Bounds of the reward of one step of an agent."""
        return self.reward_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        observations, infos = self.env.reset(seed=seed, options=options)
        self.transform.restart(ONE)
        form = self.transform.source
        return observations, self._told(infos, {agent: np.zeros(form.shape[1], form.dtype) for agent in infos})

    def _told(self, infos: dict[str, Any], vectors: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(self.transform, Scalarize):
            return infos
        return {agent: {**info, "vector_reward": vectors[agent]} for agent, info in infos.items()}

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        seen = self._look()
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        if rewards:
            over = all(terminations[agent] or truncations[agent] for agent in rewards)
            paid, form = self._single(rewards, over, seen), self.reward_form
            infos = self._told(infos, rewards)
            rewards = {agent: form.hand_out(paid, form.index[agent]) for agent in rewards}
        return observations, rewards, terminations, truncations, infos

    def __str__(self) -> str:
        return f"{self.transform.name}<{self.env}>"


class RecordEpisode(BaseParallelWrapper):  # type: ignore[misc]
    """Puts the return and the length of an agent's episode into its infos when it has finished."""

    def __init__(self, env: Any, kept: int) -> None:
        super().__init__(env)
        self.reward_form: Form = form_of(env)
        self.books = Books(self.reward_form, 1, kept)
        self._active: Any = None  # who is to move in a turn-based game

    @property
    def episodes(self) -> Any:
        """The last finished episodes, newest last."""
        return self.books.episodes

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        observations, infos = self.env.reset(seed=seed, options=options)
        self.books.restart(ONE)
        self._active = _active(infos)
        return observations, infos

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        if not rewards:
            return observations, rewards, terminations, truncations, infos
        moved = [agent in rewards and self._active in (None, agent) for agent in self.reward_form.agents]
        self.books.add(self.reward_form.gather(rewards), np.array([moved]), ONE)
        self._active = _active(infos)
        done = [agent for agent in rewards if terminations[agent] or truncations[agent]]
        if done:
            lines = {agent: self.books.entry(0, self.reward_form.agents.index(agent)) for agent in done}
            infos = {a: {**info, "episode": lines[a]} if a in lines else info for a, info in infos.items()}
        if len(done) == len(rewards):
            self.books.close(0)
        return observations, rewards, terminations, truncations, infos

    def __str__(self) -> str:
        return f"{type(self).__name__}<{self.env}>"


def _active(infos: dict[str, Any]) -> Any:
    return next((info.get("active_agent") for info in infos.values()), None)


class HandleIllegal(BaseParallelWrapper):  # type: ignore[misc]
    """Says what an illegal action does."""

    def __init__(self, env: Any, how: str) -> None:
        super().__init__(env)
        self.how = how

    def step(self, actions: dict[str, Any]) -> Any:
        with illegal_means(self.env, self.how):
            return self.env.step(actions)

    def __str__(self) -> str:
        return f"{type(self).__name__}<{self.env}>"


class FixedInstance(BaseParallelWrapper):  # type: ignore[misc]
    """Begins every game from one position."""

    def __init__(self, env: Any, start: State, seed: int) -> None:
        super().__init__(env)
        self.start = start

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        result: tuple[Any, Any] = self.env.reset(seed=seed, options={"state": self.start, **(options or {})})
        return result

    def __str__(self) -> str:
        return f"{type(self).__name__}<{self.env}>"


class Flatten(OfAgents, BaseParallelWrapper):  # type: ignore[misc]
    """Shows one vector of numbers, see `momagames.wrappers.flatten`."""

    def _shown(self, observations: dict[str, Any]) -> dict[str, Any]:
        return {agent: self._flat[agent].show(seen, seen[MASK]) for agent, seen in observations.items()}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._shown(observations), {agent: numbers(info) for agent, info in infos.items()}

    def step(self, actions: dict[str, Any]) -> tuple[Any, ...]:
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        told = {agent: numbers(info) for agent, info in infos.items()}
        return self._shown(observations), rewards, terminations, truncations, told

    def __str__(self) -> str:
        return f"{type(self).__name__}<{self.env}>"


class Record(BaseParallelWrapper):  # type: ignore[misc]
    """Writes episodes to files, see `momagames.wrappers.recording`."""

    def __init__(self, env: Any, recorder: Recorder) -> None:
        super().__init__(env)
        self.recorder = recorder

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        result: tuple[Any, Any] = self.recorder.reset(lambda: self.env.reset(seed=seed, options=options), seed)
        return result

    def step(self, actions: dict[str, Any]) -> Any:
        result = self.env.step(actions)
        self.recorder.follow()
        return result

    def __str__(self) -> str:
        return f"{type(self).__name__}<{self.env}>"
