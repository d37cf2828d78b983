# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Policies of MO-Ingenious."""

from __future__ import annotations

import numpy as np

from momagames.engine.policies import CompiledPolicy
from momagames.games.ingenious.rules import MAX_COLORS, find_place, measure_gains
from momagames.kernels.jit import kernel, local_array
from momagames.kernels.rng import update_best

RULES = ("ingenious",)
BASE = 128.0  # more than any cap


@kernel
def rate_scores(state, team, tile, first_gain, second_gain):
    """Return a number that is higher for scores whose lowest is higher, among equal ones whose second lowest is, and so on."""
    colors, cap = np.int64(state["colors"]), np.int64(state["cap"])
    scores = local_array(MAX_COLORS)
    for color in range(colors):
        score = np.int64(state["scores"][team, color])
        score += first_gain * np.int64(color + 1 == tile >> 3) + second_gain * np.int64(color + 1 == tile & 7)
        i = color
        while i > 0 and scores[i - 1] > min(score, cap):
            scores[i] = scores[i - 1]
            i -= 1
        scores[i] = min(score, cap)
    value = 0.0
    for i in range(colors):
        value = value * BASE + scores[i]
    return value


@kernel
def raise_lowest(state, agent, mask, parts, memory, word, action):
    """Write the placement with the best scores by `rate_scores`; ties are broken at random."""
    best, ties, team = -np.inf, 0, agent % np.int64(state["teams"])
    for candidate in range(mask.shape[0]):
        if mask[candidate]:
            cell, d, slot = find_place(state, candidate)
            tile = np.int64(state["racks"][agent, slot])
            first_gain, second_gain = measure_gains(state, cell, d, tile)
            value = rate_scores(state, team, tile, first_gain, second_gain)
            is_best, best, ties, word = update_best(value, best, ties, word)
            if is_best:
                action[0] = candidate
    return word


MIN_COLOR = CompiledPolicy("min_color", raise_lowest, rules=RULES)
"""Placement after which the lowest score is highest, then the second lowest, and so on (leximin).

It looks at the own scores after the placement alone; ties are broken at random.

Source: our own, for the utility of the original game.
"""
