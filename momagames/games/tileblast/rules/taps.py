"""Taps of MO-TileBlast and the groups that they clear (SPEC §3.2, §4.2)."""

import numpy as np

from momagames.games.tileblast.rules.bitset import (
    ALL_BITS,
    cell_bits,
    cells_with,
    count_cells,
    first_cell,
    flood_fill,
    remove_first,
    shift_down,
    shift_left,
    shift_right,
    shift_up,
    write_bits,
)
from momagames.games.tileblast.rules.board import draw, place_piece
from momagames.games.tileblast.rules.damage import clear_basic, hit_neighbors
from momagames.games.tileblast.rules.pieces import BASIC, BOMB, CAGE, COLORS, FLASK, ROCKET_H, ROCKET_V
from momagames.kernels.jit import kernel, noinline_kernel

ROCKET_FROM, BOMB_FROM, FLASK_FROM = 5, 8, 10  # §4.2


@kernel
def free_basics(state):
    """§1.3 Return the basics without a cage, as a set of cells."""
    low, high = cells_with(state["kind"], ALL_BITS, BASIC)
    caged_low, caged_high = cells_with(state["cover"], ALL_BITS, CAGE)
    return low & ~caged_low, high & ~caged_high


@kernel
def with_color(state, color, low, high):
    """Return the cells of a set that have a color, 1..6."""
    a, b = cells_with(state["color"], ALL_BITS, color)
    return a & low, b & high


@kernel
def free_powers(state):
    """§1.3 Return the power pieces without a cage, as a set of cells."""
    low, high = cells_with(state["kind"], ALL_BITS, ROCKET_H)
    for kind in range(ROCKET_V, FLASK + 1):  # the four kinds are adjacent in KINDS
        a, b = cells_with(state["kind"], ALL_BITS, kind)
        low, high = low | a, high | b
    caged_low, caged_high = cells_with(state["cover"], ALL_BITS, CAGE)
    return low & ~caged_low, high & ~caged_high


@kernel
def valid_taps(state):
    """§3.2 Return the valid taps of a game that is not over, as a set of cells."""
    low, high = free_powers(state)
    basic_low, basic_high = free_basics(state)
    for color in range(1, len(COLORS) + 1):
        a, b = with_color(state, color, basic_low, basic_high)
        c, d = shift_right(a, b)
        c, d = c & a, d & b  # the same color to the left
        e, f = shift_left(c, d)
        low, high = low | c | e, high | d | f
        c, d = shift_up(a, b)
        c, d = c & a, d & b
        e, f = shift_down(c, d)
        low, high = low | c | e, high | d | f
    return low, high


@kernel
def write_valid_taps(state, mask):
    """§3.2 Write the valid taps of a game that is not over. mask int8[CELLS]"""
    low, high = valid_taps(state)
    write_bits(low, high, mask, 0)


@kernel
def is_valid_tap(state, cell):
    """§3.2 Return whether a tap on a cell is valid, in a game that is not over."""
    low, high = valid_taps(state)
    a, b = cell_bits(cell)
    return (low & a) | (high & b) != 0


@kernel
def has_valid_tap(state):
    """§4.12 Return whether there is a valid tap."""
    low, high = valid_taps(state)
    return low | high != 0


@kernel
def find_group(state, cell):
    """§4.2 Return the group of a basic, as a set of cells."""
    low, high = free_basics(state)
    low, high = with_color(state, np.int64(state["color"][cell]), low, high)
    return flood_fill(cell, low, high)


@noinline_kernel
def prune_group_taps(state, mask):
    """§4.2 Clear all taps but the first on each group where the tapped cell does not matter. mask int8[CELLS]"""
    low, high = valid_taps(state)
    a, b = free_basics(state)
    low, high = low & a, high & b
    while low | high:
        first = first_cell(low, high)
        a, b = find_group(state, first)
        low, high = low & ~a, high & ~b
        if count_cells(a, b) < ROCKET_FROM:
            a, b = remove_first(a, b)
            while a | b:
                mask[first_cell(a, b)] = 0
                a, b = remove_first(a, b)


@noinline_kernel
def burst_group(state, cell):
    """§4.2 Clear the group of a basic."""
    color = np.int64(state["color"][cell])
    low, high = find_group(state, cell)
    size = count_cells(low, high)
    a, b = low, high
    while a | b:
        clear_basic(state, first_cell(a, b))
        a, b = remove_first(a, b)
    hit_neighbors(state, low, high, color)
    state["cluster"] = size
    if size >= ROCKET_FROM:
        create_power(state, cell, size, color)


@noinline_kernel
def create_power(state, cell, size, color):
    """§4.2 Create the power piece that a big group leaves."""
    if size >= FLASK_FROM:
        place_piece(state, cell, FLASK, 1, color)
    elif size >= BOMB_FROM:
        place_piece(state, cell, BOMB, 1, 0)
    else:
        place_piece(state, cell, ROCKET_V if draw(state, 2) else ROCKET_H, 1, 0)
    state["created"] += 1
