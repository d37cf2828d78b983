# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Transposition table of solved positions, in flat arrays.

A solved position is a record of words in the pool: its key, the number of its points, and the points in descending order
(see packed_vectors.py). The record at 0 belongs to every finished game and holds the zero vector. The table uses open
addressing. A slot holds the offset of a record in the pool and, in its upper bits, part of the hash, which avoids most
comparisons with other records. Keys are compared in full, so the search is exact.
"""

import numpy as np

from momagames.kernels.jit import kernel, wrapping_kernel
from momagames.kernels.rng import mix

UNKNOWN = -1
ZERO, ONE = np.uint64(0), np.uint64(1)
HASH_SHIFT = np.uint64(40)  # a slot has 40 bits of offset below 24 bits of hash
OFFSET_MASK = np.uint64((1 << 40) - 1)


@wrapping_kernel
def hash_key(words):
    """Hash a key: uint64[W] -> uint64."""
    h = ZERO
    for w in range(words.shape[0]):
        h = mix(h + words[w])
    return h


@kernel
def find_record(key, pool, table):
    """Return the offset of the record of a key, or UNKNOWN."""
    h = hash_key(key)
    slot_mask = np.uint64(table.shape[0] - 1)
    slot = h & slot_mask
    while table[slot] != ZERO:
        if table[slot] >> HASH_SHIFT == h >> HASH_SHIFT:
            offset = np.int64(table[slot] & OFFSET_MASK)
            equal = True
            for w in range(key.shape[0]):
                equal &= pool[offset + w] == key[w]
            if equal:
                return offset
        slot = (slot + ONE) & slot_mask
    return UNKNOWN


@kernel
def insert_record(offset, key, table):
    """Insert the record at an offset into the table, which must not contain its key."""
    h = hash_key(key)
    slot_mask = np.uint64(table.shape[0] - 1)
    slot = h & slot_mask
    while table[slot] != ZERO:
        slot = (slot + ONE) & slot_mask
    table[slot] = (h >> HASH_SHIFT << HASH_SHIFT) | np.uint64(offset)
