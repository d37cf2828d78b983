# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Kernels of pattern tables: entries of a position, and values after a move from the cells that it changed."""

from __future__ import annotations

from math import tanh
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.ntuple.patterns import Patterns
from momagames.contract import Game
from momagames.engine.playouts import make_step_buffers
from momagames.kernels.grid import bit_count
from momagames.kernels.jit import kernel, view_as

ONE, EIGHT, BYTE, NO_BYTES = np.uint64(1), np.uint64(8), np.uint64(0xFF), np.uint64(0)


class Buffers(NamedTuple):
    """Scratch arrays.

    codes, after   uint8[n], n a multiple of 8: codes of cells before and after a move, padded with zeros
    entries        int32[P], the table entry of each pattern before the move
    sums           float64[H], the sums of these entries
    changes        int32[P], what the move adds to each entry; zero outside of `find_changes`
    changed        int32[n], the patterns that the move changed
    updated        int32[n], their entries after the move
    actions        int64[1, 1]
    reward         float32[A, K]
    """

    codes: NDArray[np.uint8]
    after: NDArray[np.uint8]
    entries: NDArray[np.int32]
    sums: NDArray[np.float64]
    changes: NDArray[np.int32]
    changed: NDArray[np.int32]
    updated: NDArray[np.int32]
    actions: NDArray[np.int64]
    reward: NDArray[np.float32]


def make_buffers(game: Game, patterns: Patterns, num_heads: int) -> Buffers:
    """Return the scratch arrays for a board."""
    size, cells = len(patterns.offsets), len(patterns.starts) - 1
    codes = np.zeros((2, -(-cells // 8) * 8), np.uint8)
    return Buffers(
        codes[0], codes[1], np.zeros(size, np.int32), np.zeros(num_heads), np.zeros(size, np.int32),
        *np.zeros((2, len(patterns.members)), np.int32), *make_step_buffers(game),
    )  # fmt: skip


@kernel
def find_entries(patterns, codes, entries):
    """Write the table entry of each pattern for the codes of a position to entries int32[P]."""
    for p in range(entries.shape[0]):
        entries[p] = patterns.offsets[p]
    for cell in range(patterns.starts.shape[0] - 1):
        code = np.int32(codes[cell])
        if code != 0:
            for use in range(patterns.starts[cell], patterns.starts[cell + 1]):
                entries[patterns.members[use]] += code * patterns.powers[use]


@kernel
def sum_entries(table, entries):
    """Return the sum of the entries int32[P] of a table float32[n]."""
    total = 0.0
    for p in range(entries.shape[0]):
        total += table[entries[p]]
    return total


@kernel
def find_changes(patterns, buffers):
    """Write the patterns that changed from `codes` to `after` to `changed`, and their entries to `updated`; return how many."""
    before, after = view_as(buffers.codes, np.uint64), view_as(buffers.after, np.uint64)
    found = 0
    for word in range(before.shape[0]):
        difference = before[word] ^ after[word]
        while difference != NO_BYTES:
            byte = bit_count((difference & (~difference + ONE)) - ONE) >> 3
            difference &= ~(BYTE << (EIGHT * np.uint64(byte)))
            cell = 8 * word + byte
            change = np.int32(buffers.after[cell]) - np.int32(buffers.codes[cell])
            for use in range(patterns.starts[cell], patterns.starts[cell + 1]):
                p = patterns.members[use]
                buffers.changed[found] = p
                found += buffers.changes[p] == 0
                buffers.changes[p] += change * patterns.powers[use]
    count = 0
    for i in range(found):  # leaves out changes that cancelled out, and second places of a pattern
        p = buffers.changed[i]
        buffers.changed[count] = p
        buffers.updated[count] = buffers.entries[p] + buffers.changes[p]
        count += buffers.changes[p] != 0
        buffers.changes[p] = 0
    return count


@kernel
def value_of_head(heads, h, total):
    """Return the value of a head from the sum of its entries."""
    return heads.scales[h] * (tanh(total) if heads.bounded[h] else total)


@kernel
def weigh_changes(heads, tables, buffers, role, count):
    """Return the weighted return of the agent of a role in the position after `find_changes`."""
    value = 0.0
    for h in range(heads.scales.shape[0]):
        if heads.coefficients[role, h] != 0.0:
            total = buffers.sums[h]
            for i in range(count):
                total += tables[h, buffers.updated[i]] - tables[h, buffers.entries[buffers.changed[i]]]
            value += heads.coefficients[role, h] * value_of_head(heads, h, total)
    return value
