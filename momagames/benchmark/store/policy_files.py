"""Policies that were found in a run, as a file beside its front: the arrays of each point, by "POINT/NAME".

An array that several points have is stored once; "links" (JSON as bytes) has the names that stand for those of others. The
file is read without pickle, and only if it is the one that front.json knows by its hash.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.engine.policies import BatchPolicy
from momagames.errors import InvalidFile

POLICIES, LINKS = "policies.npz", "links"


def packed(policies: Sequence[BatchPolicy]) -> bytes:
    """The content of the file for the points of a front, in their order; equal policies give equal bytes."""
    arrays: dict[str, NDArray[Any]] = {}
    known: dict[tuple[str, tuple[int, ...], bytes], str] = {}
    links: dict[str, str] = {}
    for point, policy in enumerate(policies):
        for name, array in policy.arrays.items():
            place = f"{point}/{name}"
            first = known.setdefault((array.dtype.str, array.shape, hashlib.sha256(array.tobytes()).digest()), place)
            if first == place:
                arrays[place] = array
            else:
                links[place] = first
    if links:
        arrays[LINKS] = np.frombuffer(json.dumps(links).encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def digest(content: bytes) -> str:
    """By which front.json knows the file."""
    return hashlib.sha256(content).hexdigest()


def unpacked(path: Path, known: Any, point: int) -> dict[str, NDArray[Any]]:
    """The arrays of a point.

    known     the hash that the file must have
    Raises    InvalidFile if it is missing, another one, or cannot be read
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidFile(f"{path}: {error.strerror or error}; the policies that this run found are not there") from None
    if digest(content) != known:
        raise InvalidFile(f"{path}: changed since the run was sealed: its hash is not the one in front.json")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            links = json.loads(bytes(arrays[LINKS])) if LINKS in arrays.files else {}
            places = {name: name for name in arrays.files if name != LINKS} | links
            parts = {place: place.partition("/") for place in places}
            return {name: arrays[places[place]] for place, (number, _, name) in parts.items() if number == str(point)}
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise InvalidFile(f"{path}: {error}") from None
