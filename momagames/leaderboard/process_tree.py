"""A process with all processes that it starts: limits of their memory, and their end, whatever sessions they have made.

On Linux orphans stay below their supervisor (it is a "child subreaper"), where /proc finds them. Other POSIX systems end the
process group. On Windows there is neither, and no limit of memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NoReturn

MEMORY_BYTES = 4 << 30  # private memory of each process
POLL_SECONDS, END_SECONDS = 0.1, 10.0
SET_CHILD_SUBREAPER = 36  # of prctl
PROC = Path("/proc")


def can_supervise() -> bool:
    """Return whether this system has what `supervise` needs."""
    return hasattr(os, "fork") and hasattr(os, "setsid")


def supervise(function: Callable[[], None], release: Callable[[], None]) -> NoReturn:
    """Call a function in a child process; when the child or the parent ends, end all processes that the child has started.

    This process then ends as the child did.

    release    called in this process after the start, to close what the child alone shall have open
    """
    parent = os.getppid()
    os.setsid()
    limit_memory()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if not child:
        code = 1
        try:
            function()
            code = 0
        finally:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
            os._exit(code)
    release()
    status = None
    while status is None and os.getppid() == parent:
        status = dict(_reap()).get(child)
        time.sleep(POLL_SECONDS if status is None else 0)
    end_descendants(os.getpid())
    list(_reap())
    code = 1 if status is None else os.waitstatus_to_exitcode(status)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code)


def limit_memory() -> None:
    """Limit the private memory of this process and of those that it starts, and write no core files."""
    try:
        import resource
    except ImportError:
        return
    for kind, size in ((resource.RLIMIT_DATA, MEMORY_BYTES), (resource.RLIMIT_CORE, 0)):
        _, most = resource.getrlimit(kind)
        limit = size if most == resource.RLIM_INFINITY else min(size, most)
        with contextlib.suppress(ValueError, OSError):  # a system without this limit
            resource.setrlimit(kind, (limit, limit))


def end_processes(supervisor: BaseProcess) -> None:
    """End all processes below a supervisor, which then ends itself, and its process group."""
    assert supervisor.pid is not None
    if can_supervise():
        end_descendants(supervisor.pid)
        if PROC.is_dir():
            supervisor.join(END_SECONDS)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(supervisor.pid, signal.SIGKILL)
    supervisor.kill()
    supervisor.join()


def end_descendants(process: int) -> None:
    """End all processes below a process, also those that they start meanwhile."""
    until = time.monotonic() + END_SECONDS
    while (left := list_descendants(process)) and time.monotonic() < until:
        for one in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)
        time.sleep(0.01)


def list_descendants(process: int) -> list[int]:
    """Return the living processes below a process; none on systems without /proc."""
    children: dict[int, list[int]] = {}
    for path in PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent, *_ = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(path.parent.name))
    found, queue = list[int](), [process]
    for one in queue:
        found += children.get(one, [])
        queue += children.get(one, [])
    return found


def _reap() -> Iterator[tuple[int, int]]:
    """Yield the processes below this one that have ended, with their status."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            yield ended
