"""Atomic operations on the elements of an array int64[n], for words that several threads write.

When interpreted, they are plain Python, for one thread only.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from llvmlite.binding import get_default_triple  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from momagames.kernels.jit.settings import INTERPRETED

if INTERPRETED:

    def add_atomically(words: Any, at: int, value: int) -> Any:
        """Add a value to words[at] atomically; return the previous value."""
        before = words[at]
        words[at] += value
        return before

    def read_atomically(words: Any, at: int) -> Any:
        """Return words[at]; every call reads the memory."""
        return words[at]

    def write_atomically(words: Any, at: int, value: int) -> None:
        """Set words[at] to a value, after all earlier writes of this thread."""
        words[at] = value

    def relax() -> None:
        """Hint to the processor that this is a spin-wait loop."""

else:
    INT32 = ir.IntType(32)
    PAUSES: dict[str, tuple[str, list[Any]]] = {  # by processor: LLVM's name of the hint, and its arguments
        "x86_64": ("llvm.x86.sse2.pause", []),
        "aarch64": ("llvm.aarch64.hint", [ir.Constant(INT32, 1)]),
        "arm64": ("llvm.aarch64.hint", [ir.Constant(INT32, 1)]),
    }

    def _pointer(context: Any, builder: Any, kind: Any, args: Any) -> Any:
        data = arrayobj.make_array(kind)(context, builder, args[0]).data
        return builder.gep(data, [args[1]])

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def add_atomically(typing: Any, words: Any, at: Any, value: Any) -> Any:
        """Add a value to words[at] atomically; return the previous value."""

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.atomic_rmw("add", _pointer(context, builder, words, args), args[2], "seq_cst")

        return types.int64(words, types.int64, types.int64), lower

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def read_atomically(typing: Any, words: Any, at: Any) -> Any:
        """Return words[at]; every call reads the memory."""

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load_atomic(_pointer(context, builder, words, args), "seq_cst", 8)

        return types.int64(words, types.int64), lower

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def write_atomically(typing: Any, words: Any, at: Any, value: Any) -> Any:
        """Set words[at] to a value, after all earlier writes of this thread."""

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store_atomic(args[2], _pointer(context, builder, words, args), "seq_cst", 8)
            return context.get_dummy_value()

        return types.void(words, types.int64, types.int64), lower

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def relax(typing: Any) -> Any:
        """Hint to the processor that this is a spin-wait loop."""

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            machine = get_default_triple().split("-")[0]
            if machine in PAUSES:
                name, hints = PAUSES[machine]
                kind = ir.FunctionType(ir.VoidType(), [INT32] * len(hints))
                builder.call(cgutils.get_or_insert_function(builder.module, kind, name), hints)
            return context.get_dummy_value()

        return types.void(), lower
