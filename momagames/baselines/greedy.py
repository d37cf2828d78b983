"""One ply ahead: the legal action whose immediate reward, weighted, is the highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, check_deterministic, check_sequential
from momagames.baselines.random import sample_plans
from momagames.baselines.weight_lattice import format_weights, resolve_weights, simplex_lattice
from momagames.contract import Game
from momagames.engine.playouts import GREEDY, make_greedy_kernel, make_step_buffers
from momagames.engine.policies import CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.errors import InvalidParameter


@dataclass(frozen=True)
class Greedy(Method):
    """One policy for each weight vector of a simplex lattice; each maximizes the weighted reward of its next move.

    Ties are broken at random. As a planner: the policies play one after the other within the budget. Each action that is
    tried counts as a step.

    divisions    of the lattice: C(divisions + K - 1, K - 1) policies for K objectives

    Source: Cormen et al., "Introduction to Algorithms", chapter on greedy algorithms; linear scalarization as in Roijers
    et al., "A survey of multi-objective sequential decision-making", JAIR 48, 2013.
    """

    name: ClassVar[str] = "greedy"
    divisions: int

    def __post_init__(self) -> None:
        if self.divisions < 1:
            raise InvalidParameter(f"greedy: invalid divisions={self.divisions}: expected 1 or more")

    def check_plan(self, game: Game) -> None:
        check_deterministic(self.name, game)
        simplex_lattice(len(game.objectives), self.divisions)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        return sample_plans(game, start, self.policies(game), budget, seed)

    def policies(self, game: Game) -> tuple[CompiledPolicy, ...]:
        check_sequential(self.name, game)
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        return tuple(_make_policy(game, row) for row in lattice)


def make_greedy_policy(game: Game, weights: Sequence[float] | None = None) -> CompiledPolicy:
    """Return the greedy policy with these weights, float[K]; by default all equal."""
    check_sequential("greedy", game)
    return _make_policy(game, resolve_weights("greedy", game, weights))


GREEDY_POLICY = PolicyFactory(make_greedy_policy)


def _make_policy(game: Game, weights: NDArray[np.float64]) -> CompiledPolicy:
    def scratch(game: Game) -> tuple[Any, ...]:
        return (weights, np.zeros(1, game.dtype), *make_step_buffers(game))

    act, row = make_greedy_kernel(game), tuple(weights.tolist())
    return CompiledPolicy("greedy", act, scratch=scratch, label=format_weights(weights), rule=GREEDY, weights=row)
