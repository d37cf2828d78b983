"""Bytes and text of files, up to a limit. A file that cannot be read is an InvalidFile with its name and the reason."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO

from momagames.errors import InvalidFile, MomagamesError

MAX_BYTES = 64 << 20
CheckFile = Callable[[Path], None]
_check_file: ContextVar[CheckFile | None] = ContextVar("check_file", default=None)
# Errors of code that trusts a file
CONTENT_ERRORS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration)


@contextmanager
def refuse_content(place: str | os.PathLike[str], noun: str) -> Iterator[None]:
    """Raise InvalidFile, with the place, for an error that content of another form causes in the block.

    noun    name of valid content
    """
    try:
        yield
    except MomagamesError:
        raise
    except CONTENT_ERRORS as error:
        raise InvalidFile(f"{place}: not {noun}: {type(error).__name__}: {' '.join(str(error).split())}") from error


@contextmanager
def check_files(check: CheckFile | None) -> Iterator[None]:
    """Call a function with the path of each file that is to be read in the block; it raises an error for those that may not be.

    None: any file may be read, such as one that the user names while a file of data is checked
    """
    token = _check_file.set(check)
    try:
        yield
    finally:
        _check_file.reset(token)


def check_file(path: Path) -> None:
    """Call the function of `check_files`, if there is one. Raises what it raises."""
    if check := _check_file.get():
        check(path)


def is_file(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a file of this name. A text that can be no name, such as one that is too long, names none."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def is_directory(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a directory of this name, as `is_file`."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def read_bytes(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> bytes:
    """Return the content of a file; that of a file named *.gz or *.xz is decompressed, up to the limit. Raises InvalidFile."""
    place = Path(path)
    check_file(place)
    try:
        with _open(place) as file:
            content = file.read(max_bytes + 1)
    except (OSError, ValueError, EOFError, lzma.LZMAError) as error:
        raise InvalidFile(f"{place}: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > max_bytes:
        raise InvalidFile(f"{place}: larger than {max_bytes:,} bytes, the limit of such files")
    return content


def read_text(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> str:
    """Return the text of a file in UTF-8. Raises InvalidFile."""
    return decode_text(read_bytes(path, max_bytes), str(path))


def decode_text(content: bytes, place: str) -> str:
    """Return the text of bytes in UTF-8. Raises InvalidFile with the line; `place` names the file."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidFile(f"{place}: line {line}: not UTF-8: {error.reason}") from None


def hash_content(content: bytes) -> str:
    """Return a SHA-256 as hexadecimal text."""
    return hashlib.sha256(content).hexdigest()


def _open(path: Path) -> IO[bytes] | gzip.GzipFile:
    if path.suffix == ".gz":
        return gzip.open(path)
    return lzma.open(path) if path.suffix == ".xz" else path.open("rb")
