"""Files of arrays with a head: .npz, read without pickle; the head is JSON, kept as bytes beside the arrays."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidFile
from momagames.wrappers.recording import whole


def write_headed(path: Path, schema: int, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file, aside first, and its folder if there is none. InvalidFile if that fails."""
    spelled = np.frombuffer(json.dumps({"schema": schema, **head}).encode(), np.uint8)

    def write(aside: Path) -> None:
        with aside.open("wb") as file:
            np.savez(file, head=spelled, **arrays)  # type: ignore[arg-type]

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole(path, write)
    except OSError as error:
        raise InvalidFile(f"{path}: {error.strerror or error}") from None


def read_headed(path: Path, schema: int, what: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The head and the arrays of a file; InvalidFile, by what it should be ("checkpoint of training"), if it is none."""
    try:
        with np.load(path, allow_pickle=False) as data:
            head = json.loads(bytes(data["head"]))
            arrays = {name: data[name] for name in data.files if name != "head"}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidFile(f"{path}: no {what}: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(head, dict) or head.get("schema") != schema:
        raise InvalidFile(f"{path}: no {what} that this version can read")
    return head, arrays
