"""What happens to things that are hit in MO-TileBlast (SPEC §4.2, §4.5, §4.6)."""

import numpy as np

from momagames.games.tileblast.rules.bitset import first_of, neighbors, without_first
from momagames.games.tileblast.rules.board import draw_color, remove
from momagames.games.tileblast.rules.goals import counter, credit
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
def clear(state, cell):
    """§4.2 A basic is cleared, with a bubble on it."""
    color = np.int64(state["color"][cell])
    state["hits"] += 1
    state["cleared"][color - 1] += 1
    remove(state, cell)
    credit(state, BASIC, color)
    if state["cover"][cell] == BUBBLE:
        uncover(state, cell, UNIT_BUBBLE)


@noinline_kernel
def uncover(state, cell, unit):
    """A cover is gone."""
    state["cover"][cell] = 0
    state["hits"] += 1
    credit(state, unit, 0)


@noinline_kernel
def wave(state, low, high, color):
    """§4.5 The neighbors of a set of cells that are not in it, ascending."""
    state["effects"] += 1
    a, b = neighbors(low, high)
    a, b = a & ~low, b & ~high
    while a | b:
        touch(state, first_of(a, b), color)
        a, b = without_first(a, b)


@kernel
def touch(state, cell, color):
    """§4.5 A neighboring match of this color."""
    kind = np.int64(state["kind"][cell])
    if state["cover"][cell] == CAGE:
        if kind != BASIC or state["color"][cell] == color:
            uncover(state, cell, UNIT_CAGE)
    elif ATTRIBUTES[kind] & NEAR:
        anchor = np.int64(state["anchor"][cell])
        if state["touched"][anchor] != state["effects"] and is_open_to(state, anchor, color):
            state["touched"][anchor] = state["effects"]
            damage(state, anchor, color)


@kernel
def is_open_to(state, anchor, color):
    """§4.5 Whether a match of this color hurts a piece that matches hurt."""
    attributes = ATTRIBUTES[np.int64(state["kind"][anchor])]
    own = np.int64(state["color"][anchor])
    if attributes & COUNTS:
        return counter(state, anchor, color) > 0
    return own == color or not (attributes & SAME or (attributes & TAKES and own))


@noinline_kernel
def damage(state, anchor, color):
    """§4.6 Damage by a match of this color, or by power (0)."""
    kind = np.int64(state["kind"][anchor])
    attributes = ATTRIBUTES[kind]
    state["flags"][anchor] |= HIT
    state["harmed"] = 1
    state["hits"] += 1
    if attributes & SPREADS:
        state["attacked"] = 1
    if SPAWNS[kind]:
        note_spawn(state, anchor, SPAWNS[kind])
    if attributes & LASTS:
        credit(state, kind, 0)
        return
    unit = np.int64(state["color"][anchor])
    if attributes & COUNTS:
        unit = color
        if unit == 0:
            unit = lowest_counter(state, anchor)
        state["counters"][anchor] -= np.uint32(1 << (4 * (unit - 1)))
    state["hp"][anchor] -= 1
    alive = state["hp"][anchor] > 0
    if attributes & TAKES and alive and unit == 0:
        state["color"][anchor] = color if color else draw_color(state)
    if not alive:
        remove(state, anchor)
    if attributes & PER_HIT or not alive:
        credit(state, kind, unit)


@kernel
def lowest_counter(state, anchor):
    """The lowest color, 1..6, of which a piece has hit points."""
    color = 1
    while counter(state, anchor, color) == 0:
        color += 1
    return color


@kernel
def note_spawn(state, anchor, spawn):
    """§4.6 To the end of the list of spawns. What makes something of a bare basic can do so at most once for each cell of
    the board, so that more of them need not be remembered."""
    if spawn == SPAWN_AROUND or state["makers"] < CELLS:
        state["spawns"][state["spawned"]] = anchor if spawn == SPAWN_AROUND else SPAWNERS + spawn
        state["spawned"] += 1
        state["makers"] += spawn != SPAWN_AROUND
