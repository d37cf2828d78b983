"""Compilation: the only file that imports numba.

`kernel` marks a rule: a closed scalar function that is inlined into whatever calls it, allocates nothing and raises
nothing. `driver` compiles a loop over states that calls kernels, and caches the machine code on disk.

With NUMBA_DISABLE_JIT=1 both return the Python function itself, for coverage and for a debugger.

The disk cache lives in a folder named after a hash of every source file that takes part in compilation. Numba by itself
looks only at the file of the function it compiles, so that an edited callee would go unnoticed.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
import platformdirs
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import caching, cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

__all__ = [
    "INTERPRETED",
    "cache_folder",
    "driver",
    "find_equal",
    "find_value",
    "kernel",
    "local_array",
    "parallel_driver",
    "prange",
    "quiet",
    "set_threads",
    "spread_bits",
    "spread_triples",
]

INTERPRETED = bool(numba.config.DISABLE_JIT)
PACKAGE = Path(__file__).resolve().parent.parent
F = TypeVar("F", bound=Callable[..., Any])

# `_nrt=False` removes reference counting (up to 1.9 x) and makes the compiler refuse every allocation. It is private to
# numba, so a numba that no longer knows it is served without (tests/kernels/test_jit.py says whether it still does).
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


def njit(function: F, **options: Any) -> F:
    try:
        return cast(F, numba.njit(**OPTIONS, **options)(function))
    except (KeyError, TypeError):  # pragma: no cover - a numba without the private option
        return cast(F, numba.njit(error_model="numpy", **options)(function))


def kernel(function: F) -> F:
    """A rule: inlined into its callers, so that sizes read from a state propagate and loops vectorise."""
    return njit(function, forceinline=True)


def quiet(function: F) -> F:
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
    compiled = njit(function, nogil=True)
    return _cached(compiled, name)


def parallel_driver(function: F, name: str) -> F:
    """Like `driver`, with `prange` loops spread over threads."""
    compiled = cast(F, numba.njit(error_model="numpy", nogil=True, parallel=True)(function))
    return _cached(compiled, name)


prange = numba.prange


# ------------------------------------------------------------------------------------------------------- local scratch


if INTERPRETED:

    def local_array(size: int) -> Any:
        """Scratch for one kernel call: int64[size], on the machine's stack, with arbitrary contents."""
        return np.empty(size, np.int64)

else:

    @intrinsic(prefer_literal=True)  # type: ignore[misc, untyped-decorator]
    def local_array(typing: Any, size: Any) -> Any:
        """Scratch for one kernel call: int64[size], on the machine's stack, with arbitrary contents."""
        if not isinstance(size, types.IntegerLiteral):  # the size must be a constant: a literal or a global
            return None
        array = types.Array(types.int64, 1, "C")
        length = size.literal_value

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = context.get_value_type(types.int64)
            data = cgutils.alloca_once(builder, word, size=context.get_constant(types.intp, length))
            out = arrayobj.make_array(array)(context, builder)
            bytes_each = context.get_constant(types.intp, 8)
            arrayobj.populate_array(out, data=data, shape=[args[0]], strides=[bytes_each], itemsize=bytes_each, meminfo=None)
            return out._getvalue()

        return array(size), lower


# ------------------------------------------------------------------------------------------------ 64 bytes at a time

# Each of these is a handful of instructions where the machine has wide registers, and plain loops where it has not. The
# loops of the rules do not become these by themselves: with sizes known only at run time the compiler is careful.

if INTERPRETED:

    def _bits(word: Any) -> Any:
        return np.unpackbits(np.array([word], "<u8").view(np.uint8), bitorder="little")

    def _word(bits: Any) -> Any:
        return np.packbits(bits, bitorder="little").view("<u8")[0]

    def spread_bits(word: Any, out: Any, at: Any) -> None:
        """The 64 bits of a word, lowest first, as bytes 0 and 1 at out[at : at + 64]; out uint8[n] or int8[n]."""
        out[int(at) : int(at) + 64] = _bits(word)

    def spread_triples(first: Any, second: Any, third: Any, out: Any, at: Any) -> None:
        """The bits of three words in turn (first, second, third, first, ...) as bytes at out[at : at + 192]."""
        for k, word in enumerate((first, second, third)):
            out[int(at) + k : int(at) + 192 : 3] = _bits(word)

    def find_equal(bytes: Any, at: Any, flip: Any, to: Any) -> Any:
        """Bit i: whether bytes[at + i] ^ flip equals bytes[to + i], for 64 of them; bytes uint8[n]."""
        return _word((bytes[int(at) : int(at) + 64] ^ flip) == bytes[int(to) : int(to) + 64])

    def find_value(bytes: Any, at: Any, part: Any, value: Any) -> Any:
        """Bit i: whether bytes[at + i] & part equals `value`, for 64 of them; bytes uint8[n]."""
        return _word((bytes[int(at) : int(at) + 64] & part) == value)

