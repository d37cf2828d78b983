"""Symmetric games: agents of a class are interchangeable, so that counts of agents stand for joint actions.

`SymmetricGame` is any one-shot game of that kind, and enumerates tables of counts. In a `CrowdingGame` the payoff of an option
depends on who takes it alone, and the options are alike, which goes much further.
"""

from momagames.baselines.symmetric.crowding import CrowdingFront, CrowdingGame
from momagames.baselines.symmetric.games import Equilibria, SymmetricGame, compute_prices

__all__ = ["CrowdingFront", "CrowdingGame", "Equilibria", "SymmetricGame", "compute_prices"]
