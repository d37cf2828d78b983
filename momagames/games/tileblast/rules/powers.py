"""Power pieces of MO-TileBlast (SPEC §4.3, §4.4)."""

import numpy as np

from momagames.games.tileblast.rules.bitset import connected, first_of, size_of, without_first
from momagames.games.tileblast.rules.board import draw, place, remove
from momagames.games.tileblast.rules.damage import clear, damage, uncover, wave
from momagames.games.tileblast.rules.goals import credit
from momagames.games.tileblast.rules.pieces import (
    ATTRIBUTES,
    BASIC,
    BLAST,
    BOMB,
    CAGE,
    FLASK,
    POWER,
    ROCKET_H,
    ROCKET_V,
    UNIT_CAGE,
)
from momagames.games.tileblast.rules.state import CELLS, LIT, WIDTH
from momagames.games.tileblast.rules.taps import free_basics, free_powers, of_color
from momagames.kernels.jit import kernel, noinline_kernel

ROW, COLUMN, CROSS, ROWS, COLUMNS, CUT_SQUARE, SQUARE, EVERYWHERE = range(8)  # areas
BEAM_ROW, BEAM_COLUMN = 1, 2


@noinline_kernel
def tap_power(state, cell):
    """§4.3 A power piece alone is lit; several that touch go off as one."""
    low, high = free_powers(state)
    low, high = connected(cell, low, high)
    if size_of(low, high) == 1:
        light(state, cell)
    else:
        combine(state, cell, low, high)


@noinline_kernel
def combine(state, cell, low, high):
    """§4.3 Several at once, around the tapped cell."""
    flasks, bombs = 0, 0
    flask = cell if state["kind"][cell] == FLASK else -1
    rocket = cell if state["kind"][cell] in (ROCKET_H, ROCKET_V) else -1
    color, lies = 0, False
    a, b = low, high
    while a | b:
        at = first_of(a, b)
        kind = state["kind"][at]
        flasks += kind == FLASK
        bombs += kind == BOMB
        if flask < 0 and kind == FLASK:
            flask = at
        if rocket < 0 and kind in (ROCKET_H, ROCKET_V):
            rocket = at
        a, b = without_first(a, b)
    if flask >= 0:
        color = np.int64(state["color"][flask])
    if rocket >= 0:
        lies = state["kind"][rocket] == ROCKET_H
    while low | high:
        use(state, first_of(low, high))
        low, high = without_first(low, high)
    state["combo"] = 1
    if flasks >= 2:
        strike_area(state, EVERYWHERE, cell)
    elif flasks:
        convert(state, color, bombs > 0)
    elif bombs >= 2:
        strike_area(state, SQUARE, cell)
    elif bombs:
        strike_area(state, ROWS if lies else COLUMNS, cell)
    else:
        strike_area(state, CROSS, cell)


@noinline_kernel
def use(state, cell):
    """§4.3, §4.4 A power piece is used up."""
    kind, color = np.int64(state["kind"][cell]), np.int64(state["color"][cell])
    remove(state, cell)
    state["used"] += 1
    credit(state, kind, color)


@noinline_kernel
def light(state, cell):
    """§4.4 A power piece goes to the end of the queue."""
    state["flags"][cell] |= LIT
    state["queue"][state["queued"]] = cell
    state["queued"] += 1


@noinline_kernel
def convert(state, color, to_bombs):
    """§4.3 Every free basic of a color becomes a power piece that is lit."""
    for cell in range(CELLS):
        if state["kind"][cell] == BASIC and state["color"][cell] == color and state["cover"][cell] != CAGE:
            clear(state, cell)
            if to_bombs:
                place(state, cell, BOMB, 1, 0)
            else:
                place(state, cell, ROCKET_V if draw(state, 2) else ROCKET_H, 1, 0)
            light(state, cell)


@noinline_kernel
def empty_queue(state):
    """§4.4 The effects of lit pieces, in the order in which they were lit."""
    done = 0
    while done < state["queued"]:
        cell = np.int64(state["queue"][done])
        kind, color = state["kind"][cell], np.int64(state["color"][cell])
        done += 1
        use(state, cell)
        if kind == FLASK:
            dissolve(state, color)
        else:
            strike_area(state, ROW if kind == ROCKET_H else COLUMN if kind == ROCKET_V else CUT_SQUARE, cell)


@noinline_kernel
def dissolve(state, color):
    """§4.4 A flask: all basics of its color, and one wave from those that were cleared."""
    low, high = free_basics(state)
    low, high = of_color(state, color, low, high)
    for cell in range(CELLS):
        if state["kind"][cell] == BASIC and state["color"][cell] == color:
            if state["cover"][cell] == CAGE:
                uncover(state, cell, UNIT_CAGE)
            else:
                clear(state, cell)
    wave(state, low, high, color)


@kernel
def reach(area, right, up):
    """§4.3, §4.4 Whether an area holds a cell so far to the right of and above its center: 0 no, 1 yes; and BEAM_..."""
    across, along = abs(right), abs(up)
    if area == ROW:
        return up == 0, BEAM_ROW
    if area == COLUMN:
        return right == 0, BEAM_COLUMN
    if area == CROSS:
        return up == 0 or right == 0, BEAM_ROW if up == 0 else BEAM_COLUMN
    if area == ROWS:
        return along <= 1, BEAM_ROW
    if area == COLUMNS:
        return across <= 1, BEAM_COLUMN
    if area == CUT_SQUARE:
        return across <= 2 and along <= 2 and across + along < 4, 0
    if area == SQUARE:
        return across <= 3 and along <= 3, 0
    return True, 0


@noinline_kernel
def strike_area(state, area, center):
    """§4.4 An area around a cell, visited ascending; nothing stops it."""
    state["effects"] += 1
    x, y = center % WIDTH, center // WIDTH
    for cell in range(CELLS):
        inside, beam = reach(area, cell % WIDTH - x, cell // WIDTH - y)
        if inside:
            strike(state, cell, beam)


@kernel
def strike(state, cell, beam):
    """§4.4 One cell of an area."""
    kind = np.int64(state["kind"][cell])
    attributes = ATTRIBUTES[kind]
    if state["cover"][cell] == CAGE:
        uncover(state, cell, UNIT_CAGE)
    elif kind == BASIC:
        clear(state, cell)
    elif attributes & POWER:
        if not state["flags"][cell] & LIT:
            if kind == ROCKET_H and beam == BEAM_ROW:
                state["kind"][cell] = ROCKET_V
            elif kind == ROCKET_V and beam == BEAM_COLUMN:
                state["kind"][cell] = ROCKET_H
            light(state, cell)
    elif attributes & BLAST:
        anchor = np.int64(state["anchor"][cell])
        if state["touched"][anchor] != state["effects"]:
            state["touched"][anchor] = state["effects"]
            damage(state, anchor, 0)
