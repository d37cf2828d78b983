"""MO-Breakthrough on small boards, solved: guaranteed vectors, and best responses to random and greedy opponents."""

from momagames.games.breakthrough.solver.fronts import GUARANTEED, RESPONSE

__all__ = ["GUARANTEED", "RESPONSE"]
