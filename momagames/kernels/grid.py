"""Small tools for boards."""

import numpy as np

from momagames.kernels.jit import kernel


@kernel
def remainder(a, b):
    """a mod b for 0 <= a < 2^32 and 0 < b < 2^32: a 32-bit division, several times faster than a 64-bit one."""
    return np.int64(np.uint32(a) % np.uint32(b))


@kernel
def spread_few(word, out, at, count):
    """The lowest `count` bits of a word as bytes 0 and 1 at out[at : at + count]; all 64 go faster, see `spread_bits`."""
    row = out[at : at + count]
    for i in range(np.uint64(count)):
        row[i] = (word >> i) & np.uint64(1)
