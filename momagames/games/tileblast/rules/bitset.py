"""Sets of cells as the bits of two words: cells 0..63 in the lower one, 64..116 in the upper one."""

import numpy as np

from momagames.games.tileblast.rules.state import CELLS, WIDTH
from momagames.kernels.grid import bit_count
from momagames.kernels.jit import value_mask64, kernel, unpack_bits64

LAST = CELLS - 64  # where the last 64 cells begin
BEGUN, LEFT_OVER = np.uint64(LAST), np.uint64(64 - LAST)
ONE, ROW, REST = np.uint64(1), np.uint64(WIDTH), np.uint64(64 - WIDTH)
SIX_BITS, WHOLE = np.uint64(63), np.uint8(255)


def bits_of(cells: list[int]) -> tuple[np.uint64, np.uint64]:
    """The two words of a set that is known beforehand."""
    word = sum(1 << cell for cell in cells)
    return np.uint64(word % 2**64), np.uint64(word >> 64)


NOT_LEFT = bits_of([cell for cell in range(CELLS) if cell % WIDTH])
NOT_RIGHT = bits_of([cell for cell in range(CELLS) if cell % WIDTH != WIDTH - 1])
UPPER = np.uint64((1 << LAST) - 1)  # bits of the upper word that are cells


@kernel
def cells_with(values, part, value):
    """The cells where values & part equals `value`; values uint8[CELLS]."""
    low = value_mask64(values, 0, np.uint8(part), np.uint8(value))
    return low, value_mask64(values, LAST, np.uint8(part), np.uint8(value)) >> LEFT_OVER


@kernel
def write_bits(low, high, out, at):
    """The cells as bytes 0 and 1 at out[at : at + CELLS]."""
    unpack_bits64(low, out, at)
    unpack_bits64((low >> BEGUN) | (high << LEFT_OVER), out, at + LAST)


@kernel
def right_of(low, high):
    """The cells to the right of these."""
    return (low << ONE) & NOT_LEFT[0], ((high << ONE) | (low >> SIX_BITS)) & NOT_LEFT[1] & UPPER


@kernel
def left_of(low, high):
    low, high = low & NOT_LEFT[0], high & NOT_LEFT[1]
    return (low >> ONE) | (high << SIX_BITS), high >> ONE


@kernel
def above(low, high):
    return low << ROW, ((high << ROW) | (low >> REST)) & UPPER


@kernel
def under(low, high):
    return (low >> ROW) | (high << REST), high >> ROW


@kernel
def neighbors(low, high):
    """§1.3 All cells beside, above and below these."""
    a, b = right_of(low, high)
    c, d = left_of(low, high)
    e, f = above(low, high)
    g, h = under(low, high)
    return a | c | e | g, b | d | f | h


@kernel
def cell_bits(cell):
    """One cell."""
    if cell < 64:
        return ONE << np.uint64(cell), np.uint64(0)
    return np.uint64(0), ONE << np.uint64(cell - 64)


@kernel
def connected(cell, low, high):
    """The part of a set that is connected with one of its cells through neighbors."""
    a, b = cell_bits(cell)
    grown = True
    while grown:
        c, d = neighbors(a, b)
        c, d = (a | c) & low, (b | d) & high
        grown = c != a or d != b
        a, b = c, d
    return a, b


@kernel
def size_of(low, high):
    """How many cells."""
    return np.int64(bit_count(low)) + np.int64(bit_count(high))


@kernel
def first_of(low, high):
    """The lowest cell of a set that is not empty."""
    if low:
        return np.int64(bit_count(~low & (low - ONE)))
    return 64 + np.int64(bit_count(~high & (high - ONE)))


@kernel
def without_first(low, high):
    """A set that is not empty without its lowest cell."""
    if low:
        return low & (low - ONE), high
    return low, high & (high - ONE)
