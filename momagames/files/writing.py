"""Atomic writes: a path holds the complete new content, or what it held before, whatever ends the process."""

from __future__ import annotations

import errno
import functools
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from momagames.errors import InvalidCall, InvalidFile
from momagames.files.processes import is_stale, process_namespace
from momagames.wording import show_controls

TEMPORARY = ".momagames@"  # beginning of the names of temporary files
NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
# Windows refuses to replace a file that another program has open, such as a virus scanner: seconds between new attempts.
REPLACE_WAITS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if sys.platform == "win32" else ()


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path with the same suffix in the same directory, and rename it to `path` on success.

    The temporary file is deleted after an error, those of killed processes when the next one writes to the directory. Ctrl-C is
    delivered afterwards, see `delay_interrupt`. Raises InvalidFile if the file cannot be written, such as on a full disk
    """
    with temporary_path(path) as temporary:
        yield temporary
        replace_file(temporary, path)


@contextmanager
def temporary_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path with the same suffix in the same directory; the file is deleted afterwards.

    Raises InvalidFile, with the name of `path`, if the file cannot be written
    """
    remove_stale_files(path.parent)
    temporary = path.with_name(f"{TEMPORARY}{process_namespace()}@{os.getpid()}@{uuid.uuid4().hex[:12]}{path.suffix}")
    try:
        with delay_interrupt():
            yield temporary
    except OSError as error:
        raise InvalidFile(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Create a directory if it does not exist. Raises InvalidFile."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile(f"{folder}: cannot be made: {error.strerror or error}") from None


def is_temporary(name: str) -> bool:
    """Return whether this is the name of a temporary file of `temporary_path`."""
    return name.startswith(TEMPORARY)


@functools.cache
def remove_stale_files(folder: Path) -> None:
    """Remove the temporary files of dead processes from a directory, once in each process."""
    with suppress(OSError):
        for left in [path for path in folder.iterdir() if is_temporary(path.name)]:
            with suppress(OSError):
                if is_stale(left):
                    left.unlink()


def add_files(sources: Mapping[Path, Path]) -> None:
    """Give files (path -> temporary path) their names, all or none. Raises FileExistsError if a file has one of the names."""
    added: list[Path] = []
    try:
        for path, source in sources.items():
            _add_file(source, path)
            added.append(path)
    except OSError:
        for path in added:
            path.unlink(missing_ok=True)
        raise


def _add_file(source: Path, path: Path) -> None:
    try:
        path.hardlink_to(source)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: the name is empty for a moment
        path.touch(exist_ok=False)
        try:
            replace_file(source, path)
        except OSError:
            path.unlink()
            raise


def replace_file(source: Path, path: Path) -> None:
    """Rename a file to `path`, replacing what is there. On Windows, wait up to a second for programs that have it open."""
    for seconds in REPLACE_WAITS_S:
        with suppress(PermissionError):
            source.replace(path)
            return
        time.sleep(seconds)
    source.replace(path)


def write_file_atomically(path: Path, content: str | bytes) -> None:
    """Write a file through `atomic_path`, and flush it to disk before it is renamed. Raises InvalidFile."""
    with atomic_path(path) as temporary:
        write_file(temporary, content)


def write_page(path: Path, text: str) -> None:
    """Write a text for people, such as HTML or LaTeX, atomically. Control characters, such as those of names in files that it
    quotes, are shown as escapes (see `show_controls`). Raises InvalidFile."""
    write_file_atomically(path, show_controls(text))


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file, and flush it to disk."""
    with path.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        flush_file(file)


def flush_file(file: IO[Any]) -> None:
    """Flush the content of a file to disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_directory(folder: Path) -> None:
    """Flush the entries of a directory to disk, where the system can open directories."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold a directory for this process; the lock ends with it. Raises InvalidCall if another process holds it.

    On Windows, and in file systems without locks of directories, nothing is locked.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidCall(f"{folder}: another process is writing here: expected another folder, or one at a time") from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        yield
    finally:
        os.close(handle)


@contextmanager
def delay_interrupt() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block: libraries that are interrupted while they write raise errors of their own."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    received: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if received:
        raise KeyboardInterrupt
