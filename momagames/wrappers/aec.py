"""The wrappers around PettingZoo AEC environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo.utils import BaseWrapper

from momagames.contract import State
from momagames.wrappers.common import ONE, RewardHost, reward_spaces
from momagames.wrappers.episodes import Books
from momagames.wrappers.flatten import MASK, OfAgents, numbers
from momagames.wrappers.kinds import form_of, illegal_means
from momagames.wrappers.recording import Recorder
from momagames.wrappers.reward_spec import Form
from momagames.wrappers.transforms import Transform


def _gone(env: Any, agent: str) -> bool:
    return bool(env.terminations[agent] or env.truncations[agent])


def _advanced(env: Any, mover: str) -> bool:
    """Whether the game itself moved: where all act at once, only the last action of a round does that."""
    if not env.metadata.get("is_parallelizable"):
        return True
    order = env.possible_agents  # who has died stands before the mover, who was the last one of the round
    return not env.agents or order.index(env.agent_selection) <= order.index(mover)


class RewardWrapper(RewardHost, BaseWrapper):  # type: ignore[misc]
    """Keeps its own books: `rewards` of the last step, and what each agent got since its own last move.

    The transform is applied once for every step of the game, never in last(), and nothing of the inner environment is
    written.
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

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed=seed, options=options)
        self.transform.restart(ONE)
        self._totals = np.zeros((1, *self.reward_form.shape), self.reward_form.dtype)
        self._publish(np.zeros_like(self._totals))

    def step(self, action: Any) -> None:
        mover = getattr(self.env, "agent_selection", None)
        if mover is None or not self.env.agents:  # before reset() or after the end: the door knows what to say
            self.env.step(action)
            return
        if _gone(self.env, mover):
            self.env.step(action)
            self._publish(np.zeros_like(self._totals))
            return
        seen = self._look()
        self.env.step(action)
        totals = self._totals.copy()  # last() may have handed out rows of the old ones
        totals[0, self.reward_form.index[mover]] = 0
        if _advanced(self.env, mover):
            over = all(_gone(self.env, agent) for agent in self.env.agents)
            paid = self._single(self.env.rewards, over, seen)
        else:
            paid = np.zeros_like(totals)
        self._totals = totals + paid
        self._publish(paid)

    def _publish(self, paid: Any) -> None:
        form, agents = self.reward_form, self.env.agents
        if form.scalar:
            now, due = paid[0, :, 0].tolist(), self._totals[0, :, 0].tolist()
        else:
            now, due = paid[0], self._totals[0]
        self.rewards = {agent: now[form.index[agent]] for agent in agents}
        self._cumulative_rewards = {agent: due[form.index[agent]] for agent in agents}

    def last(self, observe: bool = True) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = self.env.last(observe)
        reward = self._cumulative_rewards[self.env.agent_selection]
        return observation, reward if self.reward_form.scalar else reward.copy(), terminated, truncated, info

    def __str__(self) -> str:
        return f"{self.transform.name}<{self.env}>"


class RecordEpisode(BaseWrapper):  # type: ignore[misc]
    """Puts the return and the length of an agent's episode into its infos when it has finished."""

    def __init__(self, env: Any, kept: int) -> None:
        super().__init__(env)
        self.reward_form: Form = form_of(env)
        self.books = Books(self.reward_form, 1, kept)
        self._finished: dict[str, dict[str, Any]] = {}

    @property
    def episodes(self) -> Any:
        """The last finished episodes, newest last."""
        return self.books.episodes

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        inner = self.env.infos
        return {a: {**inner[a], "episode": self._finished[a]} if a in self._finished else inner[a] for a in inner}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed=seed, options=options)
        self.books.restart(ONE)
        self._finished = {}
        self._close()

    def step(self, action: Any) -> None:
        mover = getattr(self.env, "agent_selection", None)
        if mover is None or not self.env.agents or _gone(self.env, mover):
            self.env.step(action)
            return
        self.env.step(action)
        moved = np.array([[agent == mover for agent in self.reward_form.agents]])
        advanced = _advanced(self.env, mover)
        reward = self.reward_form.gather(self.env.rewards if advanced else {})
        self.books.add(reward, moved, np.array([advanced]))
        self._close()

    def _close(self) -> None:
        """Note down who has finished, and the whole episode when nobody plays on."""
        agents = self.env.agents
        for agent in agents:
            if agent not in self._finished and _gone(self.env, agent):
                self._finished[agent] = self.books.entry(0, self.reward_form.index[agent])
        if all(agent in self._finished for agent in agents) and self.books.steps[0]:
            self.books.close(0)

    def last(self, observe: bool = True) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, _ = self.env.last(observe)
        return observation, reward, terminated, truncated, self.infos[self.env.agent_selection]


class HandleIllegal(BaseWrapper):  # type: ignore[misc]
    """Says what an illegal action does."""

    def __init__(self, env: Any, how: str) -> None:
        super().__init__(env)
        self.how = how

    def step(self, action: Any) -> None:
        with illegal_means(self.env, self.how):
            self.env.step(action)


class FixedInstance(BaseWrapper):  # type: ignore[misc]
    """Begins every game from one position."""

    def __init__(self, env: Any, start: State, seed: int) -> None:
        super().__init__(env)
        self.start = start

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.env.reset(seed=seed, options={"state": self.start, **(options or {})})


class Flatten(OfAgents, BaseWrapper):  # type: ignore[misc]
    """Shows one vector of numbers, see `momagames.wrappers.flatten`."""

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        return {agent: numbers(info) for agent, info in self.env.infos.items()}

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        seen = self.env.observe(agent)
        return self._flat[agent].show(seen, seen[MASK])

    def last(self, observe: bool = True) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        _, reward, terminated, truncated, info = self.env.last(observe=False)
        seen = self.observe(self.env.agent_selection) if observe else None
        return seen, reward, terminated, truncated, numbers(info)


class Record(BaseWrapper):  # type: ignore[misc]
    """Writes episodes to files, see `momagames.wrappers.recording`."""

    def __init__(self, env: Any, recorder: Recorder) -> None:
        super().__init__(env)
        self.recorder = recorder

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.recorder.reset(lambda: self.env.reset(seed=seed, options=options), seed)

    def step(self, action: Any) -> None:
        self.env.step(action)
        self.recorder.follow()
