"""Problems of a layout and their places."""

from __future__ import annotations

from dataclasses import dataclass

from momagames.games.robotmail.layouts.layout import Cell

MAPS = ("colors", "targets")


@dataclass(frozen=True)
class Problem:
    """A problem of a layout.

    map     index of the map: 0 colors, 1 targets
    text    the given value and the allowed ones
    place   line and column in the text of that map, from 1; None: the map as a whole
    cell    (x, y) on the board
    """

    map: int
    text: str
    place: tuple[int, int] | None = None
    cell: Cell | None = None

    def __str__(self) -> str:
        parts = ["line {}, column {}".format(*self.place)] if self.place else []
        parts += ["the cell ({},{})".format(*self.cell)] if self.cell else []
        return f"{', '.join(parts)}: {self.text}" if parts else self.text
