"""Disk cache of compiled code.

Numba's own cache checks only the file of the compiled function and misses edits of its callees. Here the key of an entry
point contains all that its machine code depends on: its name and compiler options, the reachable functions with the values
that they close over or refer to, and the contents of the files in the import closure of those functions
(`momagames.kernels.jit.sources`). Numba adds its version, the version of Python, the signature and the processor.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import caching

from momagames.kernels.jit.settings import cache_folder
from momagames.kernels.jit.sources import Sources

COMPILER = str(Path(__file__).resolve().with_name("compiler.py"))
HASH_BYTES = hashlib.sha256().digest_size
MAX_VERSIONS = 8  # versions of an entry point on disk; older ones are removed when a new one is written


@functools.cache
def _sources(folder: Path) -> Sources:
    return Sources(folder / "imports.json")


_resolve_path = functools.cache(os.path.realpath)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@functools.cache
def _describe(function: Callable[..., Any]) -> tuple[str, list[Callable[..., Any]]]:
    """Return a hash of a function's code and constants, and the compiled functions that it closes over or refers to."""
    code, variables = function.__code__, function.__globals__
    inner: list[Callable[..., Any]] = []

    def describe(value: Any) -> Any:
        if (compiled := getattr(value, "py_func", None)) is not None:
            inner.append(compiled)
            return "function"
        if isinstance(value, tuple):
            return [describe(item) for item in value]
        if isinstance(value, np.ndarray):
            return str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()
        if isinstance(value, np.generic):
            return type(value).__name__, value.tobytes()  # far cheaper than its repr
        if isinstance(value, (bool, int, float, complex, str, bytes, type(None), np.dtype, type)):
            return value
        return type(value).__name__  # modules, intrinsics: their sources are in the import closure

    values = [cell.cell_contents for cell in function.__closure__ or ()]
    values += [variables[name] for name in code.co_names if name in variables]
    identity = function.__module__, function.__qualname__, code.co_firstlineno, code.co_names
    digest = hashlib.sha256(code.co_code)
    digest.update(repr((identity, describe(code.co_consts), [describe(value) for value in values])).encode())
    return digest.hexdigest(), inner


def _find_functions(entry_point: Callable[..., Any]) -> tuple[list[Callable[..., Any]], str]:
    """Return the compiled functions that an entry point reaches, itself first, and a hash of them and their references."""
    functions, numbers, hashes = [entry_point], {entry_point: 0}, []
    for function in functions:  # the list grows during the loop
        described, inner = _describe(function)
        for callee in inner:
            if callee not in numbers:
                numbers[callee] = len(functions)
                functions.append(callee)
        hashes.append((described, [numbers[callee] for callee in inner]))
    return functions, _digest(repr(hashes))


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Location of an entry point's files; the files of its other versions are in the same directory."""

    def __init__(self, function: Callable[..., Any], name: str, version: str) -> None:
        self._py_file = function.__code__.co_filename
        self._version = version
        self._entry = _digest(name)[:12]
        self._path = cache_folder()

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        return self._version

    def get_disambiguator(self) -> str:
        return f"{self._entry}-{self._version[:16]}"

    def remove_old_versions(self) -> None:
        """Remove all but the newest versions. A process that reads one at this moment compiles it again."""
        with contextlib.suppress(OSError):  # another process removes them, or uses them where that forbids removal
            indexes = sorted(self._path.glob(f"*-{self._entry}-*.nbi"), key=lambda index: -index.stat().st_mtime)
            for index in indexes[MAX_VERSIONS:]:
                for file in self._path.glob(f"{index.stem}.*"):
                    file.unlink()


class _HashedFiles(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Numba's index and machine-code files, each with the SHA-256 of its content in front, which is checked when it is read.

    Damaged machine code may compute wrong results or crash, so a damaged file counts as missing.
    """

    def _load_index(self) -> dict[Any, str]:
        try:
            version, overloads = self._read(self._index_path)
        except FileNotFoundError:
            return {}
        return overloads if version == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, ((self._version, self._source_stamp), overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _read(self, path: str) -> Any:
        content = Path(path).read_bytes()
        if hashlib.sha256(content[HASH_BYTES:]).digest() != content[:HASH_BYTES]:
            raise ValueError(f"{path} is damaged")
        return pickle.loads(content[HASH_BYTES:])

    def _write(self, path: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(content).digest() + content)


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache with our directory, files and key; Numba's key differs between closures over other compiled functions."""

    def __init__(self, function: Callable[..., Any], name: str, version: str) -> None:
        locator = _Locator(function, name, version)

        class Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
            def __init__(self, py_func: Callable[..., Any]) -> None:
                self._lineno = py_func.__code__.co_firstlineno
                self._locator = locator
                self._filename_base = self.get_filename_base(py_func.__name__, "")

        self._impl_class = Implementation
        self._key = name, version
        super().__init__(function)
        self._cache_file = _HashedFiles(self._cache_path, self._impl.filename_base, locator.get_source_stamp())

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple(), self._key

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
            self._impl.locator.remove_old_versions()
        except OSError as error:
            _warn_once(f"{error.strerror or error} ({self.cache_path})")


@functools.cache
def _warn_once(reason: str) -> None:
    warnings.warn(
        f"momagames cannot store compiled code on disk: {reason}. Games work, but each new process compiles them again "
        "(seconds). Set MOMAGAMES_CACHE_DIR to a writable directory.",
        RuntimeWarning,
        stacklevel=2,
    )


def enable_disk_cache(compiled: Any, name: str) -> None:
    """Store the code of an entry point on disk; `name` distinguishes entry points made from the same function."""
    function = compiled.py_func
    functions, graph = _find_functions(function)
    files = {_resolve_path(function.__code__.co_filename) for function in functions}
    if not all(map(os.path.isfile, files)):  # rules defined at a prompt have no file to hash
        return
    sources = _sources(cache_folder())
    closure = sources.find_closure(files | {COMPILER})
    contents = sorted((os.path.basename(file), sources.digest(file)) for file in closure)
    sources.save()
    options = sorted(compiled.targetoptions.items(), key=lambda item: item[0])
    compiled._cache = _Cache(function, name, _digest(name, graph, repr(options), repr(contents)))
