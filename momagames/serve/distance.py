"""How far a goal of MO-TileBlast is off, as the protocol's `remainingGoalsDistance` counts it."""

from __future__ import annotations

import numpy as np

from momagames.contract import State
from momagames.games.tileblast.catalogue import ATTRIBUTES, BLAST, CODES, COUNTS, KINDS, NEAR, POWER, UNIT_BUBBLE, UNIT_CAGE
from momagames.games.tileblast.level import Goal

GNOMES_BITS = 4  # of a counter in a state
# By kind: 2 for what power effects hit and nothing else, 1 for the rest. Basics go in groups, power pieces by their tap.
ONLY_POWER = np.where((ATTRIBUTES & BLAST > 0) & (ATTRIBUTES & (NEAR | POWER) == 0), 2, 1)
ONLY_POWER[CODES["basic"]] = 1
COUNTING = (ATTRIBUTES & COUNTS) > 0


def distance(state: State, number: int, goal: Goal) -> int:
    """Hit points of what is on the board for a goal, doubled where only power pieces hit it; 0 for one that is reached."""
    if not state["rest"][number]:
        return 0
    wanted = np.array([goal.units >> kind & 1 for kind in range(len(KINDS))])
    kinds, colors = state["kind"], state["color"]
    weights = (wanted * ONLY_POWER)[kinds]
    counted = COUNTING[kinds]
    if goal.color:
        weights = weights * ((colors == goal.color) | counted)
    points = state["hp"].astype(np.int64)  # of a piece of size 2 at its anchor
    if goal.color and counted.any():
        counters = state["counters"].astype(np.int64) >> GNOMES_BITS * (goal.color - 1) & (1 << GNOMES_BITS) - 1
        points = np.where(counted, counters, points)
    covers = sum(
        int((state["cover"] == code).sum()) for code, unit in ((1, UNIT_CAGE), (2, UNIT_BUBBLE)) if goal.units >> unit & 1
    )
    return int(weights @ points) + covers
