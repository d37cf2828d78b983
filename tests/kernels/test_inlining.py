"""Kernels are compiled only as parts of the entry points that contain them."""

import numba
import numpy as np
import pytest

from momagames.kernels.jit import compile_entry_point, inlining, kernel, noinline_kernel

pytestmark = pytest.mark.compiled


@noinline_kernel
def cube(x):
    return x * x * x


@kernel
def cube_and_more(x, more):
    return cube(x) + more


def work(numbers):
    for i in range(numbers.shape[0]):
        numbers[i] = cube_and_more(numbers[i], 1)


def optimized(monkeypatch, compile_work):
    """The code libraries that are optimized, by name, and the results of the entry point for three numbers."""
    names, plain = [], numba.core.codegen.CPUCodeLibrary._optimize_final_module
    monkeypatch.setattr(
        numba.core.codegen.CPUCodeLibrary,
        "_optimize_final_module",
        lambda library: (names.append(library.name), plain(library)),
    )
    numbers = np.array([1, 2, 3])
    compile_work(work)(numbers)
    return [name for name in names if name in ("work", "cube", "cube_and_more")], numbers.tolist()


def test_only_entry_points_are_optimized(monkeypatch, tmp_path):
    """Says when a numba goes another way; code of kernels would be right then, and take longer to compile."""
    monkeypatch.setenv("MOMAGAMES_CACHE_DIR", str(tmp_path))
    assert optimized(monkeypatch, lambda function: compile_entry_point(function, "tests.parts")) == (["work"], [2, 9, 28])


def test_python_cannot_call_a_kernel():
    with pytest.raises(TypeError, match="called_by_compiled_code_only expected 0 arguments, got 2"):
        cube_and_more(2, 1)
    numbers = np.array([5])
    compile_entry_point(work, "tests.parts")(numbers)  # entry points can call it
    assert numbers[0] == 126


def test_one_kernel_for_all_numbers(tmp_path, monkeypatch):
    """A literal in a call compiles no other version; the cache is empty, so that the entry point is compiled here."""
    monkeypatch.setenv("MOMAGAMES_CACHE_DIR", str(tmp_path))

    @kernel
    def plus(x, more):
        return x + more

    def sums(numbers):
        numbers[0] = plus(numbers[0], 1)
        numbers[1] = plus(plus(numbers[1], 2), numbers[0])

    numbers = np.array([1, 2])
    compile_entry_point(sums, "tests.sums")(numbers)
    assert numbers.tolist() == [2, 6]
    assert plus.signatures == [(numba.int64, numba.int64)]


def test_the_message_names_what_stands_there():
    assert inlining.kernels_are_called_by_compiled_code_only() is None
