"""Python named as "module:name": methods, policies and commands of your own, and lazily loaded parts of the package."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from momagames.errors import MissingExtra, UnknownId


def is_python_path(name: str) -> bool:
    """Return whether a name has the form "module:name"."""
    return ":" in name


def load_object(path: str) -> Any:
    """Return the object that "module:name" names, or raise UnknownId."""
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except MissingExtra:
        raise
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownId(f"cannot load {path!r}: {error}") from error
