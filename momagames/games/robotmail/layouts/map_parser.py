"""The two maps of a layout as text: their cells, each with its place (SPEC §10.1, §10.2)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from difflib import get_close_matches

from momagames.errors import shorten
from momagames.games.robotmail.layouts.layout import COLORS, Cell
from momagames.games.robotmail.layouts.problem import MAPS, Problem
from momagames.games.robotmail.rules.state import MAX_INDEX, MAX_SIDE

CODES = ", ".join(f"{code!r} ({name})" for code, name in COLORS.items())
NUMBERS = f"0 (none) to {MAX_INDEX}"
WORDS = {**{code: code for code in COLORS}, **{name: code for code, name in COLORS.items()}}
WHOLE = re.compile(r"-?[0-9]+")


@dataclass
class Map:
    """One of the two maps.

    map       0 colors, 1 targets
    rows      the texts of the cells, without spaces around them
    places    line and column of each cell, from 1
    problems  problems of its shape
    """

    map: int
    text: str
    rows: list[list[str]] = field(default_factory=list)
    places: list[list[tuple[int, int]]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        # some spreadsheets write a byte order mark first
        for number, line in enumerate(self.text.removeprefix("\ufeff").rstrip().splitlines(), 1):
            if line.strip():
                self.add_row(number, line)
            else:
                self.problems.append(Problem(self.map, "an empty line within a map: expected a row of cells", (number, 1)))
        if not self.rows:
            self.problems = [Problem(self.map, f"the map of {MAPS[self.map]} is empty: expected a line for each row of cells")]
            return
        self.check_rows()
        self.check_size()

    def add_row(self, number: int, line: str) -> None:
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
                text = f"the row has {len(row)} cells: expected {usual}, as in the other rows{hint_commas(row)}"
                self.problems.append(Problem(self.map, text, self.locate((x, y)), (x, y)))

    def check_size(self) -> None:
        """Check that there are at most 24 rows and columns."""
        for cell, size, what in (((0, MAX_SIDE), self.height, "rows"), ((MAX_SIDE, 0), self.width, "columns")):
            if size > MAX_SIDE:
                text = f"invalid {what}={size}: expected 1..{MAX_SIDE}"
                self.problems.append(Problem(self.map, text, self.locate(cell), cell))

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """Return the most frequent number of cells in a row."""
        return Counter(map(len, self.rows)).most_common(1)[0][0]

    def locate(self, cell: Cell) -> tuple[int, int]:
        """Return the line and column of a cell; for a missing cell, the end of its row or of the map."""
        x, y = cell
        if y >= self.height:
            return self.places[-1][0][0] + 1, 1
        if x < len(self.places[y]):
            return self.places[y][x]
        line, column = self.places[y][-1]
        return line, column + len(self.rows[y][-1])

    def problem_at(self, cell: Cell, text: str) -> Problem:
        return Problem(self.map, text, self.locate(cell), cell)

    def cells(self) -> list[tuple[Cell, str]]:
        """Return the cells and their texts; of a map that is too large, those of the largest board."""
        return [((x, y), text) for y, row in enumerate(self.rows[:MAX_SIDE]) for x, text in enumerate(row[:MAX_SIDE])]


def find_wrong_codes(colors: Map) -> list[Problem]:
    """Return a problem for each cell without a color code."""
    return [
        colors.problem_at(cell, f"invalid color code {text!r}: expected {CODES}{hint_code(text)}")
        for cell, text in colors.cells()
        if text not in COLORS
    ]


def find_wrong_numbers(targets: Map) -> list[Problem]:
    """Return a problem for each cell without a target number."""
    found = []
    for cell, text in targets.cells():
        if not WHOLE.fullmatch(text):
            found.append(
                targets.problem_at(cell, f"invalid target {shorten(repr(text), 60)}: expected {NUMBERS}{hint_number(text)}")
            )
        elif parse_target(text) is None:
            found.append(targets.problem_at(cell, f"invalid target {shorten(text, 60)}: expected {NUMBERS}"))
    return found


def parse_target(text: str) -> int | None:
    """Return a target number, or None for an invalid one."""
    value = int(text) if WHOLE.fullmatch(text) and len(text) < 9 else -1
    return value if 0 <= value <= MAX_INDEX else None


def compare_sizes(colors: Map, targets: Map) -> list[Problem]:
    """Return the problem of two maps of different sizes; no problem for equal sizes."""
    sizes = [(each.width, each.height) for each in (colors, targets)]
    if sizes[0] == sizes[1]:
        return []
    (w, h), (v, g) = sizes
    cell = (0, min(h, g)) if h != g else (min(w, v), 0)
    return [targets.problem_at(cell, f"the map has {g} rows of {v} cells: expected {h} rows of {w}, as in the colors")]


def are_swapped(colors: Map, targets: Map) -> bool:
    """Return whether the two maps are swapped: the targets come first."""
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
