# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The table of solved positions, in flat arrays.

A solved position is a record of words in the pool: its key, the number of its points, the points in descending order (see
lanes.py). The record at 0 is that of every finished game: one point, nothing. The table is open-addressed; a slot holds
the position of a record and, in its upper bits, a part of the hash that spares most looks at a wrong record. Keys are
compared in full, so the search is exact.
"""

import numpy as np

from momagames.kernels.jit import kernel, quiet
from momagames.kernels.rng import mix

UNKNOWN = -1
NONE, ONE = np.uint64(0), np.uint64(1)
HASH_SHIFT = np.uint64(40)  # a slot: 40 bits of position below 24 bits of the hash
POSITION = np.uint64((1 << 40) - 1)


@quiet
def hash_key(words):
    """uint64[W] -> uint64"""
    h = NONE
    for w in range(words.shape[0]):
        h = mix(h + words[w])
    return h


@kernel
def find(key, pool, table):
    """Where the record of a key is, or UNKNOWN."""
    h = hash_key(key)
    last = np.uint64(table.shape[0] - 1)
    slot = h & last
    while table[slot] != NONE:
        if table[slot] >> HASH_SHIFT == h >> HASH_SHIFT:
            at = np.int64(table[slot] & POSITION)
            same = True
            for w in range(key.shape[0]):
                same &= pool[at + w] == key[w]
            if same:
                return at
        slot = (slot + ONE) & last
    return UNKNOWN


@kernel
def enter(at, key, table):
    """Put the record at `at` into the table, where its key is not yet."""
    h = hash_key(key)
    last = np.uint64(table.shape[0] - 1)
    slot = h & last
    while table[slot] != NONE:
        slot = (slot + ONE) & last
    table[slot] = (h >> HASH_SHIFT << HASH_SHIFT) | np.uint64(at)
