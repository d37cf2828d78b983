"""Python named as "module:name": methods, policies and commands of your own, and lazily loaded parts of the package."""

from __future__ import annotations

import os
import re
import sysconfig
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any

from momagames.errors import InvalidFile, MissingExtra, UnknownId

PYTHON_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_allows_code: ContextVar[bool] = ContextVar("allows_code", default=False)


@dataclass(frozen=True, eq=False)
class Origin:
    """Where names of methods, policies, environments and files come from: the user, or a file of data.

    A file of data names what the package and installed plugins register, and files in its own folder. All origins are equal,
    so that models that hold them compare by what they say.

    place         the file, for messages; empty: the user
    folder        that the files it names must lie in
    allows_all    whether it may name Python code, addresses and other files
    trained       names of code that train, as far as the file says: it is not loaded to find out
    """

    place: str = ""
    folder: Path = Path()
    allows_all: bool = True
    trained: frozenset[str] = frozenset()

    @classmethod
    def of_file(cls, place: str | Path, trained: frozenset[str] = frozenset()) -> Origin:
        """Return the origin of the names in a file of data; within `allow_code` it may name code."""
        return cls(str(place), Path(place).parent, _allows_code.get(), trained)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin)

    def __hash__(self) -> int:
        return 0

    def check_name(self, what: str, name: str) -> None:
        """Raise InvalidFile for the name of code or of an address, "module:name" or "prefix:rest", in a file of data."""
        if not self.allows_all and ":" in name:
            raise self.reject(what, name, "a name of the package or of an installed plugin")

    def check_file(self, what: str, path: str | Path) -> None:
        """Raise InvalidFile for a path that leads out of the folder of a file of data."""
        if self.allows_all:
            return
        parts = (*PurePath(path).parts, *PureWindowsPath(path).parts)
        is_relative = not PurePath(path).is_absolute() and not PureWindowsPath(path).anchor and ".." not in parts
        if not is_relative or not _is_inside(path, self.folder):
            raise self.reject(what, str(path), f"a file in {self.folder}, without .. in its path")

    def reject(self, what: str, value: object, expected: str) -> InvalidFile:
        """Return the error for what a file of data may not say."""
        allowed = "or, if you trust the file and have read the code, --allow-code (allow_code=True)"
        return InvalidFile(f"{self.place}: invalid {what}={value!r}: expected {expected}; {allowed}")


USER = Origin()  # names that the user gives, in calls, commands and suites


@contextmanager
def allow_code(allowed: bool = True) -> Iterator[None]:
    """Allow files of data that are read in the block to name code, addresses and other files; with False nothing changes."""
    token = _allows_code.set(allowed or _allows_code.get())
    try:
        yield
    finally:
        _allows_code.reset(token)


def is_python_path(name: str) -> bool:
    """Return whether a name has the form "module:name"."""
    return PYTHON_PATH.fullmatch(name) is not None


def resolve_name(what: str, name: str, known: Mapping[str, str], origin: Origin = USER) -> Any:
    """Return what a name stands for. Names in files are resolved here only.

    what      the kind of name, for messages
    known     name -> "module:name", registered by the package or a plugin
    origin    of the name; only the user may give "module:name"
    Raises    InvalidFile for code that a file of data names, UnknownId if it cannot be loaded
    """
    if name not in known:
        origin.check_name(what, name)
    return load_object(known.get(name, name))


def load_object(path: str) -> Any:
    """Return the object that "module:name" names. Raises UnknownId, also for a module that is no valid Python."""
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except MissingExtra:
        raise
    except (ImportError, SyntaxError, AttributeError, TypeError, ValueError) as error:
        raise UnknownId(f"cannot load {path!r}: {error}") from error


def list_own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the calls of the user's own code that led to an error."""
    return [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_installed(Path(frame.filename))]


def summary_line(error: BaseException) -> str:
    """Return an error as one line, with the place in the user's own code where it was raised or called what raised it."""
    line = f"{type(error).__name__}: {error}".splitlines()[0]
    own = list_own_frames(error)
    return f"{line} ({own[-1].filename}, line {own[-1].lineno})" if own else line


def list_texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value of a file: of all its parts, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for part in value.items() if isinstance(value, dict) else value:
            yield from list_texts(part)


def _is_installed(file: Path) -> bool:
    """Return whether a file of code is part of this package, of Python or of an installed package."""
    folders = [str(Path(__file__).parent), *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib"))]
    return not file.is_file() or any(file.is_relative_to(folder) for folder in folders)


def _is_inside(path: str | Path, folder: Path) -> bool:
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    except (OSError, ValueError):  # no path, such as one with a null character
        return False
