"""NSGA-II over the parameters of a linear policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from momagames.baselines.evolution.method import EvolutionMethod, Optimizer, Points


@dataclass(frozen=True)
class Nsga2(EvolutionMethod):
    """NSGA-II over the parameters of a linear policy, in -1..1. The policies are the first front of the last population.

    Crossover, mutation and their rates are the defaults of pymoo. See `EvolutionMethod` for the options.

    Source: Deb, Pratap, Agarwal and Meyarivan, "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE Trans.
    Evol. Comp. 6, 2002; pymoo, Blank and Deb, IEEE Access 8, 2020.
    """

    name: ClassVar[str] = "nsga2"
    package: ClassVar[str] = "pymoo"

    def make_optimizer(self, objectives: int, size: int, rng: np.random.Generator) -> Optimizer:
        return _Nsga2Optimizer(self.population, objectives, size, int(rng.integers(2**31)))


class _Nsga2Optimizer:
    def __init__(self, population: int, objectives: int, size: int, seed: int) -> None:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.evaluator import Evaluator
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination
        from pymoo.problems.static import StaticProblem

        self._problem = Problem(n_var=size, n_obj=objectives, xl=-1.0, xu=1.0)
        self._algorithm = NSGA2(pop_size=population)
        self._algorithm.setup(self._problem, termination=NoTermination(), seed=seed, verbose=False)
        self._evaluator, self._static_problem = Evaluator(), StaticProblem
        self._count = 0

    def ask(self) -> Points:
        self._generation = self._algorithm.ask()
        points: Points = self._generation.get("X")
        return points

    def update(self, values: Points) -> None:
        self._evaluator.eval(self._static_problem(self._problem, F=-values), self._generation)
        self._generation.set("number", np.arange(self._count, self._count + len(values)))
        self._count += len(values)
        self._algorithm.tell(infills=self._generation)

    def best(self) -> list[int]:
        return [int(number) for number in self._algorithm.pop.get("number")]
