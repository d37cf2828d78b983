"""One ply ahead: the legal action whose immediate reward, weighted, is the highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, check_certain, check_turns
from momagames.baselines.random import sample
from momagames.baselines.weight_lattice import resolve_weights, format_weights, simplex_lattice
from momagames.contract import Game, State
from momagames.engine.playouts import GREEDY, buffers, chooser, greedy_act
from momagames.engine.policies import Compiled, Member
from momagames.errors import InvalidParameter


@dataclass(frozen=True)
class Greedy(Method):
    """One policy for each weight vector of a simplex lattice; each maximizes the weighted reward of its next move.

    Ties are broken by lot. As a planner: the policies play in turn, again and again, while the budget lasts; each action
    that is looked at is a step of the budget.

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
        check_certain(self.name, game)
        simplex_lattice(len(game.objectives), self.divisions)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_plan(game)
        return sample(game, start, self.policies(game), budget, seed)

    def policies(self, game: Game) -> tuple[Member, ...]:
        check_turns(self.name, game)
        lattice = simplex_lattice(len(game.objectives), self.divisions)
        return tuple(_member(game, row) for row in lattice)


def member(game: Game, weights: Sequence[float] | None = None) -> Member:
    """The greedy policy with these weights, float[K] (none: all equal)."""
    check_turns("greedy", game)
    return _member(game, resolve_weights("greedy", game, weights))


def _member(game: Game, weights: NDArray[np.float64]) -> Member:
    def scratch(game: Game) -> tuple[Any, ...]:
        return (weights, np.zeros(1, game.dtype), *buffers(game))

    return Member(format_weights(weights), GREEDY, tuple(weights.tolist()), Compiled("greedy", greedy_act(game), scratch=scratch))


class GreedyPolicy:
    """The legal action of the highest weighted reward, ties by lot; see `Greedy`."""

    @classmethod
    def member(cls, game: Game, weights: Sequence[float] | None = None) -> Member:
        return member(game, weights)

    def __init__(self, game: Game, weights: Sequence[float] | None = None, agent: int | None = None) -> None:
        self._game = game
        self._weights = np.array(member(game, weights).weights)
        self._state, self._trial = np.zeros(1, game.dtype), np.zeros(1, game.dtype)
        self._actions, self._reward = buffers(game)

    def __call__(self, state: State, mask: NDArray[np.int8], rng: np.random.Generator) -> int:
        self._state[0] = state
        word = rng.integers(2**64, dtype=np.uint64)
        choose = chooser(self._game)
        return int(choose(self._state, mask, self._weights, word, self._trial, self._actions, self._reward))
