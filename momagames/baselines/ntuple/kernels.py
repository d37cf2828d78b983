# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernels of pattern tables: entries of a position, and values after a move from the cells that it changed."""

from __future__ import annotations

from math import tanh
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.ntuple.patterns import Patterns
from momagames.kernels.grid import bit_count
from momagames.kernels.jit import kernel, view_as

ONE, TWO, THREE, EIGHT = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(8)
BYTE, NO_BYTES, ZERO = np.uint64(0xFF), np.uint64(0), np.float32(0)


class Buffers(NamedTuple):
    """Scratch arrays.

    codes, after   uint8[n], n a multiple of 8: codes of cells before and after a move, padded with zeros
    entries        uint32[P], the table entry of each pattern before the move
    updated        uint32[P], the same after the move
    """

    codes: NDArray[np.uint8]
    after: NDArray[np.uint8]
    entries: NDArray[np.uint32]
    updated: NDArray[np.uint32]


def make_buffers(patterns: Patterns) -> Buffers:
    """Return the scratch arrays for a board."""
    cells, size = patterns.powers.shape
    codes, entries = np.zeros((2, -(-cells // 8) * 8), np.uint8), np.zeros((2, size), np.uint32)
    return Buffers(*codes, *entries)


@kernel
def find_entries(patterns, buffers):
    """Write the entries of the position of `codes`."""
    entries = buffers.entries
    for p in range(entries.shape[0]):
        entries[p] = patterns.offsets[p]
    for cell in range(patterns.powers.shape[0]):
        if buffers.codes[cell] != 0:
            add_code(patterns, cell, np.int32(buffers.codes[cell]), entries)


@kernel
def update_entries(patterns, buffers):
    """Write the updated entries, from the cells where `after` differs from `codes`."""
    before, after, updated = view_as(buffers.codes, np.uint64), view_as(buffers.after, np.uint64), buffers.updated
    for p in range(updated.shape[0]):
        updated[p] = buffers.entries[p]
    for word in range(before.shape[0]):
        difference = before[word] ^ after[word]
        while difference != NO_BYTES:
            byte = bit_count((difference & (~difference + ONE)) - ONE) >> 3
            difference &= ~(BYTE << (EIGHT * np.uint64(byte)))
            cell = 8 * word + byte
            add_code(patterns, cell, np.int32(buffers.after[cell]) - np.int32(buffers.codes[cell]), updated)


@kernel
def add_code(patterns, cell, change, entries):
    """Add a change of the code of a cell to the entries: all patterns at once are faster than those of the cell alone."""
    for p in range(entries.shape[0]):
        entries[p] += change * patterns.powers[cell, p]


@kernel
def sum_entries(table, entries):
    """Return the sum of entries, uint32[P], of a table float32[n]; as four sums, because an addition waits for the last one."""
    first, second, third, fourth = ZERO, ZERO, ZERO, ZERO
    size = np.uint64(entries.shape[0])
    for p in range(size >> TWO):
        at = p << TWO
        first += table[entries[at]]
        second += table[entries[at + ONE]]
        third += table[entries[at + TWO]]
        fourth += table[entries[at + THREE]]
    for p in range(size & ~THREE, size):
        first += table[entries[p]]
    return (first + second) + (third + fourth)


@kernel
def value_of_head(heads, h, total):
    """Return the value of a head from the sum of its entries."""
    return heads.scales[h] * (tanh(total) if heads.bounded[h] else total)


@kernel
def weigh_position(heads, tables, entries, role):
    """Return the weighted return of the agent of a role in the position of these entries, uint32[P]."""
    value = 0.0
    for h in range(heads.scales.shape[0]):
        if heads.coefficients[role, h] != 0.0:
            value += heads.coefficients[role, h] * value_of_head(heads, h, sum_entries(tables[h], entries))
    return value
