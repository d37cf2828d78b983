"""Locks: several Python threads that call one environment wait for each other. A forked child has new ones."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol


class Locked(Protocol):
    lock: threading.RLock


_owners: weakref.WeakSet[Locked] = weakref.WeakSet()


def add_lock(owner: Locked) -> None:
    """Set the lock of an object, also anew in each forked child: a thread that it does not have may hold its parent's."""
    owner.lock = threading.RLock()
    _owners.add(owner)


def _renew_locks() -> None:
    for owner in _owners:
        owner.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
