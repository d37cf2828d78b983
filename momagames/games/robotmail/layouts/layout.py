"""A layout: the board that a game is played on (SPEC §10)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

Grid = tuple[tuple[str, ...], ...]
Cell = tuple[int, int]  # x, y

COLORS = {"w": "white", "g": "gray", "gr": "green", "y": "yellow", "b": "blue", "r": "red"}


@dataclass(frozen=True)
class Layout:
    """Rows of color codes and of target numbers, row 0 on top. `layouts.load` returns checked ones.

    colors    "w" white, "g" gray, "gr" green, "y" yellow, "b" blue, "r" red
    targets   the mail index that a yellow cell accepts; 0 for none
    """

    colors: Grid
    targets: tuple[tuple[int, ...], ...]

    @property
    def height(self) -> int:
        return len(self.colors)

    @property
    def width(self) -> int:
        return len(self.colors[0])

    def cells(self, color: str) -> list[Cell]:
        """Return the cells of a color as (x, y), row by row."""
        return [(x, y) for y, row in enumerate(self.colors) for x, code in enumerate(row) if code == color]

    def color(self, cell: Cell) -> str:
        return self.colors[cell[1]][cell[0]]

    def target(self, cell: Cell) -> int:
        return self.targets[cell[1]][cell[0]]

    def neighbors(self, cell: Cell) -> list[Cell]:
        """Return the neighbors on the board: above, below, left and right."""
        x, y = cell
        near = ((x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y))
        return [(p, q) for p, q in near if 0 <= p < self.width and 0 <= q < self.height]

    @cached_property
    def narrow(self) -> frozenset[Cell]:
        """§3.3 Cells of any color with exactly two yellow or red neighbors."""
        cells = ((x, y) for y in range(self.height) for x in range(self.width))
        return frozenset(cell for cell in cells if sum(self.color(near) in ("y", "r") for near in self.neighbors(cell)) == 2)

    @property
    def indices(self) -> list[int]:
        """The mail indices that yellow cells accept, in ascending order."""
        return sorted({self.targets[y][x] for x, y in self.cells("y")})

    @property
    def data(self) -> dict[str, list[str]]:
        """The layout as plain data: the lines of both CSV files."""
        return {
            "colors": [",".join(row) for row in self.colors],
            "targets": [",".join(map(str, row)) for row in self.targets],
        }
