"""Compilation: the only folder that imports numba.

`kernel` marks a rule: a closed scalar function that is inlined into whatever calls it, allocates nothing and raises
nothing. `driver` compiles a loop over states that calls kernels, and keeps the machine code on disk.

With NUMBA_DISABLE_JIT=1 both return the Python function itself, for coverage and for a debugger.
"""

from momagames.kernels.jit.atomics import add_atomically, read_atomically, relax, write_atomically
from momagames.kernels.jit.cache import cache_folder
from momagames.kernels.jit.compiler import INTERPRETED, driver, kernel, quiet, routine
from momagames.kernels.jit.simd import copy_few, find_equal, find_value, local_array, spread_bits, spread_triples

__all__ = [
    "INTERPRETED",
    "add_atomically",
    "cache_folder",
    "copy_few",
    "driver",
    "find_equal",
    "find_value",
    "kernel",
    "local_array",
    "quiet",
    "read_atomically",
    "relax",
    "routine",
    "spread_bits",
    "spread_triples",
    "write_atomically",
]
