"""The fronts that come with the package, by game and start."""

from __future__ import annotations

import functools
from importlib.resources import files
from pathlib import Path

from momagames.errors import InvalidFile, nearest
from momagames.fronts.front_file import PLAYED, FrontFile, head_of, read_front

ENDINGS = (".json", ".json.gz")


def shipped() -> dict[str, Path]:
    """The front files of the package by name."""
    folder = Path(str(files("momagames.fronts") / "data"))
    found = {}
    for path in sorted(folder.glob("*.json*")):
        ending = next((e for e in reversed(ENDINGS) if path.name.endswith(e)), None)
        if ending:
            found[path.name.removesuffix(ending)] = path
    return found


def load_front(source: str | Path) -> FrontFile:
    """A front by path, or by the name of one of the package; InvalidFile."""
    path, known = Path(source), shipped()
    if not path.is_file() and str(source) in known:
        return read_front(known[str(source)])
    if not path.exists():
        raise InvalidFile(f"{source}: no such file, and no front of that name comes with the package{nearest(source, known)}")
    return read_front(path)


def known(canonical: str, seed: int) -> FrontFile | None:
    """The front of the package for plans of a game (with every parameter, see `registry.spelled`) and a deal: a proven one if
    there is one, else a best-known one, else None."""
    path = _by_start().get((canonical, seed))
    return read_front(path) if path else None


@functools.cache
def _by_start() -> dict[tuple[str, int], Path]:
    found: dict[tuple[str, int], Path] = {}
    for path in shipped().values():
        head = head_of(path)
        key = (head["canonical"], head["start"]["seed"])
        if head["claim"] in PLAYED and (key not in found or head["kind"] == "proven"):
            found[key] = path
    return found
