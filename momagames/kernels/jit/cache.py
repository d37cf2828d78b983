"""The disk cache of compiled code.

It lives in a folder named after a hash of every source file that takes part in compilation. Numba by itself looks only at
the file of the function it compiles, so that an edited callee would go unnoticed.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import platformdirs
from numba.core import caching

PACKAGE = Path(__file__).resolve().parents[2]


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


def keep(compiled: Any, name: str) -> None:
    """Have this compiled function's code on disk, under a name that is its own."""
    function = compiled.py_func
    sources = _sources(function)
    if all(file.is_file() for file in sources):  # rules typed at a prompt have no file that could be hashed
        compiled._cache = _Cache(function, f"{name}:{_stamp(sources)}")
