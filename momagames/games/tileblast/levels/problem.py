"""Errors in levels, with their places."""

from __future__ import annotations

from dataclasses import dataclass, replace

from momagames.games.tileblast.rules.state import HEIGHT, WIDTH

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """An error in a level.

    path    place in the data: keys and indices; of a cell ("layout", line, column), from 0
    text    the given and the allowed value
    place   line and column in the file, from 1; None without a file
    """

    path: Path
    text: str
    place: tuple[int, int] | None = None

    def with_place(self, place: tuple[int, int] | None) -> Problem:
        return replace(self, place=place)

    @property
    def cell(self) -> tuple[int, int] | None:
        """(x, y) of a problem in a cell."""
        match self.path:
            case ("layout", int(line), int(column)):
                return column, HEIGHT - 1 - line
        return None

    def __str__(self) -> str:
        parts = ["line {}, column {}".format(*self.place)] if self.place else []
        where = "the cell ({},{})".format(*self.cell) if self.cell else format_path(self.path)
        return f"{', '.join([*parts, *([where] if where else [])])}: {self.text}".removeprefix(": ")


def format_path(path: Path) -> str:
    """Return a path such as goals[0].collect; entries count from 0."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")


def cell_path(cell: int) -> Path:
    """Return the path of a cell."""
    return ("layout", HEIGHT - 1 - cell // WIDTH, cell % WIDTH)
