"""Policies that were found in a run, as a file beside its front: the arrays of each point, by "POINT/NAME".

The file is read without pickle, and only if it is the one that front.json knows by its hash.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Member
from momagames.errors import BadFile

POLICIES = "policies.npz"


def packed(members: Sequence[Member]) -> bytes:
    """The content of the file for the points of a front, in their order; equal policies give equal bytes."""
    arrays = {f"{point}/{name}": array for point, member in enumerate(members) for name, array in member.arrays.items()}
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def digest(content: bytes) -> str:
    """By which front.json knows the file."""
    return hashlib.sha256(content).hexdigest()


def unpacked(path: Path, known: Any, point: int) -> dict[str, NDArray[Any]]:
    """The arrays of a point.

    known     the hash that the file must have
    Raises    BadFile if it is missing, another one, or cannot be read
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror or error}; the policies that this run found are not there") from None
    if digest(content) != known:
        raise BadFile(f"{path}: changed since the run was sealed: its hash is not the one in front.json")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            names = [name.partition("/") for name in arrays.files]
            return {name: arrays[f"{number}/{name}"] for number, _, name in names if number == str(point)}
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise BadFile(f"{path}: {error}") from None
