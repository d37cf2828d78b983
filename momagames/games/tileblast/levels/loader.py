"""Levels of MO-TileBlast: the twelve of the package, files, and data (SPEC §10)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, TypeGuard

import numpy as np

from momagames.errors import InvalidFile, InvalidLevel, first_of
from momagames.files.reading import read_text
from momagames.files.yaml_data import MAX_BYTES
from momagames.games.tileblast.levels.document import Document
from momagames.games.tileblast.levels.level import Feed, Goal, Level, Piece, goal_bounds, write_level
from momagames.games.tileblast.levels.level_parser import LevelParser
from momagames.games.tileblast.levels.linter import lint
from momagames.games.tileblast.levels.problem import Problem

__all__ = [
    "EXPECTED",
    "NUM_LEVELS",
    "Feed",
    "Goal",
    "Level",
    "Piece",
    "goal_bounds",
    "list_problems",
    "load",
    "normalize_parameter",
    "write_level",
]

NUM_LEVELS = 12
EXPECTED = f"1..{NUM_LEVELS}, the path of a level file, or a level as a dict"
Source = int | str | os.PathLike[str] | Mapping[str, Any]


def load(level: Source, check: bool = True) -> Level:
    """Return a level by its number, from a file, or from data with the keys of §10.

    check    False skips the linter (§10.5)
    Raises   InvalidLevel, which names the errors and their places
    """
    return load_packaged(int(level)) if is_level_number(level) else load_source(level, check)


def normalize_parameter(level: Source) -> int | dict[str, Any]:
    """Return the value of the parameter `level`: the number of a packaged level, else its data."""
    loaded = load(level)
    return int(level) if is_level_number(level) else loaded.data


def list_problems(level: Source) -> list[Problem]:
    """Return all problems of a level; raise InvalidLevel if it cannot be read at all."""
    return parse_source(level, True)[1]


def is_level_number(level: Any) -> TypeGuard[int]:
    """Return whether a value is a whole number."""
    return isinstance(level, int | np.integer) and not isinstance(level, bool)


@cache
def load_packaged(number: int) -> Level:
    """Return one of the twelve levels."""
    return load_source(number, True)


def load_source(level: Source, check: bool) -> Level:
    """Return the level, or raise InvalidLevel."""
    parsed, problems = parse_source(level, check)
    if parsed is None or problems:
        name = "the level" if isinstance(level, Mapping) else str(level)
        raise InvalidLevel(first_of([f"{name}: {problem}" for problem in problems]))
    return parsed


def parse_source(level: Source, check: bool) -> tuple[Level | None, list[Problem]]:
    """Return a level, or None if it cannot be parsed, and its problems with their places in the file."""
    document = None if isinstance(level, Mapping) else Document(read_level(level))
    if document and document.problems:
        return None, document.problems
    parser = LevelParser()
    parsed = parser.parse_level(document.data if document else level)
    problems = parser.problems or (lint(parsed) if parsed and check else [])
    if document:
        problems = sorted(map(document.locate, problems), key=lambda problem: problem.place or (0, 0))
    return parsed, problems


def read_level(level: Any) -> str:
    """Return the text of a level file; raise InvalidLevel if there is none."""
    if is_level_number(level) and 1 <= level <= NUM_LEVELS:
        return resources.files(__package__).joinpath(f"data/{level:02}.yaml").read_text(encoding="utf-8")
    if not isinstance(level, str | os.PathLike):
        raise InvalidLevel(f"invalid level={level!r}: expected {EXPECTED}")
    try:
        return read_text(level, MAX_BYTES)
    except InvalidFile as error:
        raise InvalidLevel(f"invalid level={str(level)!r}: cannot be read ({error}); expected {EXPECTED}") from error
