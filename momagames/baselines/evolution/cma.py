"""CMA-ES over the parameters of a linear policy, for each of many weight vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from momagames.baselines.evolution.method import EvolutionMethod, Optimizer, Points
from momagames.baselines.weight_lattice import check_lattice_size, simplex_lattice
from momagames.contract import Game
from momagames.errors import check_range

MAX_DIVISIONS, MAX_STRATEGIES, MAX_SIGMA = 100, 256, 100.0


@dataclass(frozen=True)
class Cma(EvolutionMethod):
    """CMA-ES for each weight vector of a simplex lattice: one evolution strategy each, for the highest weighted return.

    This is not MO-CMA-ES: each strategy has a single objective. Returns are divided by their standard deviation in the first
    generation. All strategies evolve side by side and share their results: for each weight vector the best of all evaluated
    policies is selected, and the non-dominated ones among them are returned. See `EvolutionMethod` for the other options;
    `population` is that of each strategy.

    divisions    of the lattice: C(divisions + K - 1, K - 1) strategies for K objectives
    sigma        initial standard deviation of the parameters, around 0

    Source: Hansen and Ostermeier, "Completely derandomized self-adaptation in evolution strategies", Evol. Comp. 9, 2001; the
    package cma, Hansen, Akimoto and Baudis, 2019.
    """

    name: ClassVar[str] = "cma"
    package: ClassVar[str] = "cma"
    divisions: int
    sigma: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: sigma", self.sigma, 0, MAX_SIGMA, above=True)
        check_range(f"{self.name}: divisions", self.divisions, 1, MAX_DIVISIONS)

    def check_train(self, game: Game) -> None:
        super().check_train(game)
        check_lattice_size(self.name, game, self.divisions, MAX_STRATEGIES, "strategies")

    def make_optimizer(self, objectives: int, size: int, rng: np.random.Generator) -> Optimizer:
        return _CmaOptimizer(simplex_lattice(objectives, self.divisions), self.population, self.sigma, size, rng)


class _CmaOptimizer:
    def __init__(self, weights: Points, population: int, sigma: float, size: int, rng: np.random.Generator) -> None:
        from cma import CMAEvolutionStrategy

        def randn(*shape: int) -> Points:
            return rng.standard_normal(shape)

        # with its own `randn` and no seed, cma does not touch NumPy's global generator
        options = {"popsize": population, "randn": randn, "seed": np.nan, "verbose": -9, "verb_log": 0, "verb_disp": 0}
        self._weights, self._population = weights, population
        self._strategies = [CMAEvolutionStrategy(np.zeros(size), sigma, dict(options)) for _ in weights]
        self._deviation: Points | None = None
        self._count = 0
        self._best: list[tuple[float, int]] = [(-np.inf, 0)] * len(weights)

    def ask(self) -> Points:
        self._generation = [strategy.ask() for strategy in self._strategies]
        return np.concatenate([np.asarray(points, np.float64) for points in self._generation])

    def update(self, values: Points) -> None:
        if self._deviation is None:
            deviation = values.std(axis=0)
            self._deviation = np.where(deviation > 0, deviation, 1.0)
        utilities = self._weights @ (values / self._deviation).T
        for i, strategy in enumerate(self._strategies):
            own = slice(i * self._population, (i + 1) * self._population)
            strategy.tell(self._generation[i], (-utilities[i, own]).tolist())
            top = int(utilities[i].argmax())
            self._best[i] = max(self._best[i], (float(utilities[i, top]), self._count + top), key=lambda pair: pair[0])
        self._count += len(values)

    def best(self) -> list[int]:
        return [number for _, number in self._best]
