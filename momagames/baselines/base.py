"""What a method promises: plans from one position, or policies that play whole games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.errors import InvalidParameter, nearest, one_of

if TYPE_CHECKING:
    from momagames.engine.policies import BatchPolicy


@dataclass(frozen=True)
class Plan:
    """A way to play on from a position in which nothing is left to chance, or whose luck is known.

    actions    in order, of whoever is to move
    value      float64[K], the return that they bring
    found      steps of the engine that had been made when it was found
    label      which part of the method found it
    """

    actions: tuple[int, ...]
    value: NDArray[np.float64]
    found: int
    label: str = ""


class DominatedPoint(NamedTuple):
    """The value, float64[K], of a plan that another one beat later; `found` as in `Plan`."""

    found: int
    value: NDArray[np.float64]


@dataclass(frozen=True)
class Plans:
    """What a search found: plans of which none dominates another, each value once.

    steps      steps of the engine that were made, look-ahead included
    complete   whether the values are proven to be the whole Pareto front
    facts      counts worth keeping with the result, such as episodes or passes
    passed     what had been found on the way, see `Archive`
    """

    plans: tuple[Plan, ...]
    steps: int
    complete: bool = False
    facts: dict[str, Any] | None = None
    passed: Sequence[DominatedPoint] = ()

    @property
    def values(self) -> NDArray[np.float64]:
        """float64[n, K]"""
        return np.array([plan.value for plan in self.plans], np.float64)


@dataclass(frozen=True)
class TrainingResult:
    """What training found.

    policies   policies with labels of their own, to be played and compared; with `arrays`, if `restore` needs any
    steps      steps of the engine that were made, look-ahead included
    facts      counts worth keeping with the result
    """

    policies: tuple[BatchPolicy, ...]
    steps: int
    facts: dict[str, Any] | None = None


@dataclass(frozen=True)
class Method:
    """A method. A subclass is a frozen dataclass of its options and does one of the two things below, or both.

    A wrong option raises InvalidParameter when the method is made.

    trains    whether its policies are found within a run: it then has `check_train`, `train` and `restore`, and no `policies`
    """

    name: ClassVar[str]
    trains: ClassVar[bool] = False

    def check_plan(self, game: Game) -> None:
        """Raise InvalidParameter if `plan` cannot serve this game."""
        raise InvalidParameter(f"{self.name} makes no plans")

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        """Search from `start`, record[1], with about `budget` steps of the engine."""
        raise InvalidParameter(f"{self.name} makes no plans")

    def policies(self, game: Game) -> tuple[BatchPolicy, ...]:
        """The policies that the method offers for this game."""
        raise InvalidParameter(f"{self.name} has no policies to play against others")

    def check_installed(self) -> None:
        """Raise MissingExtra if it needs a package that is not there."""

    def check_train(self, game: Game) -> None:
        """Raise InvalidParameter if `train` cannot serve this game."""
        self.policies(game)

    def train(
        self, game: Game, learning_agents: Sequence[int], opponents: Sequence[BatchPolicy], budget: int, seed: int
    ) -> TrainingResult:
        """Train policies with about `budget` environment steps at most.

        learning_agents   agents that the policies will play, in turn, each with its team
        opponents         policies of the other agents, in turn
        seed              random seed: equal seeds give equal policies
        """
        return TrainingResult(self.policies(game), 0)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> BatchPolicy:
        """A policy that `train` found, from its arrays; InvalidParameter if they are not of this game."""
        raise InvalidParameter(f"{self.name} does not train")

    def options(self) -> dict[str, Any]:
        """The options by name, as stored with results."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def seat_of(game: Game, agent: str) -> int:
    """The index of an agent, or InvalidParameter."""
    if agent not in game.agents:
        raise InvalidParameter(f"{game.id} has no agent {agent!r}; it has {one_of(game.agents)}{nearest(agent, game.agents)}")
    return game.agents.index(agent)


def sides(game: Game) -> tuple[str, ...]:
    """An agent of each side, the first, by name."""
    return tuple(game.agents[game.teams.index(team)] for team in dict.fromkeys(game.teams))


def side(game: Game, seat: int) -> list[int]:
    """The agents that play with the one at a seat, itself included."""
    return [agent for agent, team in enumerate(game.teams) if team == game.teams[seat]]


def check_deterministic(name: str, game: Game) -> None:
    """Most plans need agents that all get every reward, and a game in which nothing is left to chance after the start."""
    check_shared_rewards(name, game)
    if game.chance == "step":
        raise InvalidParameter(
            f"{name} plans where nothing is left to chance; {game.id} draws during play (hindsight_beam, hindsight_nrpa or "
            "hindsight_random plan for one deal, with the luck that it will have)"
        )


def check_shared_rewards(name: str, game: Game) -> None:
    """A plan has one return: it needs one agent, or agents that all get every reward; they take turns, and an action is one
    number."""
    if len(game.agents) > 1 and not game.params.get("team_rewards", False):
        raise InvalidParameter(
            f"{name} plans for one agent, or for several that all get every reward (team_rewards=True, where a game has it); "
            f"{game.id} has {len(game.agents)} agents with rewards of their own"
        )
    check_turns(name, game)


def check_turns(name: str, game: Game) -> None:
    """Looking one ply ahead needs agents that take turns, and an action that is one number."""
    if not game.sequential or len(game.actions) > 1:
        raise InvalidParameter(f"{name} needs agents that take turns and actions that are one number; {game.id} has others")
