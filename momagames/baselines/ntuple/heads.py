"""Heads: the returns that tables predict for a position, each from the view of the agent that moved last.

An objective with a weight of zero has no head. In games of two agents a zero-sum objective has one head, the return of the
agent that moved last, and the other agent has the negative of it; any other objective has two heads, the returns of either
agent. In other games each objective has one head. A head of a zero-sum objective is bounded by the hyperbolic tangent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game

MOVED, OPPONENT = 0, 1  # roles of an agent: it moved last, or the other one did


class Heads(NamedTuple):
    """Heads for a weight vector, for kernels.

    objectives     int64[H], the objective of each head
    roles          int64[H], MOVED or OPPONENT: whose return it predicts
    bounded        bool[H], whether its value is scale * tanh(sum of its entries) instead of scale * sum
    scales         float64[H]
    coefficients   float64[2, H]: weighted sum of the values that is the weighted return of the agent of a role
    """

    objectives: NDArray[np.int64]
    roles: NDArray[np.int64]
    bounded: NDArray[np.bool_]
    scales: NDArray[np.float64]
    coefficients: NDArray[np.float64]


def make_heads(game: Game, weights: NDArray[np.float64]) -> Heads:
    """Return the heads for weights float64[K]; a single head if all weights are zero."""
    two = len(game.agents) == 2
    rows = []
    for k in np.flatnonzero(weights) if weights.any() else [0]:
        objective = game.objectives[k]
        scale = max(abs(objective.return_low), abs(objective.return_high))
        scale = scale if 0 < scale < np.inf else 1.0
        mirrored = two and objective.zero_sum
        rows.append((k, MOVED, objective.zero_sum, scale, weights[k], -weights[k] if mirrored else 0.0))
        if two and not mirrored:
            rows.append((k, OPPONENT, False, scale, 0.0, weights[k]))
    objectives, roles, bounded, scales, moved, opponent = (np.array(column) for column in zip(*rows, strict=True))
    return Heads(
        objectives.astype(np.int64), roles, bounded, scales.astype(np.float64), np.array([moved, opponent], np.float64)
    )
