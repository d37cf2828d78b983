"""Hits and damage in MO-TileBlast (SPEC §4.2, §4.5, §4.6)."""

import numpy as np

from momagames.games.tileblast.rules.bitset import first_cell, neighbors, remove_first
from momagames.games.tileblast.rules.board import draw_color, remove_piece
from momagames.games.tileblast.rules.goals import credit_goals, read_counter
from momagames.games.tileblast.rules.pieces import (
    ATTRIBUTES,
    BASIC,
    BUBBLE,
    CAGE,
    COUNTS,
    LASTS,
    NEAR,
    PER_HIT,
    SAME,
    SPAWN_AROUND,
    SPAWNS,
    SPREADS,
    TAKES,
    UNIT_BUBBLE,
    UNIT_CAGE,
)
from momagames.games.tileblast.rules.state import CELLS, HIT, SPAWNERS
from momagames.kernels.jit import kernel, noinline_kernel


@noinline_kernel
def clear_basic(state, cell):
    """§4.2 Clear a basic, and a bubble on it."""
    color = np.int64(state["color"][cell])
    state["hits"] += 1
    state["cleared"][color - 1] += 1
    remove_piece(state, cell)
    credit_goals(state, BASIC, color)
    if state["cover"][cell] == BUBBLE:
        remove_cover(state, cell, UNIT_BUBBLE)


@noinline_kernel
def remove_cover(state, cell, unit):
    """Remove a cover."""
    state["cover"][cell] = 0
    state["hits"] += 1
    credit_goals(state, unit, 0)


@noinline_kernel
def hit_neighbors(state, low, high, color):
    """§4.5 Visit the neighbors of a set of cells that are not in the set, ascending."""
    state["effects"] += 1
    a, b = neighbors(low, high)
    a, b = a & ~low, b & ~high
    while a | b:
        hit_neighbor(state, first_cell(a, b), color)
        a, b = remove_first(a, b)


@kernel
def hit_neighbor(state, cell, color):
    """§4.5 Apply a neighboring match of this color."""
    kind = np.int64(state["kind"][cell])
    if state["cover"][cell] == CAGE:
        if kind != BASIC or state["color"][cell] == color:
            remove_cover(state, cell, UNIT_CAGE)
    elif ATTRIBUTES[kind] & NEAR:
        anchor = np.int64(state["anchor"][cell])
        if state["touched"][anchor] != state["effects"] and is_hurt_by(state, anchor, color):
            state["touched"][anchor] = state["effects"]
            damage_piece(state, anchor, color)


@kernel
def is_hurt_by(state, anchor, color):
    """§4.5 Return whether a match of this color damages a piece with NEAR."""
    attributes = ATTRIBUTES[np.int64(state["kind"][anchor])]
    own = np.int64(state["color"][anchor])
    if attributes & COUNTS:
        return read_counter(state, anchor, color) > 0
    return own == color or not (attributes & SAME or (attributes & TAKES and own))


@noinline_kernel
def damage_piece(state, anchor, color):
    """§4.6 Damage a piece by a match of this color, or by power (0)."""
    kind = np.int64(state["kind"][anchor])
    attributes = ATTRIBUTES[kind]
    state["flags"][anchor] |= HIT
    state["harmed"] = 1
    state["hits"] += 1
    if attributes & SPREADS:
        state["attacked"] = 1
    if SPAWNS[kind]:
        queue_spawn(state, anchor, SPAWNS[kind])
    if attributes & LASTS:
        credit_goals(state, kind, 0)
        return
    unit = np.int64(state["color"][anchor])
    if attributes & COUNTS:
        unit = color
        if unit == 0:
            unit = lowest_counter_color(state, anchor)
        state["counters"][anchor] -= np.uint32(1 << (4 * (unit - 1)))
    state["hp"][anchor] -= 1
    alive = state["hp"][anchor] > 0
    if attributes & TAKES and alive and unit == 0:
        state["color"][anchor] = color if color else draw_color(state)
    if not alive:
        remove_piece(state, anchor)
    if attributes & PER_HIT or not alive:
        credit_goals(state, kind, unit)


@kernel
def lowest_counter_color(state, anchor):
    """Return the lowest color, 1..6, of which a piece has hit points."""
    color = 1
    while read_counter(state, anchor, color) == 0:
        color += 1
    return color


@kernel
def queue_spawn(state, anchor, spawn):
    """§4.6 Append to the list of spawns. Spawns on bare basics succeed at most once per cell of the board,
    and no more than CELLS of them are stored.
    """
    if spawn == SPAWN_AROUND or state["makers"] < CELLS:
        state["spawns"][state["spawned"]] = anchor if spawn == SPAWN_AROUND else SPAWNERS + spawn
        state["spawned"] += 1
        state["makers"] += spawn != SPAWN_AROUND
