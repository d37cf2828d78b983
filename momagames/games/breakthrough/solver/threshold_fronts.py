"""Guaranteed fronts of MO-Breakthrough from searches that each decide whether one vector can be guaranteed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.exact import Checkpoint
from momagames.baselines.exact.checkpoint import CheckpointWriter
from momagames.baselines.strategies import WalkResult, walk
from momagames.errors import InvalidFile
from momagames.games.breakthrough.solver.guarantees import Board, minimal_uncovered
from momagames.games.breakthrough.solver.proof_number import (
    SLOT_BYTES,
    Goal,
    Limits,
    Progress,
    ProofNumberSearch,
    make_threshold_goal,
)
from momagames.registry import format_id

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

    def describe(self) -> dict[str, Any]:
        """Return the search as JSON data, for its checkpoint."""
        board = self.board
        return {
            "game": format_id(board.game.id, board.game.params),
            "position": board.game.codec.save(board.start[0]),
            "agent": board.agent,
        }

    def pack(self) -> tuple[dict[str, Any], NDArray[np.uint64]]:
        """Return header and words of a checkpoint: the decided vectors, the goals by number, and the table."""
        known = [[*vector, decided] for vector, decided in self._known.items()]
        header = {**self.describe(), "known": known, "goals": list(map(list, self._goals)), "nodes": self.search.nodes}
        return header, self.search.list_slots()

    def resume(self, header: dict[str, Any], words: NDArray[np.uint64], path: str) -> None:
        """Continue from a checkpoint. Raises InvalidFile for that of another search."""
        size, search = len(self.board.game.objectives), self.describe()
        if {name: header.get(name) for name in search} != search:
            raise InvalidFile(f"{path}: the checkpoint of another search: expected {search}")
        known, goals, nodes = header.get("known", ()), header.get("goals", ()), header.get("nodes", -1)
        is_complete = is_table(known, size + 1) and is_table(goals, size) and type(nodes) is int and nodes >= 0
        if not is_complete or len(words) % (SLOT_BYTES // words.itemsize):
            raise InvalidFile(f"{path}: invalid checkpoint: expected decided vectors, goals, nodes and slots of a table")
        self._known = {tuple(row[:-1]): bool(row[-1]) for row in known}
        for goal in goals:
            self.make_goal(np.array(goal, np.int64))
        self.search.restore_slots(words, nodes)

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


def is_table(data: Any, columns: int) -> bool:
    """Return whether JSON data is a list of rows of that many numbers below 2**31."""
    rows = data if isinstance(data, list) else [None]
    return all(
        isinstance(row, list) and len(row) == columns and all(isinstance(x, int) and abs(x) < 2**31 for x in row)
        for row in rows
    )


def solve_threshold_front(
    board: Board, limits: Limits, progress: Progress | None = None, checkpoint: Checkpoint | None = None
) -> ThresholdFront:
    """Compute the Pareto front of the vectors that the agent can guarantee against every reply.

    A minimal vector that no point dominates yet is either beyond the front, or raised to a new point, one objective after the
    other. The front is complete when all of these vectors are beyond it (as in Legriel, Le Guernic, Cotton and Maler,
    "Approximating the Pareto front of multi-criteria optimization problems", 2010).

    checkpoint    file of decided vectors and of the table, from which an interrupted search resumes

    Raises    TooLarge; InvalidFile for the checkpoint of another search
    """
    began = time.perf_counter()
    lowest, highest = bound_returns(board)
    oracle, writer = ThresholdOracle(board, limits), CheckpointWriter(checkpoint)
    if checkpoint is not None and (loaded := checkpoint.load()) is not None:
        oracle.resume(*loaded, str(checkpoint.path))

    def report(nodes: int, size: int) -> None:
        if writer.is_due:
            writer.save_if_due(*oracle.pack())
        if progress is not None:
            progress(nodes, size)

    oracle.progress = report
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
