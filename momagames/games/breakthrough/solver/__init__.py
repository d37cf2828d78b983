"""MO-Breakthrough on small boards, solved: guaranteed vectors, equilibria, best responses to random and greedy opponents."""

from momagames.games.breakthrough.solver.fronts import EQUILIBRIUM, GUARANTEED, RESPONSE, SUBGAME_PERFECT

__all__ = ["EQUILIBRIUM", "GUARANTEED", "RESPONSE", "SUBGAME_PERFECT"]
