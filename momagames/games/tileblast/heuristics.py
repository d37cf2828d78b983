# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-TileBlast: what a position can still bring, for searches. Both kernels fill out float64[K], in the units of the rewards.

"optimistic" holds for any play, of valid taps and others. "present" is a guide: the goals come nearer by PACE points a tap,
as far as there are taps left, and for score and power pieces used it counts what can be tapped as the board stands.
"""

import numpy as np

from momagames.games.tileblast.agents.tap_kernels import distance, without_group
from momagames.games.tileblast.rules.bitset import first_of, size_of
from momagames.games.tileblast.rules.pieces import BASIC, CODES, DANDELION, UNIT_BUBBLE, WEED
from momagames.games.tileblast.rules.rewards import (
    COMBO,
    CREATED,
    GOAL,
    GOAL_SUM,
    INVALID,
    MOVE,
    MOVES_SAVED,
    SCORE,
    STEP,
    USED,
    WIN,
)
from momagames.games.tileblast.rules.state import ALL, CELLS
from momagames.games.tileblast.rules.taps import group, valid_taps
from momagames.kernels.jit import kernel

BUTTERFLY = CODES["butterfly"]
POWER_POINTS = 10.0  # of a power piece; measured: with 40 or 150 the fronts are worse
PACE = 1.5  # points of `distance` that a tap takes off: the median level, in games that "one_step_lookahead" won


@kernel
def optimistic(state, out):
    """The most that any play can win from here: bounds of one tap, times the taps that are left."""
    taps = taps_left(state)
    cells, feed = active_cells(state), to_feed(state)
    for k in range(out.shape[0]):
        out[k] = most(state, np.int64(state["wanted"][k]), taps, cells, feed) / state["share"][k]


@kernel
def present(state, out):
    """What the goals are likely to bring, and what the board offers."""
    taps = taps_left(state)
    need = distance(state) / PACE
    for k in range(out.shape[0]):
        which = np.int64(state["wanted"][k])
        value = offered(state, which) if which >= CREATED else likely(state, which, taps, need)
        out[k] = value / state["share"][k]


@kernel
def taps_left(state):
    """Valid taps that the game has still room for."""
    taps = np.int64(state["max_taps"]) - np.int64(state["taps"])
    if state["strict_moves"]:
        taps = min(taps, np.int64(state["limit"]) - np.int64(state["moves"]))
    return 0 if state["over"] else taps


@kernel
def active_cells(state):
    cells = 0
    for cell in range(CELLS):
        cells += np.int64(state["active"][cell])
    return cells


@kernel
def to_feed(state):
    """Pieces that feeds can still give."""
    pieces = 0
    for feed in range(np.int64(state["feeds"])):
        pieces += np.int64(state["feed_total"][feed]) - np.int64(state["fed"][feed])
    return pieces


@kernel
def most_units(state, goal, taps, cells, feed):
    """Units that a goal can still be given. Where it asks for all, those count as well that come in, and butterflies that
    get their color."""
    units = np.int64(state["rest"][goal])
    if state["goal_amount"][goal] == ALL:
        things = np.int64(state["goal_units"][goal])
        units += feed
        if (things >> WEED) & 1:
            units += taps
        if (things >> UNIT_BUBBLE) & 1 or (things >> DANDELION) & 1:
            units += cells * taps
        if (things >> BUTTERFLY) & 1:
            units += cells
    return units


@kernel
def most(state, which, taps, cells, feed):
    """No play wins more in a component of the reward (pay.py) with so many taps left."""
    if taps == 0:
        return 0
    if which < WIN:
        units = 0
        for goal in range(np.int64(state["goals"])):
            if which == GOAL_SUM or which == GOAL + goal:
                units += most_units(state, goal, taps, cells, feed)
        return units
    if which == WIN:
        return 1
    if which == STEP:
        return -1
    if which in (MOVE, INVALID):
        return 0
    if which == MOVES_SAVED:
        return max(0, np.int64(state["limit"]) - np.int64(state["moves"]) - 1)
    if which in (CREATED, COMBO):
        return taps
    if which == SCORE:  # at most one effect from each cell, and two hits in each cell by each; drops as they come in
        return 2 * cells * cells * taps + feed
    return cells * taps


@kernel
def likely(state, which, taps, need):
    """What is likely in the components about goals and taps, with so many taps left of which the goals need so many."""
    done = 1.0 if need <= taps else taps / need
    if which == GOAL_SUM:
        units = 0
        for goal in range(np.int64(state["goals"])):
            units += np.int64(state["rest"][goal])
        return units * done
    if which < WIN:
        return np.int64(state["rest"][which - GOAL]) * done
    if which == WIN:
        return done
    if which in (STEP, MOVE):
        return -min(need, taps)
    if which == MOVES_SAVED:
        return max(0.0, np.int64(state["limit"]) - np.int64(state["moves"]) - need)
    return 0.0


@kernel
def offered(state, which):
    """What can be tapped as the board stands: power pieces to use, or points, which are those of each group and more or less
    those of a power piece alone. 0 for the components that the board says little about."""
    if state["over"] or which not in (SCORE, USED):
        return 0.0
    points, powers = 0.0, 0.0
    low, high = valid_taps(state)
    while low | high:
        cell = first_of(low, high)
        if state["kind"][cell] == BASIC:
            size = size_of(*group(state, cell))
            points += size + (size - 2) ** 2
        else:
            points += POWER_POINTS
            powers += 1.0
        low, high = without_group(state, cell, low, high)
    return points if which == SCORE else powers
