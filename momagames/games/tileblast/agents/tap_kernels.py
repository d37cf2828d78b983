# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-TileBlast: kernels of the policies "greedy_contact", which reads the board, and "one_step_lookahead", which tries taps.

Both know the goals of the level and rate one tap on each group, the first of its cells, and every power piece. They see all
that the state holds: "one_step_lookahead" steps a copy with the random state of the game, so that it knows the effect of a tap,
new pieces included.
"""

import numpy as np

from momagames.games.tileblast.rules import forget_tap, move
from momagames.games.tileblast.rules.bitset import cell_bits, first_of, neighbors, size_of, without_first
from momagames.games.tileblast.rules.damage import is_open_to
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
from momagames.games.tileblast.rules.taps import ROCKET_FROM, group, valid_taps
from momagames.kernels.jit import kernel, local_array, noinline_kernel
from momagames.kernels.rng import update_best

BIG_GROUP, POWER_TAP = 4.0, 3.5  # what "greedy_contact" adds for a group that leaves a power piece; what it gives a power piece
NEARER, CREATED, USED, HIT, WIN = 10.0, 6.0, -5.0, 0.5, 1000.0  # what "one_step_lookahead" gives
# By kind: 2 for what power effects hit and nothing else, 1 for the rest
EFFORT = np.where((ATTRIBUTES & BLAST > 0) & (ATTRIBUTES & (NEAR | POWER) == 0), 2, 1)
EFFORT[BASIC] = 1
WORDS = state_dtype.itemsize // 8


@kernel
def greedy_contact(state, agent, mask, parts, memory, word, action):
    """The group that touches most of what the goals ask for; among equals by lot."""
    best, ties = -np.inf, 0
    low, high = valid_taps(state)
    while low | high:
        cell = first_of(low, high)
        low, high = without_group(state, cell, low, high)
        value = contact_value(state, cell)
        taken, best, ties, word = update_best(value, best, ties, word)
        if taken:
            action[0] = cell
    return word


@kernel
def one_step_lookahead(state, agent, mask, parts, memory, word, action):
    """The tap after which the goals are nearest, and a little more (see `outcome`); the lowest among equals,
    for then most falls down."""
    trial = local_array(WORDS).view(state_dtype)
    best, before = -np.inf, distance(state)
    low, high = valid_taps(state)
    while low | high:
        cell = first_of(low, high)
        low, high = without_group(state, cell, low, high)
        trial[0] = state
        value = outcome(trial[0], cell, before)
        if value > best:
            best = value
            action[0] = cell
    return word


@noinline_kernel
def without_group(state, cell, low, high):
    """The taps that are left when one of them has been weighed: without those on the same group."""
    if state["kind"][cell] != BASIC:
        return without_first(low, high)
    a, b = group(state, cell)
    return low & ~a, high & ~b


# ------------------------------------------------------------------------------------------------------------- contacts


@kernel
def is_wanted(state, thing, color):
    """Whether a goal that is not reached asks for a thing of this color."""
    found = False
    for goal in range(np.int64(state["goals"])):
        found |= state["rest"][goal] > 0 and collects(state, goal, thing, color)
    return found


@noinline_kernel
def contact_value(state, cell):
    """Pieces and covers that goals ask for: in the group of a cell, and beside it where the group hurts them."""
    if state["kind"][cell] != BASIC:
        return POWER_TAP
    color = np.int64(state["color"][cell])
    low, high = group(state, cell)
    size = size_of(low, high)
    value = BIG_GROUP if size >= ROCKET_FROM else 0.0
    if is_wanted(state, BASIC, color):
        value += size
    a, b = neighbors(low, high)
    a, b = a & ~low, b & ~high
    if is_wanted(state, UNIT_BUBBLE, 0):
        while low | high:
            value += state["cover"][first_of(low, high)] == BUBBLE
            low, high = without_first(low, high)
    seen_low, seen_high = np.uint64(0), np.uint64(0)
    while a | b:
        at = first_of(a, b)
        a, b = without_first(a, b)
        kind = np.int64(state["kind"][at])
        if state["cover"][at] == CAGE:
            value += (kind != BASIC or state["color"][at] == color) and is_wanted(state, UNIT_CAGE, 0)
        elif ATTRIBUTES[kind] & NEAR:
            anchor = np.int64(state["anchor"][at])
            c, d = cell_bits(anchor)
            if (seen_low & c) | (seen_high & d) == 0 and is_open_to(state, anchor, color):
                seen_low, seen_high = seen_low | c, seen_high | d
                shown = color if ATTRIBUTES[kind] & COUNTS else np.int64(state["color"][anchor])
                value += is_wanted(state, kind, shown)
    return value


# ------------------------------------------------------------------------------------------------------------ lookahead


@noinline_kernel
def outcome(trial, cell, before):
    """What a tap brings, played on a state that is not needed any more. before: the distance of the goals until now"""
    forget_tap(trial)
    move(trial, cell)
    value = NEARER * (before - distance(trial)) + HIT * np.int64(trial["hits"])
    value += CREATED * np.int64(trial["created"]) + USED * np.int64(trial["used"])
    return value + WIN if trial["won"] else value


@noinline_kernel
def distance(state):
    """How far the goals are off."""
    total = 0
    for goal in range(np.int64(state["goals"])):
        if state["rest"][goal] > 0:
            total += goal_distance(state, goal)
    return total


@noinline_kernel
def goal_distance(state, goal):
    """What is left of a goal, and the hit points of its pieces beyond the one that a unit stands for, double if only power
    effects hit them: for a goal of all that is on the board, the sum of its hit points."""
    total = np.int64(state["rest"][goal])
    for cell in range(CELLS):
        kind = np.int64(state["kind"][cell])
        whole = kind and state["anchor"][cell] == cell and not ATTRIBUTES[kind] & PER_HIT
        if whole and collects(state, goal, kind, np.int64(state["color"][cell])):
            total += EFFORT[kind] * np.int64(state["hp"][cell]) - 1
    return total
