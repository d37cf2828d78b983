"""Method `exact` of the benchmark: the exact Pareto front; the searches are in `momagames.baselines.exact`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plan, Plans
from momagames.baselines.exact import clairvoyant_front, exact_front
from momagames.baselines.exact.depth_first import unsupported_reasons
from momagames.contract import Game
from momagames.errors import check_range


@dataclass(frozen=True)
class Exact(Method):
    """Exact Pareto front, proven by a search through all positions. The budget is ignored; the two limits end the search.

    max_states    largest number of stored positions
    max_bytes     largest memory of the stored positions, in bytes

    Source: dynamic programming over sets of vectors, White, "Multi-objective infinite-horizon discounted Markov decision
    processes", 1982; label setting, Martins, "On a multicriteria shortest path problem", 1984.
    """

    name: ClassVar[str] = "exact"
    max_states: int
    max_bytes: int

    def __post_init__(self) -> None:
        for option in ("max_states", "max_bytes"):
            check_range(f"{self.name}: {option}", getattr(self, option), 1)

    def check_plan(self, game: Game) -> None:
        self.check_one_return(game)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        solve = clairvoyant_front if unsupported_reasons(game) else exact_front
        front = solve(game, start, max_states=self.max_states, max_bytes=self.max_bytes)
        plans = tuple(
            Plan(tuple(int(a) for a in actions), np.asarray(value, np.float64), front.states, self.name)
            for value, actions in zip(front.points, front.witnesses, strict=True)
        )
        return Plans(plans, front.states, complete=True, info={"states": front.states})
