"""Optimistic estimates for searches: for a position, at least what can still be won in each objective.

A game without one is searched without. A kernel is (state, out float64[K]) -> None.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from momagames.contract import Game

# rules_key -> "module:kernel"
ESTIMATES: dict[str, str] = {"samegame": "momagames.baselines.samegame_estimate:all_in_one_group"}


def estimate(game: Game) -> Callable[..., Any] | None:
    """The kernel that belongs to a game's rules, or None."""
    if game.rules_key not in ESTIMATES:
        return None
    module, _, attribute = ESTIMATES[game.rules_key].partition(":")
    kernel: Callable[..., Any] = getattr(import_module(module), attribute)
    return kernel
