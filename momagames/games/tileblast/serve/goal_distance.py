"""Distances of the goals of MO-TileBlast, as the protocol's `remainingGoalsDistance` defines them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momagames.contract import State
from momagames.games.tileblast.levels.level import Goal
from momagames.games.tileblast.rules.pieces import (
    ATTRIBUTES,
    BASIC,
    BLAST,
    COLORS,
    COUNTS,
    COVERS,
    KINDS,
    NEAR,
    POWER,
    UNIT_CAGE,
)

COUNTER_MASK = 15  # a counter is 4 bits of a state's word
COLOR_CODES = len(COLORS) + 1  # color codes, 0 for none
COUNTS_BY_COLOR = ATTRIBUTES & COUNTS > 0
# Kinds that only power effects hit: groups clear basics, and a tap uses a power piece
ONLY_POWER = (ATTRIBUTES & BLAST > 0) & (ATTRIBUTES & (NEAR | POWER) == 0) & (np.arange(len(KINDS)) != BASIC)


class GoalDistances:
    """Hit points on the board that count for each goal, doubled for pieces that only power pieces hit."""

    def __init__(self, goals: Sequence[Goal]) -> None:
        colors = np.arange(COLOR_CODES)
        weights, covers, counters = [], [], []
        for number, goal in enumerate(goals):
            wanted = np.array([goal.units >> kind & 1 for kind in range(len(KINDS))]) * np.where(ONLY_POWER, 2, 1)
            covers.append([0, *(goal.units >> UNIT_CAGE - 1 + cover & 1 for cover in range(1, len(COVERS)))])
            if goal.color and (wanted * COUNTS_BY_COLOR).any():
                counters.append((number, wanted * COUNTS_BY_COLOR, 4 * (goal.color - 1)))
                wanted = wanted * ~COUNTS_BY_COLOR
            weights.append(np.outer(wanted, (colors == goal.color) | (goal.color == 0)).ravel())
        self._weights, self._covers = np.array(weights, np.float64), np.array(covers, np.float64)
        self._counters, self._any_cover = counters, bool(self._covers.any())

    def __call__(self, state: State) -> list[int]:
        kinds = state["kind"]
        weights = self._weights.take(np.multiply(kinds, COLOR_CODES, dtype=np.intp) + state["color"], axis=1)
        found = weights @ state["hp"].astype(np.float64)  # of a piece of size 2 at its anchor
        if self._any_cover:
            found += self._covers @ np.bincount(state["cover"], minlength=len(COVERS))
        for number, weights, shift in self._counters:
            found[number] += weights[kinds] @ (state["counters"].astype(np.int64) >> shift & COUNTER_MASK)
        distances: list[int] = found.astype(np.int64).tolist()
        return distances
