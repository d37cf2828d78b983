"""Weights that are spread evenly: the simplex lattice."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.errors import InvalidParameter

MAX_POINTS = 1_000_000


def simplex_lattice(objectives: int, divisions: int) -> NDArray[np.float64]:
    """All weight vectors whose entries are multiples of 1 / divisions and sum to 1, float64[n, K], in descending order.

    n is C(divisions + K - 1, K - 1). Source: Scheffé, "Experiments with mixtures", J. R. Stat. Soc. B 20, 1958.
    """
    if objectives < 1 or divisions < 1:
        raise InvalidParameter(f"objectives={objectives}, divisions={divisions} are not possible; allowed: 1 or more each")
    count = comb(divisions + objectives - 1, objectives - 1)
    if count > MAX_POINTS:
        raise InvalidParameter(
            f"divisions={divisions} gives {count:,} weights for {objectives} objectives; allowed: {MAX_POINTS:,}"
        )
    rows = np.zeros((1, 0), np.int64)
    left = np.array([divisions])
    for _ in range(objectives - 1):  # extend each row by every entry that still fits, largest first
        repeats = left + 1
        parent = np.repeat(np.arange(len(rows)), repeats)
        rank = np.arange(len(parent)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        entry = left[parent] - rank
        rows = np.column_stack([rows[parent], entry])
        left = left[parent] - entry
    return np.column_stack([rows, left]) / divisions


def given_weights(name: str, game: Game, weights: Sequence[float] | None) -> NDArray[np.float64]:
    """The weights that the user of the policy `name` gives the objectives, float64[K]; none: all equal. Or InvalidParameter."""
    goals = len(game.objectives)
    try:
        row = np.full(goals, 1 / goals) if weights is None or not len(weights) else np.array(weights, np.float64)
    except (TypeError, ValueError):
        row = np.zeros(0)
    if row.shape != (goals,) or not np.isfinite(row).all():
        raise InvalidParameter(f"{name}: invalid weights={weights!r}: expected {goals} finite numbers")
    return row


def label(weights: NDArray[np.float64]) -> str:
    """A weight vector as a short name: 'w=(0.5, 0.5, 0)'."""
    return f"w=({', '.join(f'{w:.3g}' for w in weights)})"
