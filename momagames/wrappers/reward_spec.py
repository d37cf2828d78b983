"""The rewards of an environment: agents, objectives and bounds, which wrappers read and change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, Objective
from momagames.errors import InvalidCall


@dataclass(frozen=True, eq=False)
class RewardSpec:
    """The declared rewards of one step.

    agents      names, A of them
    teams       for each agent the index of its team
    objectives  K of them, in the order of the reward vector
    low, high   float64[A, K], bounds of the reward of one step
    scalar      whether the reward is a scalar instead of a vector
    game        the game of these objectives, or None
    covers_all_agents
                whether the rewards cover all agents of the game, ply by ply
    """

    agents: tuple[str, ...]
    teams: tuple[int, ...]
    objectives: tuple[Objective, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    scalar: bool = False
    game: Game | None = None
    covers_all_agents: bool = True

    @classmethod
    def of_game(cls, game: Game, agent: str | None = None) -> RewardSpec:
        """Return the rewards of an environment of this game: of all agents, or of one agent (Gymnasium)."""
        chosen = range(len(game.agents)) if agent is None else [game.agents.index(agent)]
        shape = (len(chosen), len(game.objectives))
        return cls(
            agents=tuple(game.agents[i] for i in chosen),
            teams=tuple(game.teams[i] for i in chosen),
            objectives=game.objectives,
            low=np.broadcast_to(game.reward_low.astype(np.float64), shape),
            high=np.broadcast_to(game.reward_high.astype(np.float64), shape),
            game=game,
            covers_all_agents=len(chosen) == len(game.agents),
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> RewardSpec:
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(objective.name for objective in self.objectives)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """[A, K]"""
        return len(self.agents), len(self.objectives)

    @property
    def is_unchanged(self) -> bool:
        """Return whether these are the declared objectives of the game."""
        return self.game is not None and self.objectives == self.game.objectives and not self.scalar

    def with_objectives(self, objectives: tuple[Objective, ...], low: Any, high: Any, scalar: bool = False) -> RewardSpec:
        """Return a copy with other objectives."""
        return replace(self, objectives=objectives, low=np.asarray(low), high=np.asarray(high), scalar=scalar)

    def with_params(self, **params: Any) -> RewardSpec | None:
        """Return the rewards of the same game with other parameters; None if it does not have them."""
        if self.game is None or not set(params) <= {parameter.name for parameter in self.game.parameters}:
            return None
        return RewardSpec.of_game(self.game.factory(self.game.id, **{**self.game.params, **params}))

    def gather(self, rewards: Any) -> NDArray[Any]:
        """Return rewards by agent as one array [1, A, K]; zeros for agents that have left. InvalidCall for other shapes."""
        try:
            listed = [*map(rewards.__getitem__, self.agents)]
        except KeyError:
            listed = [rewards.get(agent, self.nothing) for agent in self.agents]
        try:
            gathered = np.array([listed], self.dtype)
        except ValueError:  # of different shapes
            gathered = np.empty(0)
        if gathered.shape == self._batch_shape:
            return gathered.reshape(1, *self.shape) if self.scalar else gathered
        for reward in listed:
            self.check(reward)
        raise AssertionError("rewards of the right shapes")

    def check(self, reward: Any) -> None:
        """Raise InvalidCall if the reward of an agent has another shape."""
        needed = () if self.scalar else self.shape[1:]
        if np.shape(reward) != needed:
            raise InvalidCall(
                f"invalid reward of shape {np.shape(reward)}: expected {needed}; a wrapper of another library changes rewards "
                "inside a wrapper of momagames: apply the wrappers of momagames first"
            )

    def split(self, rewards: NDArray[Any]) -> dict[str, Any]:
        """Return rewards[1, A, K] by agent: numbers, or rows float32[K]."""
        return dict(zip(self.agents, rewards.ravel().tolist() if self.scalar else rewards[0]))  # noqa: B905 - equally long

    def reward_for(self, rewards: NDArray[Any], agent: int) -> Any:
        """Return the reward of one agent from rewards[1, A, K]: a number, or float32[K]."""
        return float(rewards[0, agent, 0]) if self.scalar else rewards[0, agent]

    @cached_property
    def index(self) -> dict[str, int]:
        """The index of each agent."""
        return {agent: i for i, agent in enumerate(self.agents)}

    @cached_property
    def nothing(self) -> Any:
        """The reward of an agent that has left: 0.0, or zeros float32[K]."""
        return 0.0 if self.scalar else np.zeros(self.shape[1:], np.float32)

    @cached_property
    def _batch_shape(self) -> tuple[int, ...]:
        """The shape of the rewards of a batch of one."""
        return (1, len(self.agents)) if self.scalar else (1, *self.shape)

    @cached_property
    def dtype(self) -> type[np.floating[Any]]:
        """Data type of the rewards: float32 for vectors, float64 for numbers."""
        return np.float64 if self.scalar else np.float32


def layers(env: Any) -> Iterator[Any]:
    """Yield an environment and everything that it wraps, from the outside in, for wrappers of any library."""
    while env is not None:
        yield env
        attributes = vars(env)
        env = attributes.get("env", attributes.get("aec_env"))


def spec_from_bounds(agents: tuple[str, ...], lows: list[Any], highs: list[Any]) -> RewardSpec:
    """Return the rewards of an environment that declares only bounds."""
    low, high = np.array(lows, np.float64), np.array(highs, np.float64)
    scalar = low.ndim == 1
    if scalar:
        low, high = low[:, None], high[:, None]
    names = ["reward"] if scalar else [f"objective_{k + 1}" for k in range(low.shape[1])]
    objectives = tuple(
        Objective(name, "reward", float(low[:, k].min()), float(high[:, k].max()), -np.inf, np.inf, "reward_space")
        for k, name in enumerate(names)
    )
    return RewardSpec(agents, tuple(range(len(agents))), objectives, low, high, scalar)
