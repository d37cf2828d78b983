"""Maps of MO-ItemGathering: those of the package, files, texts and data (SPEC §8.1, §8.2)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidFile, InvalidParameter, nearest, one_of
from momagames.files.reading import is_file, read_bytes
from momagames.games.item_gathering import rules

NAMES = ("default", "corners", "orchard", "alone", "crowd")
ACCEPTS = f"{one_of(NAMES)}; rows of whole numbers (0 empty, 1 an agent, 2 and more an item); a text; or the path of a file"
AGENT, MAX_VALUE, MAX_BYTES = 1, 127, 64 << 10
SEPARATORS = re.compile(r"[,\s]+")
SYMBOLS = ".123456789"


def normalize(source: Any) -> str | list[str]:
    """Return the parameter value of a map: the name of a packaged one, else its rows as text. Raises InvalidParameter."""
    if source is None:
        return NAMES[0]
    if isinstance(source, str) and source in NAMES:
        return source
    rows = format_rows(parse(source))
    return next((name for name in NAMES if read_packaged(name) == rows), rows)


def load(value: str | list[str]) -> NDArray[np.int64]:
    """Return the map of a parameter value, int64[H, W]."""
    return parse(read_packaged(value) if isinstance(value, str) else value)


@cache
def read_packaged(name: str) -> list[str]:
    """Return the rows of a packaged map."""
    return resources.files(__package__).joinpath("maps", f"{name}.txt").read_text(encoding="utf-8").split()


def format_rows(grid: NDArray[np.int64]) -> list[str]:
    """Return the rows of a map as text: a character for each cell, or numbers with commas if one has two digits."""
    short = grid.max() < len(SYMBOLS)
    return ["".join(SYMBOLS[value] for value in row) if short else ",".join(map(str, row)) for row in grid.tolist()]


def parse(source: Any) -> NDArray[np.int64]:
    """Return a map, int64[H, W], from any form but a name. Raises InvalidParameter, which says what is wrong and where."""
    rows = list(source) if isinstance(source, Sequence | np.ndarray) and not isinstance(source, str) else read_lines(source)
    if not 1 <= len(rows) <= rules.MAX_SIDE:
        raise make_map_error(f"{len(rows)} rows", f"1 to {rules.MAX_SIDE}")
    cells = [read_row(number, row) for number, row in enumerate(rows)]
    width = len(cells[0])
    for number, row in enumerate(cells):
        if not 1 <= len(row) <= rules.MAX_SIDE or len(row) != width:
            raise make_map_error(
                f"{len(row)} cells in row {number}", f"1 to {rules.MAX_SIDE}, as many as in row 0, which has {width}"
            )
    grid = np.array(cells, np.int64)
    agents, types = int((grid == AGENT).sum()), len(list_types(grid))
    if not 1 <= agents <= rules.MAX_AGENTS:
        raise make_map_error(f"{agents} agents", f"1 to {rules.MAX_AGENTS}, each a cell of 1")
    if not 1 <= types <= rules.MAX_TYPES:
        raise make_map_error(f"{types} types of items", f"1 to {rules.MAX_TYPES}, each a number from 2 on")
    return grid


def list_types(grid: NDArray[np.int64]) -> list[int]:
    """Return the values of items of a map in ascending order: that of type t comes at t - 1."""
    return [int(value) for value in np.unique(grid) if value > AGENT]


def read_row(number: int, row: Any) -> list[int]:
    """Return the cells of a row that is a text or a sequence."""
    if isinstance(row, str):
        text = row.strip()
        parts: Any = SEPARATORS.split(text) if SEPARATORS.search(text) else text.replace(".", "0")
    else:
        parts = row.tolist() if isinstance(row, np.ndarray) else list(row) if np.iterable(row) else [row]
    return [read_cell(number, column, part) for column, part in enumerate(parts)]


def read_cell(row: int, column: int, value: Any) -> int:
    """Return the number of a cell."""
    digits = isinstance(value, str) and value.isdecimal() and len(value) <= 3
    number = int(value) if digits else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MAX_VALUE:
        expected = f"0 or . (empty), 1 (an agent) or a number of an item, 2..{MAX_VALUE}"
        raise make_map_error(f"{value!r} in row {row}, column {column}", expected)
    return number


def read_lines(source: Any) -> list[str]:
    """Return the lines of a text or of the file that a path names, without empty ones at the ends."""
    text = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    if not isinstance(text, str):
        raise make_map_error(repr(source), ACCEPTS)
    if isinstance(source, str) and "\n" in source:
        return source.strip().splitlines()
    if not is_file(text):
        raise make_map_error(repr(text), f"{ACCEPTS}{nearest(text, NAMES)}")
    try:
        return read_bytes(Path(text), MAX_BYTES).decode("utf-8").strip().splitlines()
    except (InvalidFile, UnicodeDecodeError) as error:
        raise make_map_error(f"file {text}", f"a readable text file ({error})") from error


def make_map_error(given: str, expected: str) -> InvalidParameter:
    return InvalidParameter(f"invalid initial_map: {given}: expected {expected}")
