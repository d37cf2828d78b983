"""Names of policies that stand for files, and their parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CHECKPOINT = ".npz"  # suffix of the files of trained policies
SAFE = "safe:"  # prefix of policies that are filtered by the safe actions that a game declares


def find_checkpoint(name: Any) -> Path | None:
    """Return the file that a name of trained policies stands for, such as "FILE.npz" or "safe:FILE.npz"; None: no file."""
    while isinstance(name, str) and name.startswith(SAFE):
        name = name.removeprefix(SAFE)
    return Path(name) if isinstance(name, str) and name.endswith(CHECKPOINT) else None
