"""The fronts of the package, by game and start position."""

from __future__ import annotations

import functools
import os
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidFile, nearest
from momagames.files.reading import is_file
from momagames.fronts.environment_front import EnvironmentFront, read_front
from momagames.fronts.game_front import PLAN_CLAIMS, GameFront, read_game_front, read_header

SUFFIXES = (".json", ".json.gz")


def packaged_fronts() -> dict[str, Path]:
    """Return the front files of the package by name."""
    folder = Path(str(files("momagames.fronts") / "data"))
    found = {}
    for path in sorted(folder.glob("*.json*")):
        suffix = next((suffix for suffix in reversed(SUFFIXES) if path.name.endswith(suffix)), None)
        if suffix:
            found[path.name.removesuffix(suffix)] = path
    return found


def load_front(source: str | Path, allow_code: bool = False) -> GameFront | EnvironmentFront:
    """Read a front by path, or by its name in the package; `allow_code` and errors as of `read_front`."""
    path, packaged = Path(source), packaged_fronts()
    if not is_file(path) and str(source) in packaged:
        return read_front(packaged[str(source)])
    if not os.path.exists(path):
        raise InvalidFile(f"{source}: expected a file, or the name of a front of the package{nearest(source, packaged)}")
    return read_front(path, allow_code)


def find_packaged_front(canonical: str, seed: int) -> GameFront | None:
    """Return the front of the package for plans of a game from the start position of a seed, or None.

    canonical    the id with every parameter, see `registry.format_id`

    A proven front takes precedence over a best-known one.
    """
    path = _index_by_start().get((canonical, seed))
    return read_game_front(path) if path else None


def find_proven_values(canonical: str, seed: int) -> NDArray[np.float64] | None:
    """Return the points, float64[n, K], of the proven front of the returns from a start position in the package, or None."""
    front = find_packaged_front(canonical, seed)
    return front.values if front and front.kind == "proven" and front.claim == "returns" else None


@functools.cache
def _index_by_start() -> dict[tuple[str, int], Path]:
    found: dict[tuple[str, int], Path] = {}
    for path in packaged_fronts().values():
        header = read_header(path)
        if "environment" in header:
            continue
        key = (header["canonical"], header["start"]["seed"])
        if header["claim"] in PLAN_CLAIMS and (key not in found or header["kind"] == "proven"):
            found[key] = path
    return found
