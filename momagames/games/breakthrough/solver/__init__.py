"""MO-Breakthrough on small boards, solved: what a player can guarantee, and best responses to opponents that play by lot."""

from momagames.games.breakthrough.solver.best_response import best_response_value, replies, response_strategy, responses
from momagames.games.breakthrough.solver.guarantees import (
    Board,
    GuaranteedFront,
    can_guarantee,
    guaranteed,
    minimal_uncovered,
    witness,
)

__all__ = [
    "Board",
    "Guaranteed",
    "best_value",
    "can_guarantee",
    "guaranteed",
    "just_beyond",
    "replies",
    "response_witness",
    "responses",
    "witness",
]
