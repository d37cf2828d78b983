"""Small tools for boards."""

import numpy as np

from momagames.kernels.jit import kernel


@kernel
def remainder(a, b):
    """a mod b for 0 <= a < 2^32 and 0 < b < 2^32: a 32-bit division, several times faster than a 64-bit one."""
    return np.int64(np.uint32(a) % np.uint32(b))
