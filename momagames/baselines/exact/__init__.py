"""Exact Pareto fronts of deterministic games of one agent."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.exact.bounded import bounded_front
from momagames.baselines.exact.checkpoint import Checkpoint
from momagames.baselines.exact.layers import foreseen_front, has_bounds
from momagames.baselines.exact.solve import Bounds, Front, Progress, misfits, pareto_front
from momagames.contract import Game, State
from momagames.errors import TooLarge

__all__ = [
    "Checkpoint",
    "Front",
    "Progress",
    "bounded_front",
    "exact_front",
    "foreseen_front",
    "known_front",
    "pareto_front",
]

QUICK_PLIES = 18  # MO-SameGame: boards of up to 37 cells
QUICK_STATES, QUICK_BYTES = 1_000_000, 256 << 20


def exact_front(game: Game, state: Any = None, *, checkpoint: Checkpoint | None = None, **bounds: Unpack[Bounds]) -> Front:
    """The exact Pareto front by the search that is quickest: `bounded_front` for large boards of a game with bounds, unless
    there is a checkpoint, which it does not keep; else `pareto_front`. Arguments and errors as there."""
    large = game.max_episode_steps > QUICK_PLIES and has_bounds(game)
    if large and checkpoint is None and not misfits(game):
        return bounded_front(game, state, **bounds)
    return pareto_front(game, state, checkpoint=checkpoint, **bounds)


def known_front(game: Game, state: State) -> NDArray[np.float64] | None:
    """The exact Pareto front of the returns from a state record on, float64[n, K], if it is quickly found.

    That is so for a game of one agent without chance during play whose episodes have at most 18 plies (`max_episode_steps`); on
    a board with more than a million positions, which is rare, None is returned as well.
    """
    if misfits(game) or game.max_episode_steps > QUICK_PLIES:
        return None
    try:
        return pareto_front(game, state, max_states=QUICK_STATES, max_bytes=QUICK_BYTES).points
    except TooLarge:
        return None
