# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Arithmetic and bit operations for boards."""

import numpy as np

from momagames.kernels.jit import kernel


@kernel
def remainder(a, b):
    """Return a mod b for 0 <= a < 2^32 and 0 < b < 2^32, by a 32-bit division, several times faster than a 64-bit one."""
    return np.int64(np.uint32(a) % np.uint32(b))


@kernel
def unpack_bits_short(word, out, at, count):
    """Write the lowest `count` bits of a word as bytes 0 and 1 to out[at : at + count]; `unpack_bits64` is faster for 64."""
    row = out[at : at + count]
    for i in range(np.uint64(count)):
        row[i] = (word >> i) & np.uint64(1)


@kernel
def bit_count(word):
    """Return the number of set bits: uint64 -> int64."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    return np.int64((word + (word >> np.uint64(32))) & np.uint64(0x7F))
