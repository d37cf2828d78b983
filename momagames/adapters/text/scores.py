"""Scores of returns against a stated preference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momagames import registry
from momagames.contract import Game, State


@dataclass(frozen=True)
class PreferenceScore:
    """The utility of a return, and what it lacks to the best possible one.

    utility    sum of the return times the weights of the preference
    best       highest utility of a point of the exact Pareto front of the start position; None without a known front
    regret     best - utility, 0 or more; None without a known front
    """

    utility: float
    best: float | None = None
    regret: float | None = None


def score_return(
    game: Game, start: State, seed: int | None, returns: NDArray[np.float64], weights: NDArray[np.float64]
) -> PreferenceScore:
    """Score the return float64[K] of an episode from a start position, for weights float64[K].

    seed    seed of the start position; None if it was given. Fronts of the package are found by it, others are computed if
            the game is small (see `momagames.registry.find_exact_front`)
    """
    utility = float(returns @ weights)
    front = registry.find_exact_front(game, start, seed)
    if front is None:
        return PreferenceScore(utility)
    best = float((front @ weights).max())
    return PreferenceScore(utility, best, max(best - utility, 0.0))
