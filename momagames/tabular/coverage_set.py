"""Convex coverage sets: the returns of policies that are best for some weights.

The convex coverage set of a model is the set of vertices of the upper surface max_v w.v over weights w >= 0 that add up to 1
(Roijers, Vamplew, Whiteson and Dazeley, "A survey of multi-objective sequential decision-making", JAIR 2013). Optimistic linear
support (Roijers, Whiteson and Oliehoek, "Computing convex coverage sets for faster multi-objective coordination", JAIR 2015)
solves the problem at the corners of the surface of the vectors found so far, until no corner improves. The optimum is convex in
the weights, so it agrees with the surface everywhere if it does at the corners. All numbers are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from momagames.tabular.evaluation import Policy, WeightedSolver, evaluate_policy
from momagames.tabular.explore import Clock, Limits
from momagames.tabular.model import TabularModel, Vector, dot

FLOAT_MARGIN = 1e-9  # beyond which the sign of a float is that of the exact number


@dataclass(frozen=True)
class Certificate:
    """Proof that no policy exceeds a bound at some weights: the exact value of this policy does not improve in any state.

    weights    fractions that are 0 or more and add up to 1
    policy     int64[S]
    """

    weights: Vector
    policy: Policy


@dataclass(frozen=True)
class CoverageSet:
    """A convex coverage set.

    vectors         in ascending order
    policies        int64[S] each, one for each vector
    certificates    one for each corner of the surface of the vectors
    """

    vectors: list[Vector]
    policies: list[Policy]
    certificates: list[Certificate]


class UpperSurface:
    """The polyhedral cone {(w, t): w >= 0, t >= w.v for all vectors v}, by the double description method.

    Its extreme rays with w != 0 are the corners of the surface max_v w.v (Motzkin, Raiffa, Thompson and Thrall, 1953; adjacency
    of rays by Fukuda and Prodon, 1996).
    """

    def __init__(self, first: Vector) -> None:
        size = len(first)
        self._size = size
        units = [tuple(Fraction(i == k) for i in range(size)) for k in range(size)]
        self._constraints: list[Vector] = [(*unit, Fraction(0)) for unit in units]
        self._constraints.append((*(-x for x in first), Fraction(1)))
        rays = [(*unit, value) for unit, value in zip(units, first, strict=True)]
        rays.append((*(Fraction(0) for _ in units), Fraction(1)))
        self._rays = {ray: self._tight(ray) for ray in rays}

    def _tight(self, ray: Vector) -> frozenset[int]:
        return frozenset(i for i, row in enumerate(self._constraints) if dot(row, ray) == 0)

    def add(self, vector: Vector) -> None:
        """Add a vector."""
        row = (*(-x for x in vector), Fraction(1))
        self._constraints.append(row)
        number = len(self._constraints) - 1
        signed = {ray: dot(row, ray) for ray in self._rays}
        above = [ray for ray, value in signed.items() if value > 0]
        below = [ray for ray, value in signed.items() if value < 0]
        found = {ray: tight | {number} if signed[ray] == 0 else tight for ray, tight in self._rays.items() if signed[ray] >= 0}
        for one in above:
            for other in below:
                common = self._rays[one] & self._rays[other]
                if len(common) >= self._size - 1 and not any(
                    common <= tight for ray, tight in self._rays.items() if ray is not one and ray is not other
                ):
                    new = tuple(signed[one] * b - signed[other] * a for a, b in zip(one, other, strict=True))
                    total = sum(new[:-1], Fraction(0))
                    found[tuple(x / total for x in new)] = common | {number}
        self._rays = found

    def corners(self) -> list[tuple[Vector, Fraction]]:
        """Return the weights of the corners, which add up to 1, and the height of the surface there."""
        return [(ray[:-1], ray[-1]) for ray in self._rays if any(ray[:-1])]


def find_coverage_set(model: TabularModel, gamma: Fraction, limits: Limits) -> CoverageSet:
    """Return the convex coverage set of the expected discounted returns of all policies, with policies and certificates.

    Raises    InvalidParameter for a discount of 1 with episodes that may not end, TooLarge beyond the time limit
    """
    solver = WeightedSolver(model, gamma, Clock(limits, "weights solved"))
    size = model.num_objectives
    solution = solver.solve(tuple(Fraction(1, size) for _ in range(size)))
    found: dict[Vector, Policy] = {}
    first = evaluate_policy(model, solution.policy, gamma)
    found[first] = solution.policy
    surface, closed = UpperSurface(first), dict[Vector, Certificate]()
    while open_corners := [(w, height) for w, height in surface.corners() if w not in closed]:
        for weights, height in open_corners:
            solution = solver.solve(weights)
            if solution.values[0] > height:
                vector = evaluate_policy(model, solution.policy, gamma)
                found[vector] = solution.policy
                surface.add(vector)
                break
            closed[weights] = Certificate(weights, solution.policy)
    vectors = sorted(vector for vector in found if is_vertex(vector, list(found)))
    corners = sorted(weights for weights, _ in surface.corners())
    return CoverageSet(vectors, [found[v] for v in vectors], [closed[w] for w in corners])


def is_vertex(vector: Vector, others: Sequence[Vector]) -> bool:
    """Return whether a vector is better than the others for some positive measure of weights: its cell has full dimension."""
    cell = find_cell(vector, [other for other in others if other != vector])
    edges = [[x - y for x, y in zip(weights, cell[0], strict=True)] for weights in cell[1:]]
    return _rank(edges) == len(vector) - 1


def find_cell(vector: Vector, others: Sequence[Vector]) -> list[Vector]:
    """Return the corners of the cell of a vector: the weights for which no other vector is better.

    Every choice of K - 1 constraints is tried, without the double description method, so that a verification does not rest on
    it. The cell is empty if the vector is best for no weights.
    """
    size = len(vector)
    units = [[Fraction(i == k) for i in range(size)] for k in range(size)]
    rows = units + [[x - y for x, y in zip(vector, other, strict=True)] for other in others]
    floats = np.array([[float(x) for x in row] for row in rows])
    margin = FLOAT_MARGIN * (1.0 + np.abs(floats).max())
    found: dict[Vector, None] = {}
    for chosen in combinations(rows, size - 1):
        weights = _solve([*chosen, [Fraction(1)] * size], [Fraction(0)] * (size - 1) + [Fraction(1)])
        if weights is None or weights in found or (floats @ [float(w) for w in weights] < -margin).any():
            continue
        if all(dot(row, weights) >= 0 for row in rows):
            found[weights] = None
    return list(found)


def _solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Vector | None:
    """Return the solution of a square system, or None if it is not unique."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    return tuple(row[-1] for row in rows) if _reduce(rows, len(rows)) == len(rows) else None


def _rank(matrix: Sequence[Sequence[Fraction]]) -> int:
    return _reduce([list(row) for row in matrix], len(matrix[0]) if matrix else 0)


def _reduce(rows: list[list[Fraction]], columns: int) -> int:
    """Bring the first columns of a matrix into reduced row echelon form; return their rank."""
    rank = 0
    for column in range(columns):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        scale = rows[rank][column]
        rows[rank] = [x / scale for x in rows[rank]]
        for r in range(len(rows)):
            if r != rank and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[rank], strict=True)]
        rank += 1
    return rank
