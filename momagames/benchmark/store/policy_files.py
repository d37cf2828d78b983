"""Files of trained policies (policies.npz): the arrays of each point of a run's front, by "POINT/NAME".

An array that several points share is stored once; "links" (JSON as bytes) maps the other names to it. "layout" is the version
of what the arrays mean. The file is read without pickle, and only if its hash is the one in front.json.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.engine.policies import BatchPolicy
from momagames.errors import InvalidFile, invalid_value
from momagames.files.json_data import parse_json
from momagames.files.npz_data import read_arrays
from momagames.files.reading import hash_content, read_bytes

POLICIES, LINKS, LAYOUT = "policies.npz", "links", "layout"
LAYOUT_VERSION = 1  # raised when the parameters of a method mean something else


def pack_policies(policies: Sequence[BatchPolicy]) -> bytes:
    """Return the file content for the points of a front, in their order; equal policies give equal bytes."""
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
    arrays[LAYOUT] = np.array(LAYOUT_VERSION)
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def unpack_policy(path: Path, known: Any, point: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of a point.

    known     expected hash of the file
    Raises    InvalidFile if the file is missing, has another hash or cannot be read
    """
    content = read_bytes(path)
    if hash_content(content) != known:
        raise InvalidFile(f"{path}: changed since the run finished: its hash is not the one in front.json")
    arrays = read_arrays(content, str(path))
    if (layout := arrays.pop(LAYOUT, np.array(0)).tolist()) != LAYOUT_VERSION:
        raise InvalidFile(
            f"{path}: {invalid_value(LAYOUT, layout, f'{LAYOUT_VERSION}, the version that this momagames reads')}"
        )
    links = parse_json(arrays.pop(LINKS).tobytes(), f"{path}: {LINKS}") if LINKS in arrays else {}
    if not isinstance(links, dict) or any(place not in arrays for place in links.values()):
        raise InvalidFile(f"{path}: {LINKS}: expected places of arrays")
    parts = {place: place.partition("/") for place in (*arrays, *links)}
    return {name: arrays[links.get(place, place)] for place, (number, _, name) in parts.items() if number == str(point)}
