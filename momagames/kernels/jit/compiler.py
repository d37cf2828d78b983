"""What turns a Python function into a kernel or a driver."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from momagames.kernels.jit.cache import enable_disk_cache
from momagames.kernels.jit.inlining import InlineCompiler, ignore_literals

INTERPRETED = bool(numba.config.DISABLE_JIT)
F = TypeVar("F", bound=Callable[..., Any])

# `_nrt=False` removes reference counting (up to 1.9 x) and makes the compiler refuse every allocation. It is private to
# numba, so a numba that no longer knows it is served without (tests/kernels/test_jit.py says whether it still does).
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
    """A rule: inlined into its callers, so that sizes read from a state propagate and loops vectorize."""
    return compile_kernel(function, forceinline=True)


def noinline_kernel(function: F) -> F:
    """A kernel that is called and not inlined, for what is large or rare: some nanoseconds a call, and seconds less to
    compile."""
    # said outright, or it takes the option over from the kernel that calls it first
    return compile_kernel(function, forceinline=False)


def wrapping_kernel(function: F) -> F:
    """A kernel whose uint64 arithmetic wraps on purpose: interpreted, NumPy's overflow warning is switched off."""
    if not INTERPRETED:
        return kernel(function)

    @functools.wraps(function)
    def silent(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return cast(F, silent)


def driver(function: F, name: str) -> F:
    """Compile a loop that calls kernels; `name` tells apart the drivers made from one closure (one per game)."""
    compiled = compile_function(function, nogil=True)
    if not INTERPRETED:
        enable_disk_cache(compiled, name)
    return compiled