else:
    BYTES, BITS = ir.VectorType(ir.IntType(8), 64), ir.VectorType(ir.IntType(1), 64)
    WORD = ir.IntType(64)

    def _spread(builder: Any, word: Any) -> Any:
        return builder.zext(builder.bitcast(word, BITS), BYTES)

    def _repeat(builder: Any, byte: Any) -> Any:
        one = builder.insert_element(ir.Constant(BYTES, ir.Undefined), byte, ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64))

    def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any, vector: Any) -> Any:
        data = arrayobj.make_array(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())

    def _store(context: Any, builder: Any, kind: Any, array: Any, at: Any, value: Any) -> None:
        builder.store(value, _place(context, builder, kind, array, at, value.type)).align = 1

    def _load(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
        loaded = builder.load(_place(context, builder, kind, array, at, BYTES))
        loaded.align = 1
        return loaded

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def spread_bits(typing: Any, word: Any, out: Any, at: Any) -> Any:
        """The 64 bits of a word, lowest first, as bytes 0 and 1 at out[at : at + 64]; out uint8[n] or int8[n]."""

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            _store(context, builder, out, args[1], args[2], _spread(builder, args[0]))
            return context.get_dummy_value()

        return types.void(types.uint64, out, types.int64), lower

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def spread_triples(typing: Any, first: Any, second: Any, third: Any, out: Any, at: Any) -> Any:
        """The bits of three words in turn (first, second, third, first, ...) as bytes at out[at : at + 192]."""

        def order(places: Any) -> Any:
            return ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            a, b, c = (_spread(builder, word) for word in args[:3])
            two = builder.shuffle_vector(a, b, order(list(range(128))))
            rest = builder.shuffle_vector(c, c, order(list(range(64)) * 2))
            mixed = builder.shuffle_vector(two, rest, order([64 * k + i for i in range(64) for k in range(3)]))
            _store(context, builder, out, args[3], args[4], mixed)
            return context.get_dummy_value()

        return types.void(types.uint64, types.uint64, types.uint64, out, types.int64), lower

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def find_equal(typing: Any, bytes: Any, at: Any, flip: Any, to: Any) -> Any:
        """Bit i: whether bytes[at + i] ^ flip equals bytes[to + i], for 64 of them; bytes uint8[n]."""

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            left, right = (_load(context, builder, bytes, args[0], args[k]) for k in (1, 3))
            left = builder.xor(left, _repeat(builder, args[2]))
            return builder.bitcast(builder.icmp_unsigned("==", left, right), WORD)

        return types.uint64(bytes, types.int64, types.uint8, types.int64), lower

    @intrinsic  # type: ignore[misc, untyped-decorator]
    def find_value(typing: Any, bytes: Any, at: Any, part: Any, value: Any) -> Any:
        """Bit i: whether bytes[at + i] & part equals `value`, for 64 of them; bytes uint8[n]."""

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            found = builder.and_(_load(context, builder, bytes, args[0], args[1]), _repeat(builder, args[2]))
            return builder.bitcast(builder.icmp_unsigned("==", found, _repeat(builder, args[3])), WORD)

        return types.uint64(bytes, types.int64, types.uint8, types.uint8), lower


def set_threads(threads: int) -> None:
    """Use this many of the threads that numba started."""
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


# ---------------------------------------------------------------------------------------------------------- disk cache


def cache_folder() -> Path:
    """Folder for compiled code: $MOMAGAMES_CACHE_DIR, else the user's cache folder."""
    given = os.environ.get("MOMAGAMES_CACHE_DIR")
    return Path(given) if given else Path(platformdirs.user_cache_dir("momagames", appauthor=False))


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


@functools.lru_cache(maxsize=1)
def package_stamp() -> str:
    """Hash of all sources of ours that are compiled: the toolbox, the loops, every game."""
    return _digest(sorted(p for part in ("kernels", "engine", "games", "baselines") for p in (PACKAGE / part).rglob("*.py")))


def _sources(function: Callable[..., Any]) -> set[Path]:
    """The source files of a function and of the compiled functions that it closes over."""
    files = {Path(inspect.getfile(function))}
    for cell in function.__closure__ or ():
        inner = getattr(cell.cell_contents, "py_func", None)
        files |= _sources(inner) if inner else set()
    return files


def _stamp(sources: set[Path]) -> str:
    """The package's hash; for a game that lives elsewhere also a hash of the folder of each of its sources."""
    folders = sorted({file.parent for file in sources if PACKAGE not in file.parents})
    return "-".join([package_stamp(), *(_digest(sorted(folder.glob("*.py"))) for folder in folders)])


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._py_file = inspect.getfile(function)
        self._name = name
        self._path = cache_folder() / package_stamp()

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        return self._name

    def get_disambiguator(self) -> str:
        return hashlib.sha256(self._name.encode()).hexdigest()[:12]


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache with our folder, and with a key that stays the same for closures over other compiled functions."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        locator = _Locator(function, name)

        class Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
            def __init__(self, py_func: Callable[..., Any]) -> None:
                self._lineno = py_func.__code__.co_firstlineno
                self._locator = locator
                self._filename_base = self.get_filename_base(py_func.__name__, "")

        self._impl_class = Implementation
        self._stable = name
        super().__init__(function)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple(), self._stable

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file is compiled anew and replaced
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            try:
                super().save_overload(sig, data)
            except OSError:
                raise
            except Exception:  # a damaged index starts anew
                self.flush()
                super().save_overload(sig, data)
        except OSError as error:
            _say_once(f"{error.strerror or error} ({self.cache_path})")


@functools.cache
def _say_once(reason: str) -> None:
    warnings.warn(
        f"momagames cannot keep compiled code on disk: {reason}. Games work, but each new process compiles them again "
        "(seconds). Set MOMAGAMES_CACHE_DIR to a folder that you may write to.",
        RuntimeWarning,
        stacklevel=2,
    )


def _cached(compiled: F, name: str) -> F:
    if INTERPRETED:
        return compiled
    function = compiled.py_func  # type: ignore[attr-defined]
    sources = _sources(function)
    if all(file.is_file() for file in sources):  # rules typed at a prompt have no file that could be hashed
        compiled._cache = _Cache(function, f"{name}:{_stamp(sources)}")  # type: ignore[attr-defined]
    return compiled
