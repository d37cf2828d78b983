"""Levels of MO-TileBlast: the twelve of the package, files, and data (SPEC §10)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from momagames.errors import InvalidLevel, first_of
from momagames.games.tileblast.levels.document import Document
from momagames.games.tileblast.levels.level import Feed, Goal, Level, Thing, fill, goal_bounds
from momagames.games.tileblast.levels.level_parser import Reader
from momagames.games.tileblast.levels.linter import lint
from momagames.games.tileblast.levels.problem import Problem

__all__ = ["ACCEPTS", "COUNT", "Feed", "Goal", "Level", "Thing", "fill", "goal_bounds", "load", "plain", "problems"]

COUNT = 12
ACCEPTS = f"1..{COUNT}, the path of a level file, or a level as a dict"
Source = int | str | os.PathLike[str] | Mapping[str, Any]


def load(level: Source, check: bool = True) -> Level:
    """A level by its number, from a file, or from data with the keys of §10.

    check    False leaves out what only the linter refuses (§10.5)
    Raises   InvalidLevel, which names what is wrong and where
    """
    return packaged(int(level)) if is_number(level) else loaded(level, check)


def plain(level: Source) -> int | dict[str, Any]:
    """What a game's parameters keep of a level: the number of a packaged one, else its data."""
    found = load(level)
    return int(level) if is_number(level) else found.data


def problems(level: Source) -> list[Problem]:
    """All that is wrong with a level; InvalidLevel for what cannot be read at all."""
    return read(level, True)[1]


def is_number(level: Any) -> TypeGuard[int]:
    return isinstance(level, int | np.integer) and not isinstance(level, bool)


@cache
def packaged(number: int) -> Level:
    """One of the twelve levels."""
    return loaded(number, True)


def loaded(level: Source, check: bool) -> Level:
    """The level, or InvalidLevel."""
    found, wrong = read(level, check)
    if found is None or wrong:
        name = "the level" if isinstance(level, Mapping) else str(level)
        raise InvalidLevel(first_of([f"{name}: {problem}" for problem in wrong]))
    return found


def read(level: Source, check: bool) -> tuple[Level | None, list[Problem]]:
    """A level if it can be understood, and what is wrong with it, each with its place in the file."""
    document = None if isinstance(level, Mapping) else Document(text_of(level))
    if document and document.problems:
        return None, document.problems
    reader = Reader()
    found = reader.level(document.data if document else level)
    wrong = reader.problems or (lint(found) if found and check else [])
    if document:
        wrong = sorted(map(document.locate, wrong), key=lambda problem: problem.place or (0, 0))
    return found, wrong


def text_of(level: Any) -> str:
    """What the file of a level says; InvalidLevel if there is none."""
    if is_number(level) and 1 <= level <= COUNT:
        return resources.files(__package__).joinpath(f"data/{level:02}.yaml").read_text(encoding="utf-8")
    if not isinstance(level, str | os.PathLike):
        raise InvalidLevel(f"invalid level={level!r}: expected {ACCEPTS}")
    try:
        return Path(level).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InvalidLevel(f"level={str(level)!r} cannot be read ({error}); allowed: {ACCEPTS}") from error
