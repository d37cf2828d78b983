"""Files that are there whole or not at all, and who is writing them."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import socket
from pathlib import Path
from typing import Any

from momagames.errors import InvalidFile


def read_json(path: Path) -> dict[str, Any]:
    """The mapping in a file; InvalidFile if there is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidFile(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(data, dict):
        raise InvalidFile(f"{path}: not a mapping")
    return data


def flush(file: Any) -> None:
    """Have the system write a file's content."""
    file.flush()
    os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Have the system write a folder's entries; not every system lets a folder be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@functools.cache
def here() -> str:
    """Where process numbers mean the same as here: this machine since it was started, and this container."""
    marks = []
    with contextlib.suppress(OSError):
        marks.append(Path("/proc/sys/kernel/random/boot_id").read_text())
        marks.append(os.readlink("/proc/self/ns/pid"))
    return f"{socket.gethostname()}-{hashlib.sha256(repr(marks).encode()).hexdigest()[:8]}"


def alive(process: int) -> bool:
    """Whether there is a process of this number here."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
