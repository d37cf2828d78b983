"""Solver for MO-Breakthrough on small boards: guaranteed fronts, and best responses to random or greedy opponents."""

from momagames.games.breakthrough.solver.best_response import (
    best_response_value,
    reply_probabilities,
    response_strategy,
    solve_best_responses,
)
from momagames.games.breakthrough.solver.guarantees import (
    Board,
    GuaranteedFront,
    can_guarantee,
    guarantee_strategy,
    minimal_uncovered,
    solve_guaranteed_front,
)

__all__ = [
    "Board",
    "GuaranteedFront",
    "best_response_value",
    "can_guarantee",
    "guarantee_strategy",
    "minimal_uncovered",
    "reply_probabilities",
    "response_strategy",
    "solve_best_responses",
    "solve_guaranteed_front",
]
