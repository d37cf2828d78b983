"""Levels of MO-TileBlast: the twelve of the package, files, and data (SPEC §10)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from momagames.errors import BadLevel
from momagames.games.tileblast.level import Feed, Goal, Level, Thing, fill, goal_bounds
from momagames.games.tileblast.reading import Reader

COUNT = 12
ACCEPTS = f"1..{COUNT}, the path of a level file, or a level as a dict"
Source = int | str | os.PathLike[str] | Mapping[str, Any]


def load(level: Source, check: bool = True) -> Level:
    """A level by its number, from a file, or from data with the keys of §10.

    check    False leaves out what only the linter refuses
    Raises   BadLevel, which names what is wrong and where
    """
    if isinstance(level, int) and not isinstance(level, bool):
        return packaged(int(level))
    if isinstance(level, Mapping):
        return read(level, "the level")
    if isinstance(level, str | os.PathLike):
        try:
            text = Path(level).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadLevel(f"level={str(level)!r} cannot be read: {error}; allowed: {ACCEPTS}") from error
        return read(yaml.safe_load(text), str(level))
    raise BadLevel(f"level={level!r} is not possible; allowed: {ACCEPTS}")


def plain(level: Source) -> int | dict[str, Any]:
    """What a game's parameters keep of a level: the number of a packaged one, else its data."""
    loaded = load(level)
    return int(level) if isinstance(level, int) else loaded.data


@cache
def packaged(number: int) -> Level:
    """One of the twelve levels."""
    if not 1 <= number <= COUNT:
        raise BadLevel(f"level={number!r} is not possible; allowed: {ACCEPTS}")
    text = resources.files("momagames.games.tileblast").joinpath(f"levels/{number:02}.yaml").read_text(encoding="utf-8")
    return read(yaml.safe_load(text), f"level {number}")


def read(data: Any, name: str) -> Level:
    """The level that the data say."""
    reader = Reader()
    level = reader.level(data)
    if reader.problems:
        raise BadLevel(f"{name}: " + "; ".join(str(problem) for problem in reader.problems[:3]))
    return level


__all__ = ["ACCEPTS", "COUNT", "Feed", "Goal", "Level", "Thing", "fill", "goal_bounds", "load", "packaged", "plain", "read"]
