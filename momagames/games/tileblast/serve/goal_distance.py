"""How far a goal of MO-TileBlast is off, as the protocol's `remainingGoalsDistance` counts it."""

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

COUNTER = 15  # a counter is 4 bits of a state's word
ANY = len(COLORS) + 1  # color codes, 0 for none
COUNTING = ATTRIBUTES & COUNTS > 0
# Kinds that power effects hit and nothing else: basics go in groups, power pieces by their own tap
ONLY_POWER = (ATTRIBUTES & BLAST > 0) & (ATTRIBUTES & (NEAR | POWER) == 0) & (np.arange(len(KINDS)) != BASIC)


class Distances:
    """Of each goal the hit points on the board that are for it, doubled where only power pieces hit them."""

    def __init__(self, goals: Sequence[Goal]) -> None:
        colors = np.arange(ANY)
        weights, covers, counters = [], [], []
        for number, goal in enumerate(goals):
            wanted = np.array([goal.units >> kind & 1 for kind in range(len(KINDS))]) * np.where(ONLY_POWER, 2, 1)
            covers.append([0, *(goal.units >> UNIT_CAGE - 1 + cover & 1 for cover in range(1, len(COVERS)))])
            if goal.color and (wanted * COUNTING).any():
                counters.append((number, wanted * COUNTING, 4 * (goal.color - 1)))
                wanted = wanted * ~COUNTING
            weights.append(np.outer(wanted, (colors == goal.color) | (goal.color == 0)).ravel())
        self._weights, self._covers = np.array(weights, np.float64), np.array(covers, np.float64)
        self._counters, self._any_cover = counters, bool(self._covers.any())

    def __call__(self, state: State) -> list[int]:
        kinds = state["kind"]
        weights = self._weights.take(np.multiply(kinds, ANY, dtype=np.intp) + state["color"], axis=1)
        found = weights @ state["hp"].astype(np.float64)  # of a piece of size 2 at its anchor
        if self._any_cover:
            found += self._covers @ np.bincount(state["cover"], minlength=len(COVERS))
        for number, weights, shift in self._counters:
            found[number] += weights[kinds] @ (state["counters"].astype(np.int64) >> shift & COUNTER)
        distances: list[int] = found.astype(np.int64).tolist()
        return distances
