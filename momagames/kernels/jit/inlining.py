"""Kernels as parts of drivers: intermediate code that is optimized and made into machine code in the drivers alone.

By itself numba optimizes every function with all that it calls, gives it two wrappers to be called by, and makes machine
code of it; a rule that lies five calls deep is so treated six times and more. A kernel needs none of this: nothing but
compiled code calls it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
from numba.core import codegen, compiler


def kernels_are_called_by_compiled_code_only() -> None:
    """Stands for the machine code that kernels do not have: Python's calls end here, with one argument too many."""


@functools.lru_cache(maxsize=1)
def _call_error_address() -> int:
    """Its address, as Python calls it."""
    compiled = numba.njit(kernels_are_called_by_compiled_code_only)
    compiled.compile(())
    result = compiled.overloads[()]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cpython_wrapper_name))


class _Codegen:
    """A code generator that does not look for a part's machine code to tell it its environment."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def set_env(self, name: str, env: Any) -> None:
        pass


class _InlineLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Code to be linked into other code."""

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
    """Compile a kernel once for all numbers that it is called with, and not anew for each that a call spells out."""
    plain = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: plain(
        tuple(numba.types.unliteral(arg) for arg in args), {name: numba.types.unliteral(arg) for name, arg in kws.items()}
    )
    return dispatcher


class InlineCompiler(compiler.Compiler):  # type: ignore[misc]
    """Numba's compiler, but for the end."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        self.state.library = _InlineLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.flags.no_cpython_wrapper = self.state.flags.no_cfunc_wrapper = True
        return super().compile_extra(func)
