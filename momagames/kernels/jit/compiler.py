"""Decorators and functions that compile Python functions to kernels and entry points."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np

from momagames.kernels.jit.settings import INTERPRETED, OPTIONS

F = TypeVar("F", bound=Callable[..., Any])
TESTED_MINORS = range(61, 69)  # of numba 0: see pyproject.toml, and the schedule in .github/workflows/ci.yml


@functools.cache
def _find_fast_compiler() -> ModuleType | None:
    """Return the module `fast_compiler`; None, with a warning, if this numba does not have the private parts that it uses."""
    try:
        from momagames.kernels.jit import fast_compiler

        major, minor = numba.version_info[:2]
        if major != 0 or minor not in TESTED_MINORS:
            fast_compiler.check_private_parts()
    except Exception as error:
        warnings.warn(
            f"momagames compiles with the plain compiler of numba {numba.__version__}, which takes two to three times as long, "
            f"and again in each process: {type(error).__name__}: {error}. It is tested with numba 0.{TESTED_MINORS[0]} to "
            f"0.{TESTED_MINORS[-1]}.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return fast_compiler


def _compile_kernel(function: F, is_inlined: bool) -> F:
    if INTERPRETED:
        return function
    fast_compiler = _find_fast_compiler()
    return cast(F, fast_compiler.compile_kernel(function, is_inlined) if fast_compiler else numba.njit(**OPTIONS)(function))


def kernel(function: F) -> F:
    """Compile a rule that is inlined into its callers, so that sizes read from a state propagate and loops vectorize."""
    return _compile_kernel(function, is_inlined=True)


def noinline_kernel(function: F) -> F:
    """Compile a kernel that is not inlined, for large or rare code: a call takes some nanoseconds, compilation seconds less."""
    return _compile_kernel(function, is_inlined=False)


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
    if INTERPRETED:
        return function
    fast_compiler = _find_fast_compiler()
    if fast_compiler:
        return cast(F, fast_compiler.compile_entry_point(function, name, nogil))
    return cast(F, numba.njit(**OPTIONS, nogil=nogil)(function))
