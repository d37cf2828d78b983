# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernels of the scripted policies of MO-TileBlast: "greedy_contact" and "one_step_lookahead".

Both know the goals of the level and rate one tap on each group, the first of its cells, and every power piece. They read the
whole state: "one_step_lookahead" steps a copy with the random state of the game, so that it knows the effect of a tap, new
pieces included.
"""

import numpy as np

from momagames.games.tileblast.rules import play_valid_tap, reset_tap_results
from momagames.games.tileblast.rules.bitset import cell_bits, count_cells, first_cell, neighbors, remove_first
from momagames.games.tileblast.rules.damage import is_hurt_by
from momagames.games.tileblast.rules.goals import collects
from momagames.games.tileblast.rules.pieces import (
    ATTRIBUTES,
    BASIC,
    BLAST,
    BUBBLE,
    CAGE,
    COUNTS,
    NEAR,
    PER_HIT,
    POWER,
    UNIT_BUBBLE,
    UNIT_CAGE,
)
from momagames.games.tileblast.rules.state import CELLS, state_dtype
from momagames.games.tileblast.rules.taps import ROCKET_FROM, find_group, valid_taps
from momagames.kernels.jit import kernel, local_array, noinline_kernel, view_as
from momagames.kernels.rng import update_best

# Terms of "greedy_contact": a group that leaves a power piece, a tap on a power piece
BIG_GROUP_VALUE, POWER_TAP_VALUE = 4.0, 3.5
# Weights of "one_step_lookahead"
DISTANCE_WEIGHT, CREATED_WEIGHT, USED_WEIGHT = 10.0, 6.0, -5.0
HIT_WEIGHT, WIN_WEIGHT = 0.5, 1000.0
# By kind: 2 for kinds that only power effects damage, 1 for the others
HIT_POINT_WEIGHTS = np.where((ATTRIBUTES & BLAST > 0) & (ATTRIBUTES & (NEAR | POWER) == 0), 2, 1)
HIT_POINT_WEIGHTS[BASIC] = 1
WORDS = state_dtype.itemsize // 8


@kernel
def greedy_contact(state, agent, mask, parts, memory, word, action):
    """Tap the group that touches most of what the goals collect; ties are broken at random."""
    best, ties = -np.inf, 0
    low, high = valid_taps(state)
    while low | high:
        cell = first_cell(low, high)
        low, high = remove_group(state, cell, low, high)
        value = compute_contact_value(state, cell)
        is_best, best, ties, word = update_best(value, best, ties, word)
        if is_best:
            action[0] = cell
    return word


@kernel
def one_step_lookahead(state, agent, mask, parts, memory, word, action):
    """Tap where `evaluate_tap` is largest; of equal taps the lowest, after which most pieces fall."""
    trial = view_as(local_array(WORDS), state_dtype)
    best, before = -np.inf, total_goal_distance(state)
    low, high = valid_taps(state)
    while low | high:
        cell = first_cell(low, high)
        low, high = remove_group(state, cell, low, high)
        trial[0] = state
        value = evaluate_tap(trial[0], cell, before)
        memory["lookahead_steps"] += 1
        if value > best:
            best = value
            action[0] = cell
    return word


@noinline_kernel
def remove_group(state, cell, low, high):
    """Return the taps without the rated one and the others on its group."""
    if state["kind"][cell] != BASIC:
        return remove_first(low, high)
    a, b = find_group(state, cell)
    return low & ~a, high & ~b


# ------------------------------------------------------------------------------------------------------------- greedy_contact


@kernel
def is_goal_unit(state, unit, color):
    """Return whether an unreached goal collects a unit of this color."""
    found = False
    for goal in range(np.int64(state["goals"])):
        found |= state["rest"][goal] > 0 and collects(state, goal, unit, color)
    return found


@noinline_kernel
def compute_contact_value(state, cell):
    """Return the number of pieces and covers that goals collect: in the group of a cell, and beside it where the
    group damages them.
    """
    if state["kind"][cell] != BASIC:
        return POWER_TAP_VALUE
    color = np.int64(state["color"][cell])
    low, high = find_group(state, cell)
    size = count_cells(low, high)
    value = BIG_GROUP_VALUE if size >= ROCKET_FROM else 0.0
    if is_goal_unit(state, BASIC, color):
        value += size
    a, b = neighbors(low, high)
    a, b = a & ~low, b & ~high
    if is_goal_unit(state, UNIT_BUBBLE, 0):
        while low | high:
            value += state["cover"][first_cell(low, high)] == BUBBLE
            low, high = remove_first(low, high)
    seen_low, seen_high = np.uint64(0), np.uint64(0)
    while a | b:
        at = first_cell(a, b)
        a, b = remove_first(a, b)
        kind = np.int64(state["kind"][at])
        if state["cover"][at] == CAGE:
            value += (kind != BASIC or state["color"][at] == color) and is_goal_unit(state, UNIT_CAGE, 0)
        elif ATTRIBUTES[kind] & NEAR:
            anchor = np.int64(state["anchor"][at])
            c, d = cell_bits(anchor)
            if (seen_low & c) | (seen_high & d) == 0 and is_hurt_by(state, anchor, color):
                seen_low, seen_high = seen_low | c, seen_high | d
                unit_color = color if ATTRIBUTES[kind] & COUNTS else np.int64(state["color"][anchor])
                value += is_goal_unit(state, kind, unit_color)
    return value


# -------------------------------------------------------------------------------------------------- one_step_lookahead


@noinline_kernel
def evaluate_tap(trial, cell, before):
    """Return the value of a tap. The tap is played on the given state. before: goal distance before the tap"""
    reset_tap_results(trial)
    play_valid_tap(trial, cell)
    value = DISTANCE_WEIGHT * (before - total_goal_distance(trial)) + HIT_WEIGHT * np.int64(trial["hits"])
    value += CREATED_WEIGHT * np.int64(trial["created"]) + USED_WEIGHT * np.int64(trial["used"])
    return value + WIN_WEIGHT if trial["won"] else value


@noinline_kernel
def total_goal_distance(state):
    """Return the sum of the distances of the unreached goals.

    That of a goal is its remaining units, and the hit points of its pieces beyond one each, doubled if only power effects
    damage them. For a goal of all pieces on the board this is the sum of their hit points.
    """
    goals, total = np.int64(state["goals"]), 0
    for goal in range(goals):
        total += max(0, np.int64(state["rest"][goal]))
    for cell in range(CELLS):
        kind = np.int64(state["kind"][cell])
        beyond = HIT_POINT_WEIGHTS[kind] * np.int64(state["hp"][cell]) - 1
        if beyond and kind and state["anchor"][cell] == cell and not ATTRIBUTES[kind] & PER_HIT:
            for goal in range(goals):
                if state["rest"][goal] > 0 and collects(state, goal, kind, np.int64(state["color"][cell])):
                    total += beyond
    return total
