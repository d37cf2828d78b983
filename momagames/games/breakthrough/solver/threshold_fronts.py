"""Guaranteed fronts of MO-Breakthrough from searches that each decide whether one vector can be guaranteed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.strategies import WalkResult, walk
from momagames.games.breakthrough.solver.guarantees import Board, minimal_uncovered
from momagames.games.breakthrough.solver.proof_number import (
    Goal,
    Limits,
    Progress,
    ProofNumberSearch,
    make_threshold_goal,
)

Vectors = NDArray[np.int64]


@dataclass(frozen=True)
class ThresholdFront:
    """Front of the vectors that an agent can guarantee.

    points    int64[n, K], in units of the objectives, in ascending lexicographic order
    beyond    int64[m, K], the minimal vectors that no point dominates; none of them can be guaranteed
    oracle    of the board, with the solved positions
    """

    points: Vectors
    beyond: Vectors
    oracle: ThresholdOracle
    seconds: float


class ThresholdOracle:
    """Decides which vectors an agent can guarantee, and plays accordingly."""

    def __init__(self, board: Board, limits: Limits, progress: Progress | None = None) -> None:
        self.board, self.progress = board, progress
        self.search = ProofNumberSearch(board.game, limits)
        self._goals: dict[tuple[int, ...], Goal] = {}
        self._known: dict[tuple[int, ...], bool] = {}

    def make_goal(self, vector: Vectors) -> Goal:
        """Return the goal of a vector, int64[K]."""
        key = tuple(vector.tolist())
        if key not in self._goals:
            self._goals[key] = make_threshold_goal(self.board, vector, len(self._goals) + 2)
        return self._goals[key]

    def can_guarantee(self, vector: Vectors) -> bool:
        """Return whether the agent can guarantee a vector, int64[K] in units; TooLarge."""
        key = tuple(vector.tolist())
        if key not in self._known:
            goal = self.make_goal(vector)
            self._known[key] = self.search.can_force(self.board.start[0], self.board.agent, goal, self.progress)
        return self._known[key]

    def guarantee(self, vector: Vectors) -> tuple[WalkResult, list[int]]:
        """Return the outcome of a strategy that guarantees a vector, and its actions in the order of the walk."""
        return self._walk(vector, self.board.agent)

    def prevent(self, vector: Vectors) -> WalkResult:
        """Return the outcome, for the agent, of a strategy of the opponent that prevents a vector."""
        return self._walk(vector, 1 - self.board.agent)[0]

    def _walk(self, vector: Vectors, player: int) -> tuple[WalkResult, list[int]]:
        board, goal = self.board, self.make_goal(vector)
        actions: list[int] = []

        def choose(states: NDArray[Any], returns: NDArray[np.float64]) -> NDArray[np.int64]:
            chosen = self.search.choose(states, board.agent, goal)
            actions.extend(chosen.tolist())
            return chosen

        return walk(board.game, board.start, player, choose, returns_of=board.agent), actions


def bound_returns(board: Board) -> tuple[Vectors, Vectors]:
    """Return the smallest and the largest return in each objective, int64[K] in units."""
    objectives = board.game.objectives
    return (
        board.to_units(np.array([one.return_low for one in objectives])),
        board.to_units(np.array([one.return_high for one in objectives])),
    )


def solve_threshold_front(board: Board, limits: Limits, progress: Progress | None = None) -> ThresholdFront:
    """Compute the Pareto front of the vectors that the agent can guarantee against every reply.

    A minimal vector that no point dominates yet is either beyond the front, or raised to a new point, one objective after the
    other. The front is complete when all of these vectors are beyond it (as in Legriel, Le Guernic, Cotton and Maler,
    "Approximating the Pareto front of multi-criteria optimization problems", 2010).

    Raises    TooLarge
    """
    began = time.perf_counter()
    lowest, highest = bound_returns(board)
    oracle = ThresholdOracle(board, limits, progress)
    points = np.zeros((0, len(lowest)), np.int64)
    while True:
        beyond = minimal_uncovered(points, lowest, highest)
        new = next((vector for vector in beyond if oracle.can_guarantee(vector)), None)
        if new is None:
            return ThresholdFront(points[np.lexsort(points.T[::-1])], beyond, oracle, time.perf_counter() - began)
        points = np.concatenate([points, [_raise_vector(new, highest, oracle.can_guarantee)]])


def _raise_vector(vector: Vectors, highest: Vectors, holds: Callable[[Vectors], bool]) -> Vectors:
    """Return a maximal vector of those that hold above a given one, by bisection of each objective."""
    vector = vector.copy()
    for k in range(len(vector)):
        low, high = int(vector[k]), int(highest[k])
        while low < high:
            vector[k] = (low + high + 1) // 2
            low, high = (int(vector[k]), high) if holds(vector) else (low, int(vector[k]) - 1)
        vector[k] = low
    return vector
