"""Compilation: the only folder that imports numba.

`kernel` marks a rule: a closed scalar function that is inlined into its callers, allocates nothing and raises nothing.
`compile_entry_point` compiles a loop over states that calls kernels, and stores the machine code on disk.

With NUMBA_DISABLE_JIT=1 both return the Python function itself, for coverage and debuggers.
"""

from momagames.kernels.jit.atomics import add_atomically, read_atomically, relax, write_atomically
from momagames.kernels.jit.compiler import compile_entry_point, kernel, noinline_kernel, wrapping_kernel
from momagames.kernels.jit.settings import INTERPRETED, cache_folder
from momagames.kernels.jit.simd import (
    copy_padded16,
    equal_mask64,
    local_array,
    unpack_bit_triples64,
    unpack_bits64,
    value_mask64,
    view_as,
)

__all__ = [
    "INTERPRETED",
    "add_atomically",
    "cache_folder",
    "compile_entry_point",
    "copy_padded16",
    "equal_mask64",
    "kernel",
    "local_array",
    "noinline_kernel",
    "read_atomically",
    "relax",
    "unpack_bit_triples64",
    "unpack_bits64",
    "value_mask64",
    "view_as",
    "wrapping_kernel",
    "write_atomically",
]
