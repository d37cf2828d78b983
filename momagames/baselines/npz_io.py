"""NumPy archives with a JSON header: .npz files, read without pickle. The header is stored as bytes beside the arrays."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidFile
from momagames.files import atomic_path


def write_npz(path: Path, schema: int, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file atomically; create its directory if it does not exist. Raises InvalidFile if that fails."""
    header = np.frombuffer(json.dumps({"schema": schema, **head}).encode(), np.uint8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.savez(file, head=header, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise InvalidFile(f"{path}: {error.strerror or error}") from None


def read_npz(path: Path, schema: int, description: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file. Raises InvalidFile.

    description    of a valid file, such as "training checkpoint"; used in error messages
    """
    try:
        with np.load(path, allow_pickle=False) as data:
            head = json.loads(bytes(data["head"]))
            arrays = {name: data[name] for name in data.files if name != "head"}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidFile(f"{path}: not a {description}: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(head, dict) or head.get("schema") != schema:
        raise InvalidFile(f"{path}: not a {description} that this version can read")
    return head, arrays
