"""Symmetric games: agents of a class are interchangeable, so that counts of agents stand for joint actions.

`SymmetricGame` is any one-shot game of that kind, and enumerates tables of counts. In a `CrowdingGame` the payoff of an option
depends on who takes it alone, and the options are alike, which goes much further.
"""

from __future__ import annotations

from typing import Any

from momagames.baselines.symmetric.crowding import CrowdingFront, CrowdingGame
from momagames.baselines.symmetric.games import Equilibria, SymmetricGame, compute_prices
from momagames.contract import Game
from momagames.errors import InvalidParameter
from momagames.plugins import load_object

__all__ = ["CrowdingFront", "CrowdingGame", "Equilibria", "SymmetricGame", "compute_prices", "find_counts_game"]


def find_counts_game(game: Game, position: Any) -> SymmetricGame | CrowdingGame:
    """Return the game of interchangeable agents that begins in a position, in any form.

    Raises InvalidParameter for a game that has none, and InvalidState
    """
    if not game.solvers.by_counts:
        raise InvalidParameter(f"{game.id} with these parameters has no game by counts of interchangeable agents")
    found: SymmetricGame | CrowdingGame = load_object(game.solvers.by_counts)(game, position)
    return found
