"""Sets of cells as the bits of two words: cells 0..63 in the lower word, 64..116 in the upper word."""

import numpy as np

from momagames.games.tileblast.rules.state import CELLS, WIDTH
from momagames.kernels.grid import bit_count
from momagames.kernels.jit import kernel, unpack_bits64, value_mask64

OFFSET = CELLS - 64  # first of the last 64 cells
OFFSET_BITS, REST_BITS = np.uint64(OFFSET), np.uint64(64 - OFFSET)
ONE, ROW, ROW_REST = np.uint64(1), np.uint64(WIDTH), np.uint64(64 - WIDTH)
SIX_BITS, ALL_BITS = np.uint64(63), np.uint8(255)


def constant_bits(cells: list[int]) -> tuple[np.uint64, np.uint64]:
    """Return the two words of a set that is known at import."""
    word = sum(1 << cell for cell in cells)
    return np.uint64(word % 2**64), np.uint64(word >> 64)


NOT_LEFT = constant_bits([cell for cell in range(CELLS) if cell % WIDTH])
NOT_RIGHT = constant_bits([cell for cell in range(CELLS) if cell % WIDTH != WIDTH - 1])
UPPER_CELLS = np.uint64((1 << OFFSET) - 1)  # bits of the upper word that are cells


@kernel
def cells_with(values, mask, value):
    """Return the cells where values & mask equals `value`; values uint8[CELLS]."""
    low = value_mask64(values, 0, np.uint8(mask), np.uint8(value))
    return low, value_mask64(values, OFFSET, np.uint8(mask), np.uint8(value)) >> REST_BITS


@kernel
def write_bits(low, high, out, at):
    """Write the cells as bytes 0 and 1 to out[at : at + CELLS]."""
    unpack_bits64(low, out, at)
    unpack_bits64((low >> OFFSET_BITS) | (high << REST_BITS), out, at + OFFSET)


@kernel
def shift_right(low, high):
    """Return the cells to the right of these."""
    return (low << ONE) & NOT_LEFT[0], ((high << ONE) | (low >> SIX_BITS)) & NOT_LEFT[1] & UPPER_CELLS


@kernel
def shift_left(low, high):
    """Return the cells to the left of these."""
    low, high = low & NOT_LEFT[0], high & NOT_LEFT[1]
    return (low >> ONE) | (high << SIX_BITS), high >> ONE


@kernel
def shift_up(low, high):
    """Return the cells above these."""
    return low << ROW, ((high << ROW) | (low >> ROW_REST)) & UPPER_CELLS


@kernel
def shift_down(low, high):
    """Return the cells below these."""
    return (low >> ROW) | (high << ROW_REST), high >> ROW


@kernel
def neighbors(low, high):
    """§1.3 Return all cells beside, above and below these."""
    a, b = shift_right(low, high)
    c, d = shift_left(low, high)
    e, f = shift_up(low, high)
    g, h = shift_down(low, high)
    return a | c | e | g, b | d | f | h


@kernel
def cell_bits(cell):
    """Return the set that holds one cell."""
    if cell < 64:
        return ONE << np.uint64(cell), np.uint64(0)
    return np.uint64(0), ONE << np.uint64(cell - 64)


@kernel
def flood_fill(cell, low, high):
    """Return the part of a set that is connected with one of its cells through neighbors."""
    a, b = cell_bits(cell)
    grown = True
    while grown:
        c, d = neighbors(a, b)
        c, d = (a | c) & low, (b | d) & high
        grown = c != a or d != b
        a, b = c, d
    return a, b


@kernel
def count_cells(low, high):
    """Return the number of cells."""
    return np.int64(bit_count(low)) + np.int64(bit_count(high))


@kernel
def first_cell(low, high):
    """Return the lowest cell of a nonempty set."""
    if low:
        return np.int64(bit_count(~low & (low - ONE)))
    return 64 + np.int64(bit_count(~high & (high - ONE)))


@kernel
def remove_first(low, high):
    """Return a nonempty set without its lowest cell."""
    if low:
        return low & (low - ONE), high
    return low, high & (high - ONE)
