"""What an environment pays: agents, objectives and bounds, as wrappers see and change them."""

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
class Form:
    """What an environment pays in one step.

    agents      names, A of them
    teams       for each agent the index of its team
    objectives  K of them, in the order of the reward vector
    low, high   float64[A, K], bounds of one step's reward
    scalar      whether a plain number is paid in place of a vector of length 1
    game        the game whose objectives these are, None where nobody declares one
    whole       whether all agents of the game are seen, one ply at a time
    """

    agents: tuple[str, ...]
    teams: tuple[int, ...]
    objectives: tuple[Objective, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    scalar: bool = False
    game: Game | None = None
    whole: bool = True

    @classmethod
    def of_game(cls, game: Game, agent: str | None = None) -> Form:
        """What a door of this game pays: to everybody, or to one agent (the Gymnasium door)."""
        chosen = range(len(game.agents)) if agent is None else [game.agents.index(agent)]
        shape = (len(chosen), len(game.objectives))
        return cls(
            agents=tuple(game.agents[i] for i in chosen),
            teams=tuple(game.teams[i] for i in chosen),
            objectives=game.objectives,
            low=np.broadcast_to(game.reward_low.astype(np.float64), shape),
            high=np.broadcast_to(game.reward_high.astype(np.float64), shape),
            game=game,
            whole=len(chosen) == len(game.agents),
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(objective.name for objective in self.objectives)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """[A, K]"""
        return len(self.agents), len(self.objectives)

    @property
    def untouched(self) -> bool:
        """Whether these are the objectives of the game, as the game declares them."""
        return self.game is not None and self.objectives == self.game.objectives and not self.scalar

    def paying(self, objectives: tuple[Objective, ...], low: Any, high: Any, scalar: bool = False) -> Form:
        """The same agents with other objectives."""
        return replace(self, objectives=objectives, low=np.asarray(low), high=np.asarray(high), scalar=scalar)

    def sibling(self, **params: Any) -> Form | None:
        """The form of the same game with other parameters; None if the game does not know them."""
        if self.game is None or not set(params) <= {parameter.name for parameter in self.game.parameters}:
            return None
        return Form.of_game(self.game.factory(self.game.id, **{**self.game.params, **params}))

    def gather(self, rewards: Any) -> NDArray[Any]:
        """Rewards by agent as one array [1, A, K]; zeros for agents that are gone. InvalidCall if they are not of this form."""
        needed = () if self.scalar else self.shape[1:]
        nothing = 0.0 if self.scalar else np.zeros(needed, np.float32)
        listed = [rewards.get(agent, nothing) for agent in self.agents]
        for reward in listed:
            if np.shape(reward) != needed:
                self.check(reward)
        return np.array(listed, self.dtype).reshape(1, *self.shape)

    def check(self, reward: Any) -> None:
        """InvalidCall if the reward of an agent does not have this form."""
        needed = () if self.scalar else self.shape[1:]
        if np.shape(reward) != needed:
            raise InvalidCall(
                f"a reward of shape {np.shape(reward)} arrived where {needed} was declared: a wrapper of another "
                "library changes rewards below one of momagames; put the wrappers of momagames inside"
            )

    def hand_out(self, paid: NDArray[Any], agent: int) -> Any:
        """The reward of one agent from paid[1, A, K]: a number, or float32[K]."""
        return float(paid[0, agent, 0]) if self.scalar else paid[0, agent]

    @cached_property
    def index(self) -> dict[str, int]:
        """The place of each agent."""
        return {agent: i for i, agent in enumerate(self.agents)}

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """Of what is paid: float32 vectors as in the doors, float64 numbers."""
        return np.float64 if self.scalar else np.float32


def layers(env: Any) -> Iterator[Any]:
    """An environment and everything that it wraps, from the outside in, whatever library the wrappers are from."""
    while env is not None:
        yield env
        held = vars(env)
        env = held.get("env", held.get("aec_env"))


def unknown(agents: tuple[str, ...], lows: list[Any], highs: list[Any]) -> Form:
    """The form of an environment that declares bounds only."""
    low, high = np.array(lows, np.float64), np.array(highs, np.float64)
    scalar = low.ndim == 1
    if scalar:
        low, high = low[:, None], high[:, None]
    names = ["reward"] if scalar else [f"objective_{k + 1}" for k in range(low.shape[1])]
    objectives = tuple(
        Objective(name, "reward", float(low[:, k].min()), float(high[:, k].max()), -np.inf, np.inf, "reward_space")
        for k, name in enumerate(names)
    )
    return Form(agents, tuple(range(len(agents))), objectives, low, high, scalar)
