"""Pieces on the board of MO-TileBlast: placement, removal, colors, random draws (SPEC §1.2, §2.2, §2.3)."""

import numpy as np

from momagames.games.tileblast.rules.pieces import ATTRIBUTES, BASIC, BIG
from momagames.games.tileblast.rules.state import CELLS, WIDTH
from momagames.kernels.jit import kernel, noinline_kernel
from momagames.kernels.rng import draw as draw_word


@kernel
def draw(state, n):
    """§2.3 Draw a number from 0..n-1 and count the draw."""
    state["draws"] += 1
    return draw_word(state, n)


@kernel
def draw_color(state):
    """§2.2 Draw a color of the level, 1..6."""
    count = np.int64(state["colors"])
    total = 0
    for k in range(count):
        total += np.int64(state["weights"][k])
    r = draw(state, total)
    k = 0
    while r >= np.int64(state["weights"][k]):
        r -= np.int64(state["weights"][k])
        k += 1
    return np.int64(state["palette"][k])


@kernel
def place_piece(state, cell, kind, hp, color):
    """Place a piece of size 1 in a cell; nothing else about the cell changes."""
    state["kind"][cell] = kind
    state["anchor"][cell] = cell
    state["hp"][cell] = hp
    state["full"][cell] = hp
    state["color"][cell] = color
    state["flags"][cell] = 0


@kernel
def clear_cell(state, cell):
    """Clear the piece fields of a cell."""
    state["kind"][cell] = 0
    state["anchor"][cell] = 0
    state["hp"][cell] = 0
    state["full"][cell] = 0
    state["color"][cell] = 0
    state["flags"][cell] = 0


@kernel
def remove_piece(state, anchor):
    """Remove a piece from the board."""
    big = ATTRIBUTES[np.int64(state["kind"][anchor])] & BIG
    clear_cell(state, anchor)
    state["counters"][anchor] = 0
    if big:
        clear_cell(state, anchor + 1)
        clear_cell(state, anchor + WIDTH)
        clear_cell(state, anchor + WIDTH + 1)


@kernel
def is_bare_basic(state, cell):
    """§1.3 Return whether there is a basic without a cover."""
    return state["kind"][cell] == BASIC and state["cover"][cell] == 0


@noinline_kernel
def list_bare_basics(state, cells):
    """Write the cells of the bare basics, ascending; return their number. cells int64[CELLS]"""
    count = 0
    for cell in range(CELLS):
        if is_bare_basic(state, cell):
            cells[count] = cell
            count += 1
    return count
