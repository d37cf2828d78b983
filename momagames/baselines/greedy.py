"""One ply ahead: the legal action with the highest weighted reward, alone or with an estimate of the future return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, check_sequential, check_shared_rewards
from momagames.baselines.random import sample_plans
from momagames.baselines.weight_lattice import MAX_POLICIES, format_weights, resolve_weights, simplex_lattice
from momagames.contract import Game
from momagames.engine.lookahead import make_trial
from momagames.engine.playouts import ESTIMATE_FACTORS, ESTIMATES, GREEDY, Estimate, make_greedy_kernel
from momagames.engine.policies import LOOKAHEAD_MEMORY, CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.errors import InvalidParameter, check_choice, check_range, invalid_value, one_of


@dataclass(frozen=True)
class Greedy(Method):
    """One policy for each weight vector of a simplex lattice; each maximizes the weighted reward of its next move.

    Ties are broken at random. As a planner: the policies play one after the other within the budget. Each action that is
    tried counts as a step. With an estimate each action is tried on a copy of the position, whose random draws are its own.

    divisions    of the lattice: C(divisions + K - 1, K - 1) policies for K objectives
    estimate     of the future return, added to the reward of a move: "none"; the game's heuristics "present" or "optimistic"
                 (see `contract.SearchSupport`); or "both", the first and a tenth of the second

    Source: Cormen et al., "Introduction to Algorithms", chapter on greedy algorithms; linear scalarization as in Roijers
    et al., "A survey of multi-objective sequential decision-making", JAIR 48, 2013.
    """

    name: ClassVar[str] = "greedy"
    divisions: int
    estimate: Estimate = "none"

    def __post_init__(self) -> None:
        check_range("greedy: divisions", self.divisions, 1, whole=True)
        check_choice("greedy: estimate", self.estimate, ESTIMATES)

    def check_plan(self, game: Game) -> None:
        self.check_one_return(game)
        simplex_lattice(len(game.objectives), self.divisions, MAX_POLICIES)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        return sample_plans(game, start, self.policies(game), budget, seed)

    def policies(self, game: Game) -> tuple[CompiledPolicy, ...]:
        _check_game(game, self.estimate)
        lattice = simplex_lattice(len(game.objectives), self.divisions, MAX_POLICIES)
        return tuple(_make_policy(game, row, self.estimate) for row in lattice)


def make_greedy_policy(game: Game, weights: Sequence[float] | None = None, estimate: Estimate = "none") -> CompiledPolicy:
    """Return the greedy policy with these weights, float[K], by default all equal, and this estimate, see `Greedy`."""
    check_choice("greedy: estimate", estimate, ESTIMATES)
    _check_game(game, estimate)
    return _make_policy(game, resolve_weights("greedy", game, weights), estimate)


GREEDY_POLICY = PolicyFactory(make_greedy_policy, optional=("estimate",))


def _check_game(game: Game, estimate: Estimate) -> None:
    """Raise InvalidParameter if there is no greedy policy for this game."""
    check_sequential("greedy", game)
    if estimate == "none":
        return
    check_shared_rewards(f"greedy(estimate={estimate!r})", game)
    needed = ("present", "optimistic") if estimate == "both" else (estimate,)
    if any(getattr(game.search, name) is None for name in needed):
        known = [name for name in ("present", "optimistic") if getattr(game.search, name) is not None]
        expected = one_of(["none", *known]) if known else "'none', because it has no estimates"
        raise InvalidParameter(f"{game.id}: {invalid_value('estimate', estimate, expected)}")


def _make_policy(game: Game, weights: NDArray[np.float64], estimate: Estimate) -> CompiledPolicy:
    number = ESTIMATES.index(estimate)

    def scratch(game: Game) -> tuple[Any, ...]:
        return weights, ESTIMATE_FACTORS[number], *make_trial(game)

    name = "greedy.estimating" if number else "greedy"
    act, label, row = make_greedy_kernel(game, bool(number)), format_weights(weights), tuple(weights.tolist())
    return CompiledPolicy(name, act, LOOKAHEAD_MEMORY, scratch=scratch, label=label, rule=GREEDY + number, weights=row)
