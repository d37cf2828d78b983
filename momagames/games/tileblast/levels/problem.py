"""What is wrong with a level, and where."""

from __future__ import annotations

from dataclasses import dataclass, replace

from momagames.games.tileblast.rules.state import HEIGHT, WIDTH

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """Something that is wrong with a level.

    path    where in the data: keys and indices; of a cell ("layout", line, column), from 0
    text    what was given and what is allowed
    place   line and column in the file, from 1; None if there is no file
    """

    path: Path
    text: str
    place: tuple[int, int] | None = None

    def at(self, place: tuple[int, int] | None) -> Problem:
        return replace(self, place=place)

    @property
    def cell(self) -> tuple[int, int] | None:
        """(x, y) of a problem that is in a cell."""
        match self.path:
            case ("layout", int(line), int(column)):
                return column, HEIGHT - 1 - line
        return None

    def __str__(self) -> str:
        parts = ["line {}, column {}".format(*self.place)] if self.place else []
        where = "the cell ({},{})".format(*self.cell) if self.cell else spell(self.path)
        return f"{', '.join([*parts, *([where] if where else [])])}: {self.text}".removeprefix(": ")


def spell(path: Path) -> str:
    """goals[0].collect; entries count from 0."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")


def cell_path(cell: int) -> Path:
    """The path of a cell."""
    return ("layout", HEIGHT - 1 - cell // WIDTH, cell % WIDTH)
