"""Identification of processes: who writes a results directory, a temporary file."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import socket
import sys
import time
from pathlib import Path

PROCESS_QUERY_LIMITED_INFORMATION = 0x1000  # of the Windows API
STILL_ACTIVE = 259
STALE_S = 7 * 86400.0
ERROR_INVALID_PARAMETER = 87  # there is no process with this number


@functools.cache
def process_namespace() -> str:
    """Return an identifier of the process namespace: host, boot and container."""
    marks = []
    with contextlib.suppress(OSError):
        marks.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        marks.append(os.readlink("/proc/self/ns/pid"))
    return f"{socket.gethostname()}-{hashlib.sha256(repr(marks).encode()).hexdigest()[:8]}"


def is_alive(process: int) -> bool:
    """Return whether a process with this number exists."""
    if sys.platform == "win32":  # os.kill would end the process
        return _is_alive_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def is_stale(path: Path) -> bool:
    """Return whether the process that made a file or folder named PREFIX@NAMESPACE@PROCESS@... is dead.

    What another machine or container made is stale after a week. Raises OSError if it is gone.
    """
    _, place, process, *_ = [*path.name.split("@"), "", ""]
    if place == process_namespace() and process.isdecimal():
        return not is_alive(int(process))
    return time.time() - path.stat().st_mtime > STALE_S


def _is_alive_on_windows(process: int) -> bool:
    import ctypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = kernel.OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, False, process)
    if not handle:
        return int(ctypes.get_last_error()) != ERROR_INVALID_PARAMETER  # type: ignore[attr-defined]
    handle, code = ctypes.c_void_p(handle), ctypes.c_ulong()
    try:
        return not kernel.GetExitCodeProcess(handle, ctypes.byref(code)) or code.value == STILL_ACTIVE
    finally:
        kernel.CloseHandle(handle)
