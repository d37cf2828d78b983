"""What is trained: games, budget, seed, agents that learn, their opponents, and further choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.engine.policies import BatchPolicy
from momagames.errors import InvalidParameter


@dataclass(frozen=True)
class TrainingSetup:
    """What is trained, the opponents, and the budget.

    games             with equal rules, objectives and actions, which are trained on in turn
    budget            environment steps, those of the look-ahead of learning agents included, and not those of opponents
    seed              random seed: equal seeds give equal policies
    learning_agents   agents that the policies play in turn, each with its team; in games with other agents than the first
                      these are the first ones of each team
    opponents         policies of the other agents, in turn
    threads           number of threads
    fixed_weights     weights of the objectives in all episodes, and of the only policy; None: random weights
    starts            record[S], start positions of the episodes, drawn at random with replacement; one: that of all episodes;
                      None: new ones
    return_scale      float64[K], divisors of the returns, to which weights refer; None: chosen by the method
    """

    games: Sequence[Game]
    budget: int
    seed: int = 0
    learning_agents: Sequence[int] = (0,)
    opponents: Sequence[BatchPolicy] = ()
    threads: int = 1
    fixed_weights: Sequence[float] | None = None
    starts: NDArray[Any] | None = None
    return_scale: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        """Raise InvalidParameter unless the games agree in rules, objectives and actions, and are one if `starts` are given."""
        if self.starts is not None and len(self.games) > 1:
            raise InvalidParameter(
                f"given start positions for {len(self.games)} games: expected one game, or new start positions"
            )
        for game in self.games[1:]:
            if _list_common_facts(game) != _list_common_facts(self.game):
                raise InvalidParameter(
                    f"{game.id} and {self.game.id} differ in rules, objectives or actions: expected equal ones"
                )

    @property
    def game(self) -> Game:
        """The first game."""
        return self.games[0]

    def check_agents(self, name: str) -> None:
        """Raise InvalidParameter if the games differ in agents or teams, for a method that needs equal ones."""
        for game in self.games[1:]:
            if (game.agents, game.teams) != (self.game.agents, self.game.teams):
                raise InvalidParameter(f"{name}: {game.id} and {self.game.id} differ in agents: expected equal ones")

    def check_basic(self, name: str) -> None:
        """Raise InvalidParameter unless there is one game, no fixed weights and no scale, for a method that uses none."""
        self.check_one_game(name)
        for option in ("fixed_weights", "return_scale"):
            if getattr(self, option) is not None:
                raise InvalidParameter(f"{name}: invalid {option}={getattr(self, option)!r}: expected None, since it uses none")

    def list_learning_agents(self, game: Game) -> Sequence[int]:
        """Return the agents that learn in one of the games."""
        if (game.agents, game.teams) == (self.game.agents, self.game.teams):
            return self.learning_agents
        return [game.teams.index(team) for team in dict.fromkeys(game.teams)]

    def check_one_game(self, name: str) -> None:
        """Raise InvalidParameter if there are several games, for a method that trains on one."""
        if len(self.games) > 1:
            raise InvalidParameter(f"{name} trains on one game: expected 1, got {len(self.games)}")


def _list_common_facts(game: Game) -> tuple[object, ...]:
    """Return what games that are trained on together have in common."""
    return game.rules_key, [one.name for one in game.objectives], game.actions
