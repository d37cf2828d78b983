"""Maximum utility loss, exact, by linear programs of matrix games.

For a point r of the reference set, the worst weights against a front F solve a two-player zero-sum game: the first player
selects an objective k, the second a point v of F, and the payoff of the first is r[k] - v[k]. Mixed strategies of the first
player are weights. Those of the second are points of the convex hull of F, so that the loss equals the additive epsilon of
the hull. Every mixture of the second player bounds the loss of every r from above, so that few games have to be solved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import Array, as_matrix, filter_dominated


class Loss(NamedTuple):
    """The largest loss of a weighted sum, and its weights, float[K]."""

    value: float
    weights: Array


class Solution(NamedTuple):
    """The value of a matrix game, and the optimal mixtures of rows and columns."""

    value: float
    row_mixture: Array
    column_mixture: Array


def maximum_utility_loss(points: ArrayLike, reference_set: ArrayLike) -> Loss:
    """Return the largest shortfall, over all weights, of the best weighted sum from that of the reference set.

    The result is exact up to rounding and at most the additive epsilon in the same coordinates. It is negative only if the
    points beat the reference set for every weight. Pass normalized points.

    Source: Zintgraf et al., "Quality assessment of MORL algorithms: a utility-based approach", Benelearn 2015.
    """
    known = filter_dominated(as_matrix("reference_set", reference_set, min_rows=1))
    own = filter_dominated(as_matrix("points", points, known.shape[1], min_rows=1))
    columns = np.ascontiguousarray(own.T)  # maxima over the objectives are faster along the first axis
    bounds = np.array([(point[:, None] - columns).max(axis=0).min() for point in known])
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
    """Solve a matrix game, float[m, n] payoffs of the row player, by linear programming.

    The value is what the row mixture guarantees, and the two mixtures certify it: ArithmeticError if they differ by more than
    1e-8 of the span of the payoffs.
    """
    payoff_matrix = as_matrix("payoffs", payoffs, min_rows=1)
    m, n = payoff_matrix.shape
    row_minima, column_maxima = payoff_matrix.min(axis=1), payoff_matrix.max(axis=0)
    if row_minima.max() == column_maxima.min():  # a saddle point; most small fronts have one
        return Solution(float(column_maxima.min()), np.eye(m)[row_minima.argmax()], np.eye(n)[column_maxima.argmin()])
    from scipy.optimize import linprog  # takes longer to load than all else of this layer

    low, span = payoff_matrix.min(), float(np.ptp(payoff_matrix))
    # maximize v where v <= weights @ column for each column, and the weights sum to 1
    result = linprog(
        np.r_[np.zeros(m), -1],
        A_ub=np.c_[(low - payoff_matrix.T) / span, np.ones(n)],
        b_ub=np.zeros(n),
        A_eq=[np.r_[np.ones(m), 0]],
        b_eq=[1],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.x is None:
        raise ArithmeticError(f"a matrix game of {m} by {n} was not solved: {result.message}")
    weights = np.maximum(result.x[:m], 0)
    columns = np.maximum(-result.ineqlin.marginals, 0)
    weights, columns = weights / weights.sum(), columns / columns.sum()
    least, most = float((weights @ payoff_matrix).min()), float((payoff_matrix @ columns).max())
    if most - least > 1e-8 * span:
        raise ArithmeticError(
            f"a matrix game of {m} by {n} has a value from {least} to {most}: the rounding error is too large"
        )
    return Solution(least, weights, columns)
