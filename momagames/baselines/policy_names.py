"""Names of policies that stand for files, and their parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from momagames.contract import Game
from momagames.errors import InvalidParameter, invalid_value
from momagames.plugins import Origin, is_python_path, list_texts

CHECKPOINT = ".npz"  # suffix of the files of trained policies
MAX_FILTERS = 10  # of a policy, one in another
SAFE = "safe:"  # prefix of policies that are filtered by the safe actions that a game declares


def strip_safe(name: str) -> str:
    """Return the name of the policy that is filtered, without any "safe:" before it. Raises InvalidParameter for too many."""
    inner = name[len(re.match(f"({SAFE})*", name).group()) :]  # type: ignore[union-attr]  # it matches every text
    if (len(name) - len(inner)) // len(SAFE) > MAX_FILTERS:
        raise InvalidParameter(invalid_value("policy", name, f"at most {MAX_FILTERS} times {SAFE!r} before a name"))
    return inner


def find_checkpoint(name: Any) -> Path | None:
    """Return the file that a name of trained policies stands for, such as "FILE.npz" or "safe:FILE.npz"; None: no file."""
    return Path(strip_safe(name)) if isinstance(name, str) and name.endswith(CHECKPOINT) else None


def check_stored_options(name: str, options: Mapping[str, Any], game: Game, origin: Origin, pinned: Path | None = None) -> None:
    """Raise InvalidFile for options that their origin may not say: names of code and addresses, and of files elsewhere.

    pinned    a file that may be elsewhere, because its checksum is compared
    """
    if origin.allows_all:
        return
    for option, value in options.items():
        for text in list_texts(value):
            inner, what = strip_safe(text), f"{name}.{option}"
            if is_python_path(inner) or inner.partition(":")[0] in game.original.policy_prefixes:
                origin.check_name(what, text)
            if (path := find_checkpoint(inner)) and path != pinned:
                origin.check_file(what, path)
