"""Decorators and functions that compile Python functions to kernels and entry points."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from momagames.kernels.jit.cache import enable_disk_cache
from momagames.kernels.jit.compile_notice import announce_compilation
from momagames.kernels.jit.inlining import FastCompiler, InlineCompiler, ignore_literals

INTERPRETED = bool(numba.config.DISABLE_JIT)
F = TypeVar("F", bound=Callable[..., Any])

# `_nrt=False` removes reference counting (up to 1.9 x faster) and makes the compiler reject every allocation. The option is
# private to numba; a version without it compiles without it (tests/kernels/test_jit.py checks whether it still exists).
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


def compile_function(function: F, **options: Any) -> F:
    try:
        return cast(F, numba.njit(**OPTIONS, **options)(function))
    except (KeyError, TypeError):  # pragma: no cover - a numba without the private option
        return cast(F, numba.njit(error_model="numpy", **options)(function))


def compile_kernel(function: F, **options: Any) -> F:
    compiled = compile_function(function, pipeline_class=InlineCompiler, **options)
    return compiled if INTERPRETED else cast(F, ignore_literals(compiled))


def kernel(function: F) -> F:
    """Compile a rule that is inlined into its callers, so that sizes read from a state propagate and loops vectorize."""
    return compile_kernel(function, forceinline=True)


def noinline_kernel(function: F) -> F:
    """Compile a kernel that is not inlined, for large or rare code: a call takes some nanoseconds, compilation seconds less."""
    # explicit, because otherwise the kernel inherits the option from its first caller
    return compile_kernel(function, forceinline=False)


def wrapping_kernel(function: F) -> F:
    """Compile a kernel with wrapping uint64 arithmetic; when interpreted, NumPy's overflow warning is suppressed."""
    if not INTERPRETED:
        return kernel(function)

    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return cast(F, wrapper)


def compile_entry_point(function: F, name: str, nogil: bool = True) -> F:
    """Compile a loop that calls kernels; `name` distinguishes the entry points made from one closure (one per game).

    nogil    whether other threads of Python run meanwhile; short loops need not release the GIL
    """
    compiled = compile_function(function, nogil=nogil, pipeline_class=FastCompiler)
    if not INTERPRETED:
        enable_disk_cache(compiled, name)
        announce_compilation(compiled, name)
    return compiled
