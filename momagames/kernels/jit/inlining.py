"""Kernels as parts of entry points: intermediate code that is optimized and compiled to machine code only in entry points.

By default numba optimizes every function together with its callees, adds two wrappers and generates machine code. A rule five
calls deep is processed six times or more. Kernels need none of this, because only compiled code calls them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
from numba.core import codegen, compiler, typed_passes, untyped_passes

# Passes for closures, exceptions, literals and array expressions, which rules do not contain
UNUSED_PASSES = (
    untyped_passes.FindLiterallyCalls,
    untyped_passes.InlineClosureLikes,
    untyped_passes.InlineInlinables,
    untyped_passes.LiteralPropagationSubPipelinePass,
    untyped_passes.LiteralUnroll,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.WithLifting,
    typed_passes.DumpParforDiagnostics,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
)


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


class _Flags(compiler.Flags):  # type: ignore[misc]
    """Numba's compiler flags with a fast comparison: a game's type inference looks up functions by them 30,000 times."""

    __slots__ = ()

    def __hash__(self) -> int:
        return 0  # numba's is a constant as well: it contains the names of the flags only

    def __eq__(self, other: object) -> bool:
        return type(other) is _Flags and self._values == other._values


class FastCompiler(compiler.Compiler):  # type: ignore[misc]
    """Numba's compiler with fast flags and without the passes that rules do not need."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags = _Flags(self.state.flags)

    def define_pipelines(self) -> list[Any]:
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [(step, name) for step, name in pipeline.passes if step not in UNUSED_PASSES]
        return pipelines


class InlineCompiler(FastCompiler):
    """The compiler without the final optimization and the wrappers."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        self.state.library = _InlineLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.flags.no_cpython_wrapper = self.state.flags.no_cfunc_wrapper = True
        return super().compile_extra(func)
