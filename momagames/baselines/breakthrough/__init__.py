"""MO-Breakthrough on small boards, solved: what a player can guarantee, and best responses to opponents that play by lot."""

from momagames.baselines.breakthrough.responses import best_value, replies, response_witness, responses
from momagames.baselines.breakthrough.solve import Board, Guaranteed, can_guarantee, guaranteed, just_beyond, witness

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
