"""CUDA kernels from the kernels of the rules, by numba-cuda (extra `cuda`), from the same source.

With NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1 numba's simulator runs them as Python. PTX is compiled without a card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import CellType, CodeType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from momagames.errors import MissingExtra
from momagames.kernels.jit.compiler import INTERPRETED

Function = Callable[..., Any]
cuda: Any = None  # set by `import_cuda`; a global, as the simulator replaces it there


def import_cuda() -> Any:
    """Return the module numba.cuda of numba-cuda. Raises MissingExtra."""
    try:
        import_module("numba_cuda")
    except ImportError:
        raise MissingExtra('CUDA needs numba-cuda: pip install "momagames[cuda]"') from None
    global cuda
    cuda = import_module("numba.cuda")
    return cuda


def compile_grid_kernel(body: Function) -> Any:
    """Return a CUDA kernel that calls `body(i, *arrays)` for each row i of two or three arrays, a thread for each row."""
    import_cuda()
    call = make_device_function(body)

    def run_with_two(first, second):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < first.shape[0]:
            call(i, first, second)

    def run_with_three(first, second, third):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < first.shape[0]:
            call(i, first, second, third)

    return cuda.jit(run_with_two if body.__code__.co_argcount == 3 else run_with_three)


def compile_ptx(body: Function, arrays: Sequence[tuple[np.dtype[Any], int]], capability: tuple[int, int]) -> str:
    """Return the PTX of `compile_grid_kernel(body)`; no card is needed.

    arrays       element type and number of dimensions of each array, all in C order
    capability   compute capability of the card, such as (8, 0)
    """
    kernel = compile_grid_kernel(body)
    types, convert = import_module("numba.cuda.types"), import_module("numba.cuda.np.numpy_support").from_dtype
    signature = types.void(*(types.Array(convert(dtype), dimensions, "C") for dtype, dimensions in arrays))
    with _without_card(capability):
        ptx, _ = cuda.compile_ptx(kernel.py_func, signature, cc=capability)
    return str(ptx)


@contextmanager
def _without_card(capability: tuple[int, int]) -> Iterator[None]:
    """Let numba-cuda compile device functions for a card that is not here: it asks the current one for its capability."""
    dispatcher: Any = import_module("numba.cuda.dispatcher")
    before = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = before


def make_device_function(function: Function, made: dict[Any, Any] | None = None) -> Any:
    """Return a kernel, or a function that calls kernels, as a CUDA device function, with all kernels that it calls.

    made   device functions by kernel, each of which is made once
    """
    if INTERPRETED:  # the simulator runs Python
        return function
    made = {} if made is None else made
    if function not in made:
        source = getattr(function, "py_func", function)
        names = set(_find_names(source.__code__))
        scope = {**source.__globals__, **_convert_kernels({k: v for k, v in source.__globals__.items() if k in names}, made)}
        cells = zip(source.__code__.co_freevars, source.__closure__ or (), strict=True)
        closure = _convert_kernels({name: cell.cell_contents for name, cell in cells}, made).values()
        copy = FunctionType(source.__code__, scope, source.__name__, source.__defaults__, tuple(map(CellType, closure)))
        made[function] = import_cuda().jit(device=True)(copy)
    return made[function]


def _convert_kernels(values: Mapping[str, Any], made: dict[Any, Any]) -> dict[str, Any]:
    return {k: make_device_function(value, made) if isinstance(value, Dispatcher) else value for k, value in values.items()}


def _find_names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in a function and the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _find_names(constant)
