"""Methods and players of your own: Python named as "module:name"."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from momagames.errors import UnknownId


def is_outside(name: str) -> bool:
    """Whether a name is that of somebody's own Python."""
    return ":" in name


def found(path: str) -> Any:
    """What "module:name" names, or UnknownId."""
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownId(f"no {path!r}: {error}") from None
