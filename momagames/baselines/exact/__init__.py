"""Exact Pareto fronts of deterministic single-agent games."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.exact.branch_and_bound import branch_and_bound_front
from momagames.baselines.exact.checkpoint import Checkpoint
from momagames.baselines.exact.depth_first import Front, Progress, SearchOptions, pareto_front, unsupported_reasons
from momagames.baselines.exact.label_setting import clairvoyant_front, has_upper_bounds
from momagames.contract import Game, State
from momagames.errors import TooLarge

__all__ = [
    "Checkpoint",
    "Front",
    "Progress",
    "branch_and_bound_front",
    "clairvoyant_front",
    "exact_front",
    "pareto_front",
    "pareto_front_if_small",
]

LARGE_PLIES = 18  # MO-SameGame: boards of more than 37 cells; searches of shorter games take milliseconds
QUICK_STATES, QUICK_BYTES = 500_000, 64 << 20  # about a second


def exact_front(
    game: Game, state: Any = None, *, checkpoint: Checkpoint | None = None, **options: Unpack[SearchOptions]
) -> Front:
    """Compute the exact Pareto front with the fastest search.

    That is `branch_and_bound_front` for large boards of a game with upper bounds. Other games, and every search with a
    checkpoint, use `pareto_front`. Arguments and errors as there.
    """
    large = game.max_episode_steps > LARGE_PLIES and has_upper_bounds(game)
    if large and checkpoint is None and not unsupported_reasons(game):
        return branch_and_bound_front(game, state, **options)
    return pareto_front(game, state, checkpoint=checkpoint, **options)


def pareto_front_if_small(game: Game, state: State) -> NDArray[np.float64] | None:
    """Compute the exact Pareto front of the returns from a state record, float64[n, K], or return None if that is slow.

    The front is computed for a game that `pareto_front` supports, unless it takes more than half a million positions or 64 MiB.
    """
    if unsupported_reasons(game):
        return None
    try:
        return pareto_front(game, state, max_states=QUICK_STATES, max_bytes=QUICK_BYTES).points
    except TooLarge:
        return None
