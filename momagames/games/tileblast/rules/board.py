"""Pieces on the board of MO-TileBlast: put there, taken away, colored, drawn (SPEC §1.2, §2.2, §2.3)."""

import numpy as np

from momagames.games.tileblast.rules.pieces import ATTRIBUTES, BASIC, BIG
from momagames.games.tileblast.rules.state import CELLS, WIDTH
from momagames.kernels.jit import kernel, noinline_kernel
from momagames.kernels.rng import draw as draw_word


@kernel
def draw(state, n):
    """§2.3 A draw from 0..n-1, counted."""
    state["draws"] += 1
    return draw_word(state, n)


@kernel
def draw_color(state):
    """§2.2 A color that may be drawn, 1..6."""
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
def place(state, cell, kind, hp, color):
    """A piece of size 1 in a cell; nothing else about the cell changes."""
    state["kind"][cell] = kind
    state["anchor"][cell] = cell
    state["hp"][cell] = hp
    state["full"][cell] = hp
    state["color"][cell] = color
    state["flags"][cell] = 0


@kernel
def vacate(state, cell):
    """A cell without piece."""
    state["kind"][cell] = 0
    state["anchor"][cell] = 0
    state["hp"][cell] = 0
    state["full"][cell] = 0
    state["color"][cell] = 0
    state["flags"][cell] = 0


@kernel
def remove(state, anchor):
    """Take a piece off the board."""
    big = ATTRIBUTES[np.int64(state["kind"][anchor])] & BIG
    vacate(state, anchor)
    state["counters"][anchor] = 0
    if big:
        vacate(state, anchor + 1)
        vacate(state, anchor + WIDTH)
        vacate(state, anchor + WIDTH + 1)


@kernel
def is_bare_basic(state, cell):
    """§1.3 Whether there is a basic without any cover."""
    return state["kind"][cell] == BASIC and state["cover"][cell] == 0


@noinline_kernel
def bare_basics(state, cells):
    """The cells of the bare basics, ascending; returns how many. cells int64[CELLS]"""
    count = 0
    for cell in range(CELLS):
        if is_bare_basic(state, cell):
            cells[count] = cell
            count += 1
    return count
