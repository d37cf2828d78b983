"""CUDA kernels from the kernels of the rules, by numba-cuda (extra `cuda`), from the same source.

With NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1 numba's simulator runs them as Python. PTX is compiled without a card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import CellType, CodeType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from momagames.errors import MissingExtra
from momagames.kernels.jit.settings import INTERPRETED

BLOCK, WORDS = 64, 32  # threads of a block, and words that a block copies at a time; BLOCK is a multiple of WORDS
TILE = BLOCK, WORDS + 1  # shape of the shared memory of a block: one column more, against conflicts of memory banks
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


@dataclass(frozen=True)
class GridKernel:
    """A CUDA kernel over the rows of its first array, called with arrays on the card."""

    kernel: Any

    def __call__(self, *arrays: Any) -> None:
        self.kernel[-(-len(arrays[0]) // BLOCK), BLOCK](*arrays)


def compile_grid_kernel(body: Function) -> GridKernel:
    """Return a CUDA kernel that calls `body(i, *arrays)` for each row i of two to four arrays, a thread for each row."""
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

    def run_with_four(first, second, third, fourth):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < first.shape[0]:
            call(i, first, second, third, fourth)

    kernels = {3: run_with_two, 4: run_with_three, 5: run_with_four}
    return GridKernel(cuda.jit(kernels[body.__code__.co_argcount]))


def compile_row_kernel(body: Function, first_words: int, second_words: int) -> GridKernel:
    """Return a CUDA kernel (inputs[N], first uint32[N, V, first_words], second uint32[N, V, second_words]) that writes rows.

    For each i and v it calls `body(i, v, V, inputs, own_first, own_second)`, which writes a row of each output as bytes to the
    thread's own memory. Then the threads of a block write their rows together, in the order of memory: if each wrote its own
    row, neighboring threads would write to places that are far apart.
    """
    import_cuda()
    call = make_device_function(body)
    copy = _copy_rows if INTERPRETED else cuda.jit(device=True)(_copy_rows)

    def run(inputs, first, second):  # type: ignore[no-untyped-def]
        tile = cuda.shared.array(TILE, np.uint32)
        own_first, own_second = cuda.local.array(first_words, np.uint32), cuda.local.array(second_words, np.uint32)
        i = cuda.grid(1)
        for v in range(first.shape[1]):
            if i < inputs.shape[0]:
                call(i, v, first.shape[1], inputs, own_first.view(np.uint8), own_second.view(np.uint8))
            copy(own_first, first, v, tile)
            copy(own_second, second, v, tile)

    return GridKernel(cuda.jit(run))


def _copy_rows(own, out, v, tile):  # type: ignore[no-untyped-def]
    """Copy the words of each thread of the block to its row out[i, v], through shared memory."""
    thread, top = cuda.threadIdx.x, cuda.blockIdx.x * BLOCK
    for start in range(0, own.shape[0], WORDS):
        for k in range(min(WORDS, own.shape[0] - start)):
            tile[thread, k] = own[start + k]
        cuda.syncthreads()
        place = start + thread % WORDS
        for row in range(thread // WORDS, min(BLOCK, out.shape[0] - top), BLOCK // WORDS):
            if place < own.shape[0]:
                out[top + row, v, place] = tile[row, thread % WORDS]
        cuda.syncthreads()


def align_record(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the same record type, whose fields the compiler takes for aligned: it then reads each with one instruction.

    The fields of `kernels.record.record` are where a C compiler would put them.
    """
    return np.dtype(dtype.descr, align=True)


def compile_ptx(grid_kernel: GridKernel, arrays: Sequence[tuple[np.dtype[Any], int]], capability: tuple[int, int]) -> str:
    """Return the PTX of a kernel; no card is needed.

    arrays       element type and number of dimensions of each array, all in C order
    capability   compute capability of the card, such as (8, 0)
    """
    types, convert = import_module("numba.cuda.types"), import_module("numba.cuda.np.numpy_support").from_dtype
    signature = types.void(*(types.Array(convert(dtype), dimensions, "C") for dtype, dimensions in arrays))
    with _without_card(capability):
        ptx, _ = cuda.compile_ptx(grid_kernel.kernel.py_func, signature, cc=capability)
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
