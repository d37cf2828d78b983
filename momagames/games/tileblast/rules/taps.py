"""Taps of MO-TileBlast and the groups that they burst (SPEC §3.2, §4.2)."""

import numpy as np

from momagames.games.tileblast.rules.bitset import (
    WHOLE,
    above,
    cell_bits,
    cells_with,
    connected,
    first_of,
    left_of,
    right_of,
    size_of,
    under,
    without_first,
    write_bits,
)
from momagames.games.tileblast.rules.board import draw, place
from momagames.games.tileblast.rules.damage import clear, wave
from momagames.games.tileblast.rules.pieces import BASIC, BOMB, CAGE, COLORS, FLASK, ROCKET_H, ROCKET_V
from momagames.kernels.jit import kernel, noinline_kernel

ROCKET_FROM, BOMB_FROM, FLASK_FROM = 5, 8, 10  # §4.2


@kernel
def free_basics(state):
    """§1.3 Basics without a cage, as a set of cells."""
    low, high = cells_with(state["kind"], WHOLE, BASIC)
    caged_low, caged_high = cells_with(state["cover"], WHOLE, CAGE)
    return low & ~caged_low, high & ~caged_high


@kernel
def of_color(state, color, low, high):
    """Those of a set that have a color, 1..6."""
    a, b = cells_with(state["color"], WHOLE, color)
    return a & low, b & high


@kernel
def free_powers(state):
    """§1.3 Power pieces without a cage."""
    low, high = cells_with(state["kind"], WHOLE, ROCKET_H)
    for kind in range(ROCKET_V, FLASK + 1):  # the four kinds stand together in the catalog
        a, b = cells_with(state["kind"], WHOLE, kind)
        low, high = low | a, high | b
    caged_low, caged_high = cells_with(state["cover"], WHOLE, CAGE)
    return low & ~caged_low, high & ~caged_high


@kernel
def valid_taps(state):
    """§3.2 The valid taps of a game that is not over, as a set of cells."""
    low, high = free_powers(state)
    basic_low, basic_high = free_basics(state)
    for color in range(1, len(COLORS) + 1):
        a, b = of_color(state, color, basic_low, basic_high)
        c, d = right_of(a, b)
        c, d = c & a, d & b  # with an equal to the left
        e, f = left_of(c, d)
        low, high = low | c | e, high | d | f
        c, d = above(a, b)
        c, d = c & a, d & b
        e, f = under(c, d)
        low, high = low | c | e, high | d | f
    return low, high


@kernel
def mark_valid(state, mask):
    """§3.2 The valid taps of a game that is not over, int8[CELLS]."""
    low, high = valid_taps(state)
    write_bits(low, high, mask, 0)


@kernel
def is_valid(state, cell):
    """§3.2 Whether a tap on a cell is valid, in a game that is not over."""
    low, high = valid_taps(state)
    a, b = cell_bits(cell)
    return (low & a) | (high & b) != 0


@kernel
def has_valid(state):
    """§4.12 Whether there is a valid tap."""
    low, high = valid_taps(state)
    return low | high != 0


@kernel
def group(state, cell):
    """§4.2 The group of a basic, as a set of cells."""
    low, high = free_basics(state)
    low, high = of_color(state, np.int64(state["color"][cell]), low, high)
    return connected(cell, low, high)


@noinline_kernel
def keep_one_tap(state, mask):
    """§4.2 Clear the taps on a group but the first where it does not matter which cell is tapped. mask int8[CELLS]"""
    low, high = valid_taps(state)
    a, b = free_basics(state)
    low, high = low & a, high & b
    while low | high:
        first = first_of(low, high)
        a, b = group(state, first)
        low, high = low & ~a, high & ~b
        if size_of(a, b) < ROCKET_FROM:
            a, b = without_first(a, b)
            while a | b:
                mask[first_of(a, b)] = 0
                a, b = without_first(a, b)


@noinline_kernel
def burst(state, cell):
    """§4.2 The group of a basic."""
    color = np.int64(state["color"][cell])
    low, high = group(state, cell)
    size = size_of(low, high)
    a, b = low, high
    while a | b:
        clear(state, first_of(a, b))
        a, b = without_first(a, b)
    wave(state, low, high, color)
    state["cluster"] = size
    if size >= ROCKET_FROM:
        leave_power(state, cell, size, color)


@noinline_kernel
def leave_power(state, cell, size, color):
    """§4.2 What a big group leaves."""
    if size >= FLASK_FROM:
        place(state, cell, FLASK, 1, color)
    elif size >= BOMB_FROM:
        place(state, cell, BOMB, 1, 0)
    else:
        place(state, cell, ROCKET_V if draw(state, 2) else ROCKET_H, 1, 0)
    state["created"] += 1
