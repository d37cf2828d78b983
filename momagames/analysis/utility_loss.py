"""Maximum utility loss, exact, by small matrix games.

For one point r of the reference set the worst weights against a front F solve a game of two players: one picks an
objective k, the other a point v of F, and r[k] - v[k] is paid. Mixed strategies of the first are weights, those of the
second are points of F's convex hull, so that the loss is also the additive epsilon of that hull. Any mixture that was
found bounds the loss of every r from above; most r are never solved for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import Array, as_matrix, filter_dominated

EPS = 1e-11
PIVOTS = 10_000
PATIENT = 50  # pivots by steepest cost; then by lowest index, which cannot cycle


class Loss(NamedTuple):
    """The most that a user with a weighted sum loses, and the weights of that user, float[K]."""

    value: float
    weights: Array


class Solution(NamedTuple):
    """A matrix game: its value, and the best mixtures of rows and columns."""

    value: float
    row_mixture: Array
    column_mixture: Array


def maximum_utility_loss(points: ArrayLike, reference_set: ArrayLike) -> Loss:
    """Largest amount, over all weights, by which the best point falls short of the best point of the reference set.

    Exact up to rounding; a finite set of weights gives less. At most the additive epsilon in the same coordinates, and
    negative only if the points beat the reference set for every user. For normalized points.

    Source: Zintgraf et al., "Quality assessment of MORL algorithms: a utility-based approach", Benelearn 2015.
    """
    known = filter_dominated(as_matrix("reference_set", reference_set, min_rows=1))
    own = filter_dominated(as_matrix("points", points, known.shape[1], min_rows=1))
    bounds = np.array([(point - own).max(axis=1).min() for point in known])
    best = Loss(-np.inf, np.full(known.shape[1], np.nan))
    while bounds.max() > best.value:
        i = int(bounds.argmax())
        game = solve((known[i] - own).T)
        if game.value > best.value:
            best = Loss(game.value, game.row_mixture)
        bounds = np.minimum(bounds, (known - game.column_mixture @ own).max(axis=1))
        bounds[i] = min(bounds[i], game.value)
    return best


def solve(payoffs: ArrayLike) -> Solution:
    """The value of a matrix game, float[m, n] paid to the player who picks the row; exact up to rounding.

    By the simplex method on the column player's program, which has m constraints. The two mixtures prove the value: each
    player gets it against everything. ArithmeticError if rounding spoilt that proof.

    Source: Dantzig, "A proof of the equivalence of the programming problem and the game problem", 1951.
    """
    paid = as_matrix("payoffs", payoffs, min_rows=1)
    m, n = paid.shape
    low, span = paid.min(), float(np.ptp(paid)) or 1.0
    # maximize sum(y) where table @ y <= 1, y >= 0, and all entries are between 1 and 2
    table = np.zeros((m + 1, n + m + 1))
    table[:m, :n] = (paid - low) / span + 1
    table[:m, n:-1] = np.eye(m)
    table[:m, -1] = 1
    table[m, :n] = -1
    basis = np.arange(n, n + m)
    for pivot in range(PIVOTS):
        costs = table[m, :-1]
        column = int(costs.argmin() if pivot < PATIENT else (costs < -EPS).argmax())
        if costs[column] >= -EPS:
            break
        _pivot(table, basis, column)
    chosen = np.zeros(n + m)
    chosen[basis] = table[:m, -1]
    columns = np.maximum(chosen[:n], 0)
    weights = np.maximum(table[m, n:-1], 0)
    columns, weights = columns / columns.sum(), weights / weights.sum()
    least, most = float((weights @ paid).min()), float((paid @ columns).max())
    if most - least > 1e-8 * span:
        raise ArithmeticError(f"a matrix game of {m} by {n} is between {least} and {most}: rounding spoilt its solution")
    return Solution(least, weights, columns)


def _pivot(table: Array, basis: np.ndarray[tuple[int], np.dtype[np.int64]], column: int) -> None:
    """Bring a column into the basis, in place; of rows that are equally tight the one of the lowest index leaves."""
    entries, right = table[:-1, column], table[:-1, -1]
    ratios = np.full(len(right), np.inf)
    np.divide(right, entries, out=ratios, where=entries > EPS)
    ties = np.flatnonzero(ratios <= ratios.min() + EPS)
    row = int(ties[basis[ties].argmin()])
    table[row] /= table[row, column]
    others = table[:, column].copy()
    others[row] = 0
    table -= np.outer(others, table[row])
    basis[row] = column
