"""Evolution of the numbers of a linear policy (extra `evolution`): NSGA-II, and CMA-ES for each of many weight vectors.

Both try policies in the same games, all of a generation side by side, and stop when the budget of steps is spent; a
generation that it does not pay for is lost.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import is_nondominated
from momagames.baselines.base import Method, Trained
from momagames.baselines.evolution.linear_policy import LinearPolicy
from momagames.baselines.evolution.population_eval import Arena
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.contract import Game
from momagames.engine.policies import Member
from momagames.errors import InvalidParameter, MissingExtra, check_range

MAX_POPULATION, MAX_EPISODES = 1024, 1024
MAX_DIVISIONS, MAX_STRATEGIES, MAX_SIGMA = 100, 256, 100.0
MAX_AGENTS = 64
SCALE_SHARE = 20  # of the budget, one part goes into bringing what is seen to one scale

Points = NDArray[np.float64]


class Search(Protocol):
    """A search that is told what its points are worth."""

    def ask(self) -> Points:
        """The next generation, float64[n, size]."""

    def tell(self, values: Points) -> None:
        """The returns float64[n, K] of what was asked for last."""

    def best(self) -> list[int]:
        """The points to be offered, numbered from 0 in the order in which they were asked for."""


@dataclass(frozen=True)
class _Evolution(Method):
    """What both have.

    population    policies of a generation
    episodes      games that each plays against each opponent and from each seat
    shared        whether a policy plays by the same numbers from whatever seat; else each side has its own
    """

    trains: ClassVar[bool] = True
    package: ClassVar[str]
    population: int
    episodes: int
    shared: bool

    def __post_init__(self) -> None:
        check_range(f"{self.name}: population", self.population, 4, MAX_POPULATION)
        check_range(f"{self.name}: episodes", self.episodes, 1, MAX_EPISODES)

    @abstractmethod
    def search(self, goals: int, size: int, luck: np.random.Generator) -> Search:
        """A search over float64[size] for high returns float64[goals]."""

    def policies(self, game: Game) -> tuple[Member, ...]:
        raise InvalidParameter(f"{self.name} finds its policies in training, with a budget")

    def check_train(self, game: Game) -> None:
        LinearPolicy(game, self._rows(game, range(len(game.agents))))

    def check_installed(self) -> None:
        try:
            import_module(self.package)
        except ImportError:
            raise MissingExtra(f'the method "{self.name}" needs {self.package}: pip install "momagames[evolution]"') from None

    def _rows(self, game: Game, ours: Sequence[int]) -> list[int]:
        """Which numbers each agent plays by."""
        sides = list(dict.fromkeys(game.teams[seat] for seat in ours))
        return [0 if self.shared or team not in sides else sides.index(team) for team in game.teams]

    def train(self, game: Game, ours: Sequence[int], others: Sequence[Member], budget: int, seed: int) -> Trained:
        self.check_installed()
        self.check_train(game)
        luck = np.random.default_rng(seed)
        policy = LinearPolicy(game, self._rows(game, ours))
        scale, spent = policy.scale(int(luck.integers(2**63)), budget // SCALE_SHARE)
        arena = Arena(policy, ours, others, self.episodes, budget - spent, luck)
        search = self.search(len(game.objectives), policy.minds * policy.size, luck)
        tried: list[Points] = []
        values: list[Points] = []
        while True:
            generation = search.ask().reshape(-1, policy.minds, policy.size) / scale
            found = arena.returns(generation)
            if found is None:
                break
            search.tell(found)
            tried.append(generation)
            values.append(found)
        if not tried:
            raise InvalidParameter(
                f"{self.name}: budget={budget} is not possible for {game.id}: it is spent before the first generation, of "
                f"{len(generation)} policies, has played its games"
            )
        every, worth = np.concatenate(tried), np.concatenate(values)
        best = np.unique(search.best())
        best = best[is_nondominated(worth[best])]
        best = best[np.lexsort(worth[best].T[::-1])]
        members = tuple(policy.member(f"policy {i}", every[at]) for i, at in enumerate(best))
        facts = {"generations": len(tried), "tried": len(every), "numbers": policy.minds * policy.size}
        return Trained(members, spent + arena.used, facts)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> Member:
        if set(arrays) != {"numbers", "rows"}:
            raise InvalidParameter(f"the arrays of {label!r} are {sorted(arrays)}; needed: numbers and rows")
        numbers, rows = arrays["numbers"], arrays["rows"]
        if rows.dtype != np.int64 or rows.shape != (len(game.agents),) or not 0 <= rows.min() <= rows.max() < MAX_AGENTS:
            raise InvalidParameter(f"the rows of {label!r} are not those of {len(game.agents)} agents")
        policy = LinearPolicy(game, rows.tolist())
        needed = (policy.minds, policy.size)
        if numbers.dtype != np.float64 or numbers.shape != needed or not np.isfinite(numbers).all():
            raise InvalidParameter(
                f"the numbers of {label!r} are {numbers.dtype}{numbers.shape}; needed: finite float64{needed}"
            )
        return policy.member(label, numbers)


@dataclass(frozen=True)
class Nsga2(_Evolution):
    """NSGA-II over the numbers of a linear policy, from -1 to 1; the non-dominated policies of the last population are offered.

    Crossover, mutation and their rates are those of pymoo. See `_Evolution` for the options.

    Source: Deb, Pratap, Agarwal and Meyarivan, "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE Trans.
    Evol. Comp. 6, 2002; pymoo, Blank and Deb, IEEE Access 8, 2020.
    """

    name: ClassVar[str] = "nsga2"
    package: ClassVar[str] = "pymoo"

    def search(self, goals: int, size: int, luck: np.random.Generator) -> Search:
        return _Nsga2Search(self.population, goals, size, int(luck.integers(2**31)))


class _Nsga2Search:
    def __init__(self, population: int, goals: int, size: int, seed: int) -> None:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.evaluator import Evaluator
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination
        from pymoo.problems.static import StaticProblem

        self._problem = Problem(n_var=size, n_obj=goals, xl=-1.0, xu=1.0)
        self._algorithm = NSGA2(pop_size=population)
        self._algorithm.setup(self._problem, termination=NoTermination(), seed=seed, verbose=False)
        self._evaluator, self._known = Evaluator(), StaticProblem
        self._count = 0

    def ask(self) -> Points:
        self._asked = self._algorithm.ask()
        points: Points = self._asked.get("X")
        return points

    def tell(self, values: Points) -> None:
        self._evaluator.eval(self._known(self._problem, F=-values), self._asked)
        self._asked.set("number", np.arange(self._count, self._count + len(values)))
        self._count += len(values)
        self._algorithm.tell(infills=self._asked)

    def best(self) -> list[int]:
        return [int(number) for number in self._algorithm.pop.get("number")]


@dataclass(frozen=True)
class Cma(_Evolution):
    """CMA-ES for each weight vector of a simplex lattice: one evolution strategy each, for the highest weighted return.

    This is not MO-CMA-ES: each strategy has one goal. Returns are weighted after division by their deviation in the first
    generation. All strategies evolve side by side and share what they find: for each weight vector the best of all policies
    that any of them tried is offered, as far as they are non-dominated. See `_Evolution` for the options; `population` is that
    of each strategy.

    divisions    of the lattice: C(divisions + K - 1, K - 1) strategies for K objectives
    sigma        first standard deviation of the numbers, around 0

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
        count = len(simplex_lattice(len(game.objectives), self.divisions))
        if count > MAX_STRATEGIES:
            raise InvalidParameter(
                f"{self.name}: divisions={self.divisions} gives {count:,} strategies for {game.id}; allowed: {MAX_STRATEGIES}"
            )

    def search(self, goals: int, size: int, luck: np.random.Generator) -> Search:
        return _CmaSearch(simplex_lattice(goals, self.divisions), self.population, self.sigma, size, luck)


