"""The exact Pareto front as a method of the benchmark; the search itself is in `momagames.baselines.exact`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plan, Plans, check_certain
from momagames.baselines.exact import exact_front, foreseen_front
from momagames.baselines.exact.solve import misfits
from momagames.contract import Game
from momagames.errors import InvalidParameter


@dataclass(frozen=True)
class Exact(Method):
    """Every value that no other play beats, proven by a search through all positions. The budget is not asked: a proof
    takes what it takes, and these bounds stop it.

    max_states    positions that may be kept
    max_bytes     memory that they may take

    Source: dynamic programming over sets of vectors, White, "Multi-objective infinite-horizon discounted Markov decision
    processes", 1982; from the start on, as labels of ways, Martins, "On a multicriteria shortest path problem", 1984.
    """

    name: ClassVar[str] = "exact"
    max_states: int
    max_bytes: int

    def __post_init__(self) -> None:
        for option in ("max_states", "max_bytes"):
            if getattr(self, option) < 1:
                raise InvalidParameter(f"{self.name}: invalid {option}={getattr(self, option)}: expected 1 or more")

    def check_luck(self, game: Game) -> None:
        """Raise InvalidParameter if the search may not know what this game will draw."""
        check_certain(self.name, game)

    def check_plan(self, game: Game) -> None:
        self.check_luck(game)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        solve = foreseen_front if misfits(game) else exact_front
        front = solve(game, start, max_states=self.max_states, max_bytes=self.max_bytes)
        plans = tuple(
            Plan(tuple(int(a) for a in actions), np.asarray(value, np.float64), front.states, self.name)
            for value, actions in zip(front.points, front.witnesses, strict=True)
        )
        return Plans(plans, front.states, complete=True, facts={"states": front.states})
