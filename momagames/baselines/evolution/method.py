"""Evolution of the parameters of a linear policy: what NSGA-II and CMA-ES have in common (extra `evolution`).

All policies of a generation play the same episodes side by side. The search stops when the budget of environment steps is used
up; an unfinished generation is discarded.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import is_nondominated
from momagames.baselines.base import Method, TrainingResult, check_array, check_array_names
from momagames.baselines.evolution.linear_policy import LinearPolicy
from momagames.baselines.evolution.population_eval import PopulationEvaluator
from momagames.baselines.training_setup import TrainingSetup
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.errors import InvalidParameter, check_range

MAX_POPULATION, MAX_EPISODES = 1024, 1024
MAX_AGENTS = 64
SCALE_SHARE = 20  # one part in so many of the budget is spent on the feature scale

Points = NDArray[np.float64]


class Optimizer(Protocol):
    """An ask-and-tell optimizer that maximizes several objectives."""

    def ask(self) -> Points:
        """Return the next generation, float64[n, size]."""

    def update(self, values: Points) -> None:
        """Report the returns float64[n, K] of the last generation."""

    def best(self) -> list[int]:
        """Return the selected points, numbered from 0 in the order of evaluation."""


@dataclass(frozen=True)
class EvolutionMethod(Method):
    """Options and training loop of the evolution methods.

    population    policies in a generation
    episodes      episodes of each policy against each opponent and in each seat
    shared        whether a policy has the same parameters in all seats; else each team has its own
    """

    trains: ClassVar[bool] = True
    extra: ClassVar[str] = "evolution"
    population: int
    episodes: int
    shared: bool

    def __post_init__(self) -> None:
        check_range(f"{self.name}: population", self.population, 4, MAX_POPULATION)
        check_range(f"{self.name}: episodes", self.episodes, 1, MAX_EPISODES)

    @abstractmethod
    def make_optimizer(self, objectives: int, size: int, rng: np.random.Generator) -> Optimizer:
        """Return an optimizer over float64[size] for high returns float64[objectives]."""

    def check_train(self, game: Game) -> None:
        LinearPolicy(game, self._parameter_rows(game, range(len(game.agents))))

    def _parameter_rows(self, game: Game, learning_agents: Sequence[int]) -> list[int]:
        """Return the row of the parameters of each agent."""
        teams = list(dict.fromkeys(game.teams[agent] for agent in learning_agents))
        return [0 if self.shared or team not in teams else teams.index(team) for team in game.teams]

    def train(self, setup: TrainingSetup) -> TrainingResult:
        self.check_installed()
        self.check_setup(setup)
        game, rng = setup.game, np.random.default_rng(setup.seed)
        policy = LinearPolicy(game, self._parameter_rows(game, setup.learning_agents))
        scale, scale_steps = policy.estimate_scale(int(rng.integers(2**63)), setup.budget // SCALE_SHARE)
        evaluator = PopulationEvaluator(policy, setup, self.episodes, setup.budget - scale_steps, rng)
        optimizer = self.make_optimizer(len(game.objectives), policy.num_parameters, rng)
        generations: list[Points] = []
        values: list[Points] = []
        while True:
            generation = optimizer.ask().reshape(-1, policy.num_rows, policy.row_size) / scale
            returns = evaluator.evaluate(generation)
            if returns is None:
                break
            optimizer.update(returns)
            generations.append(generation)
            values.append(returns)
        if not generations:
            raise InvalidParameter(
                f"{self.name}: invalid budget={setup.budget} for {game.id}: expected enough environment steps for a first "
                f"generation of {len(generation)} policies"
            )
        parameters, returns = np.concatenate(generations), np.concatenate(values)
        best = np.unique(optimizer.best())
        best = best[is_nondominated(returns[best])]
        best = best[np.lexsort(returns[best].T[::-1])]
        policies = tuple(policy.compile(f"policy {i}", parameters[at]) for i, at in enumerate(best))
        facts = {"generations": len(generations), "evaluated": len(parameters), "parameters": policy.num_parameters}
        return TrainingResult(policies, scale_steps + evaluator.used, facts)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
        check_array_names(label, arrays, ("numbers", "rows"))
        parameters, rows = arrays["numbers"], arrays["rows"]
        if rows.dtype != np.int64 or rows.shape != (len(game.agents),) or not 0 <= rows.min() <= rows.max() < MAX_AGENTS:
            raise InvalidParameter(
                f"invalid array rows of {label!r}: expected int64[{len(game.agents)}] in 0..{MAX_AGENTS - 1}"
            )
        policy = LinearPolicy(game, rows.tolist())
        check_array(label, "numbers", parameters, np.float64, (policy.num_rows, policy.row_size))
        return policy.compile(label, parameters)
