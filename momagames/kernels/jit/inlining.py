"""Kernels as parts of entry points: intermediate code that is optimized and compiled to machine code only in entry points.

By default numba optimizes every function together with its callees, adds two wrappers and generates machine code. A rule five
calls deep is processed six times or more. Kernels need none of this, because only compiled code calls them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
from numba.core import codegen, compiler


def kernels_are_called_by_compiled_code_only() -> None:
    """Replace the machine code that kernels do not have: calls from Python end here, with a wrong number of arguments."""


@functools.lru_cache(maxsize=1)
def _call_error_address() -> int:
    """Return the address of the wrapper that Python calls."""
    compiled = numba.njit(kernels_are_called_by_compiled_code_only)
    compiled.compile(())
    result = compiled.overloads[()]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cpython_wrapper_name))


class _Codegen:
    """A code generator that does not set the environment of machine code, because kernels have none."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def set_env(self, name: str, env: Any) -> None:
        pass


class _InlineLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Intermediate code that is linked into other code."""

    @property
    def codegen(self) -> Any:
        return _Codegen(self._codegen)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return _call_error_address()


def ignore_literals(dispatcher: Any) -> Any:
    """Make a kernel compile once for all integers, instead of once for each literal in a call."""
    get_template = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: get_template(
        tuple(numba.types.unliteral(arg) for arg in args), {name: numba.types.unliteral(arg) for name, arg in kws.items()}
    )
    return dispatcher


class InlineCompiler(compiler.Compiler):  # type: ignore[misc]
    """Numba's compiler without the final optimization and the wrappers."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        self.state.library = _InlineLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.flags.no_cpython_wrapper = self.state.flags.no_cfunc_wrapper = True
        return super().compile_extra(func)
