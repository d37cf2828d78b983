"""The two maps of a layout as text: their cells, each with its place (SPEC §10.1, §10.2)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from difflib import get_close_matches

from momagames.games.robotmail.layouts.layout import COLORS, Cell
from momagames.games.robotmail.layouts.problem import MAPS, Problem
from momagames.games.robotmail.rules.state import MAX_INDEX, MAX_SIDE

CODES = ", ".join(f"{code!r} ({name})" for code, name in COLORS.items())
NUMBERS = f"0 (none) to {MAX_INDEX}"
WORDS = {**{code: code for code in COLORS}, **{name: code for code, name in COLORS.items()}, "gray": "g"}
WHOLE = re.compile(r"-?[0-9]+")


@dataclass
class Map:
    """One of the two maps.

    map       0 colors, 1 targets
    rows      the texts of the cells, without spaces around them
    places    line and column of each cell, from 1
    problems  what is wrong with its shape
    """

    map: int
    text: str
    rows: list[list[str]] = field(default_factory=list)
    places: list[list[tuple[int, int]]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        # a byte order mark is what some spreadsheets write first
        for number, line in enumerate(self.text.removeprefix("\ufeff").rstrip().splitlines(), 1):
            if line.strip():
                self.add(number, line)
            else:
                self.problems.append(Problem(self.map, "an empty line is not possible within a map", (number, 1)))
        if not self.rows:
            self.problems = [Problem(self.map, f"the map of {MAPS[self.map]} is empty; needed: a line for each row of cells")]
            return
        self.check_rows()
        self.check_size()

    def add(self, number: int, line: str) -> None:
        row, places, at = [], [], 0
        for part in line.split(","):
            row.append(part.strip())
            places.append((number, at + len(part) - len(part.lstrip()) + 1 if part.strip() else at + 1))
            at += len(part) + 1
        self.rows.append(row)
        self.places.append(places)

    def check_rows(self) -> None:
        """Check that all rows have the most frequent length."""
        usual = self.width
        for y, row in enumerate(self.rows):
            if len(row) != usual:
                x = min(len(row), usual)
                text = f"the row has {len(row)} cells; the others have {usual}{hint_commas(row)}"
                self.problems.append(Problem(self.map, text, self.place((x, y)), (x, y)))

    def check_size(self) -> None:
        """Check that there are at most 24 rows and columns."""
        for cell, size, what in (((0, MAX_SIDE), self.height, "rows"), ((MAX_SIDE, 0), self.width, "columns")):
            if size > MAX_SIDE:
                text = f"{size} {what} are not possible; allowed: 1..{MAX_SIDE}"
                self.problems.append(Problem(self.map, text, self.place(cell), cell))

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """The most frequent number of cells in a row."""
        return Counter(map(len, self.rows)).most_common(1)[0][0]

    def place(self, cell: Cell) -> tuple[int, int]:
        """Return the line and column of a cell; for a missing cell, the end of its row or of the map."""
        x, y = cell
        if y >= self.height:
            return self.places[-1][0][0] + 1, 1
        if x < len(self.places[y]):
            return self.places[y][x]
        line, column = self.places[y][-1]
        return line, column + len(self.rows[y][-1])

    def problem(self, cell: Cell, text: str) -> Problem:
        return Problem(self.map, text, self.place(cell), cell)

    def cells(self) -> list[tuple[Cell, str]]:
        return [((x, y), text) for y, row in enumerate(self.rows) for x, text in enumerate(row)]


def wrong_codes(colors: Map) -> list[Problem]:
    """Cells that hold no color code."""
    return [
        colors.problem(cell, f"{text!r} is no color code; allowed: {CODES}{hint_code(text)}")
        for cell, text in colors.cells()
        if text not in COLORS
    ]


def wrong_numbers(targets: Map) -> list[Problem]:
    """Cells that hold no target number."""
    found = []
    for cell, text in targets.cells():
        if not WHOLE.fullmatch(text):
            found.append(targets.problem(cell, f"{text!r} is no whole number; allowed: {NUMBERS}{hint_number(text)}"))
        elif number(text) is None:
            found.append(targets.problem(cell, f"the target {text} is not possible; allowed: {NUMBERS}"))
    return found


def number(text: str) -> int | None:
    """Return a target number, or None for an invalid one."""
    value = int(text) if WHOLE.fullmatch(text) and len(text) < 9 else -1
    return value if 0 <= value <= MAX_INDEX else None


def different_sizes(colors: Map, targets: Map) -> list[Problem]:
    """Check that both maps have the same cells."""
    sizes = [(each.width, each.height) for each in (colors, targets)]
    if sizes[0] == sizes[1]:
        return []
    (w, h), (v, g) = sizes
    cell = (0, min(h, g)) if h != g else (min(w, v), 0)
    return [targets.problem(cell, f"the map has {g} rows of {v} cells; the colors have {h} rows of {w}")]


def swapped(colors: Map, targets: Map) -> bool:
    """Return whether the targets come first."""
    return all(WHOLE.fullmatch(text) for _, text in colors.cells()) and all(text in COLORS for _, text in targets.cells())


def hint_code(text: str) -> str:
    """Return the probable code for a word or another spelling, as a hint."""
    close = get_close_matches(text.lower(), WORDS, n=1, cutoff=0.6)
    return f"; did you mean {WORDS[close[0]]!r}?" if close else hint_commas([text])


def hint_number(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return hint_commas([text])
    return f"; did you mean {int(value)}?" if value.is_integer() else ""


def hint_commas(row: list[str]) -> str:
    return "; cells are separated by commas" if any(sign in text for text in row for sign in ";\t ") else ""