class _CmaSearch:
    def __init__(self, weights: Points, population: int, sigma: float, size: int, luck: np.random.Generator) -> None:
        from cma import CMAEvolutionStrategy

        def normal(*shape: int) -> Points:
            return luck.standard_normal(shape)

        # with a `randn` of its own and no seed it leaves NumPy's global generator alone
        options = {"popsize": population, "randn": normal, "seed": np.nan, "verbose": -9, "verb_log": 0, "verb_disp": 0}
        self._weights, self._population = weights, population
        self._strategies = [CMAEvolutionStrategy(np.zeros(size), sigma, dict(options)) for _ in weights]
        self._spread: Points | None = None
        self._count = 0
        self._champions: list[tuple[float, int]] = [(-np.inf, 0)] * len(weights)

    def ask(self) -> Points:
        self._asked = [strategy.ask() for strategy in self._strategies]
        return np.concatenate([np.asarray(points, np.float64) for points in self._asked])

    def tell(self, values: Points) -> None:
        if self._spread is None:
            spread = values.std(axis=0)
            self._spread = np.where(spread > 0, spread, 1.0)
        worth = self._weights @ (values / self._spread).T
        for i, strategy in enumerate(self._strategies):
            own = slice(i * self._population, (i + 1) * self._population)
            strategy.tell(self._asked[i], (-worth[i, own]).tolist())
            top = int(worth[i].argmax())
            self._champions[i] = max(self._champions[i], (float(worth[i, top]), self._count + top), key=lambda pair: pair[0])
        self._count += len(values)

    def best(self) -> list[int]:
        return [number for _, number in self._champions]
