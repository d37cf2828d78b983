# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Policies of MO-Ingenious. They see the board, the own rack and the own scores."""

from __future__ import annotations

import numpy as np

from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.errors import check_range
from momagames.games.ingenious.rules import MAX_COLORS, find_place, measure_gains
from momagames.kernels.jit import kernel, local_array
from momagames.kernels.rng import update_best

RULES = ("ingenious",)
BASE = 128.0  # more than any cap
LEXIMIN = 0.0  # instead of an exponent


@kernel
def rate_scores(state, team, tile, first_gain, second_gain, exponent):
    """Return a number that is higher for better scores after a placement: minus the sum over the colors of the share of the
    cap that is missing, to the power of the exponent; or with LEXIMIN one whose order is that of the lowest score, then of the
    second lowest, and so on.
    """
    colors, cap, value = np.int64(state["colors"]), np.int64(state["cap"]), 0.0
    scores = local_array(MAX_COLORS)
    for color in range(colors):
        score = np.int64(state["scores"][team, color])
        score += first_gain * np.int64(color + 1 == tile >> 3) + second_gain * np.int64(color + 1 == tile & 7)
        score = min(score, cap)
        value -= ((cap - score) / cap) ** exponent
        i = color
        while i > 0 and scores[i - 1] > score:
            scores[i] = scores[i - 1]
            i -= 1
        scores[i] = score
    if exponent == LEXIMIN:
        value = 0.0
        for i in range(colors):
            value = value * BASE + scores[i]
    return value


@kernel
def choose_placement(state, agent, mask, parts, memory, scratch, word, action):
    """Write the placement with the best scores by `rate_scores`; ties are broken at random."""
    best, ties, team = -np.inf, 0, agent % np.int64(state["teams"])
    for candidate in range(mask.shape[0]):
        if mask[candidate]:
            cell, d, slot = find_place(state, candidate)
            tile = np.int64(state["racks"][agent, slot])
            first_gain, second_gain = measure_gains(state, cell, d, tile)
            value = rate_scores(state, team, tile, first_gain, second_gain, scratch[0][0])
            is_best, best, ties, word = update_best(value, best, ties, word)
            if is_best:
                action[0] = candidate
    return word


def make_balanced(game: Game, exponent: float = 2.0) -> CompiledPolicy:
    """Return a policy that makes all scores grow: what is missing to the cap counts with an exponent, summed over the colors.

    exponent    1: the sum of the scores counts; the higher, the more the lowest score counts

    Source: our own.
    """
    check_range("balanced: exponent", exponent, 1, 20)
    return CompiledPolicy("balanced", choose_placement, rules=RULES, scratch=lambda game: (np.array([float(exponent)]),))


BALANCED = PolicyFactory(make_balanced)
MIN_COLOR = CompiledPolicy("min_color", choose_placement, rules=RULES, scratch=lambda game: (np.array([LEXIMIN]),))
"""Placement after which the lowest score is highest, then the second lowest, and so on (leximin); ties are broken at random.

Source: our own, for the utility of the original game.
"""
