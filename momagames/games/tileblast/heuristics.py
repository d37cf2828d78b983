# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Value estimates of MO-TileBlast for search. Both kernels fill out float64[K], in the units of the rewards.

"optimistic" is an upper bound for any play, of valid taps and others. "present" is an estimate: the goals come nearer by PACE
points per tap, for at most the taps that are left. For score and used power pieces it counts what the present board offers.
"""

import numpy as np

from momagames.games.tileblast.agents.tap_kernels import remove_group, total_goal_distance
from momagames.games.tileblast.rules.bitset import count_cells, first_cell
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
from momagames.games.tileblast.rules.taps import find_group, valid_taps
from momagames.kernels.jit import kernel

BUTTERFLY = CODES["butterfly"]
POWER_POINTS = 10.0  # of a power piece; 40 and 150 give worse fronts
PACE = 1.5  # goal distance per tap: median over the levels, in games won by "one_step_lookahead"


@kernel
def optimistic(state, out):
    """Write an upper bound of the remaining return: the bound of one tap, times the taps that are left."""
    taps = taps_left(state)
    cells, feed = active_cells(state), feed_left(state)
    for k in range(out.shape[0]):
        out[k] = max_component(state, np.int64(state["wanted"][k]), taps, cells, feed) / state["share"][k]


@kernel
def present(state, out):
    """Write the expected return of the goals, and the value of the present board."""
    taps = taps_left(state)
    need = total_goal_distance(state) / PACE
    points, powers, is_measured = 0.0, 0.0, False
    for k in range(out.shape[0]):
        component = np.int64(state["wanted"][k])
        if component in (SCORE, USED) and not is_measured:
            points, powers = measure_board(state)
            is_measured = True
        if component < CREATED:
            value = expected_component(state, component, taps, need)
        else:
            value = points if component == SCORE else powers if component == USED else 0.0
        out[k] = value / state["share"][k]


@kernel
def write_objective_features(state, out):
    """Write `present`, the only feature of each objective, to out float64[1, K]."""
    present(state, out[0])


@kernel
def taps_left(state):
    """Return the number of valid taps that the game still allows."""
    taps = np.int64(state["max_taps"]) - np.int64(state["taps"])
    if state["strict_moves"]:
        taps = min(taps, np.int64(state["limit"]) - np.int64(state["moves"]))
    return 0 if state["over"] else taps


@kernel
def active_cells(state):
    """Return the number of active cells."""
    cells = 0
    for cell in range(CELLS):
        cells += np.int64(state["active"][cell])
    return cells


@kernel
def feed_left(state):
    """Return the number of pieces that feeds can still bring."""
    pieces = 0
    for feed in range(np.int64(state["feeds"])):
        pieces += np.int64(state["feed_total"][feed]) - np.int64(state["fed"][feed])
    return pieces


@kernel
def max_units(state, goal, taps, cells, feed):
    """Return the largest number of units that a goal can still get. For a goal of `all` this includes new pieces, and
    butterflies that can take its color.
    """
    units = np.int64(state["rest"][goal])
    if state["goal_amount"][goal] == ALL:
        goal_units = np.int64(state["goal_units"][goal])
        units += feed
        if (goal_units >> WEED) & 1:
            units += taps
        if (goal_units >> UNIT_BUBBLE) & 1 or (goal_units >> DANDELION) & 1:
            units += cells * taps
        if (goal_units >> BUTTERFLY) & 1:
            units += cells
    return units


@kernel
def max_component(state, component, taps, cells, feed):
    """Return an upper bound of a reward component (rules/rewards.py) with this number of taps left."""
    if taps == 0:
        return 0
    if component < WIN:
        units = 0
        for goal in range(np.int64(state["goals"])):
            if component == GOAL_SUM or component == GOAL + goal:
                units += max_units(state, goal, taps, cells, feed)
        return units
    if component == WIN:
        return 1
    if component == STEP:
        return -1
    if component in (MOVE, INVALID):
        return 0
    if component == MOVES_SAVED:
        return max(0, np.int64(state["limit"]) - np.int64(state["moves"]) - 1)
    if component in (CREATED, COMBO):
        return taps
    if component == SCORE:  # one effect per cell, with two hits in each cell, and new drops
        return 2 * cells * cells * taps + feed
    return cells * taps


@kernel
def expected_component(state, component, taps, need):
    """Return the estimate of a component about goals and taps. need: number of taps that the goals need."""
    done = 1.0 if need <= taps else taps / need
    if component == GOAL_SUM:
        units = 0
        for goal in range(np.int64(state["goals"])):
            units += np.int64(state["rest"][goal])
        return units * done
    if component < WIN:
        return np.int64(state["rest"][component - GOAL]) * done
    if component == WIN:
        return done
    if component in (STEP, MOVE):
        return -min(need, taps)
    if component == MOVES_SAVED:
        return max(0.0, np.int64(state["limit"]) - np.int64(state["moves"]) - need)
    return 0.0


@kernel
def measure_board(state):
    """Return what the present board offers: points of groups, with POWER_POINTS for each power piece, and its power pieces."""
    points, powers = 0.0, 0.0
    if state["over"]:
        return points, powers
    low, high = valid_taps(state)
    while low | high:
        cell = first_cell(low, high)
        if state["kind"][cell] == BASIC:
            size = count_cells(*find_group(state, cell))
            points += size + (size - 2) ** 2
        else:
            points += POWER_POINTS
            powers += 1.0
        low, high = remove_group(state, cell, low, high)
    return points, powers
