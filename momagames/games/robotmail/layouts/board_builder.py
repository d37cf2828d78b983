"""Construction of random boards of MO-RoboticMail (SPEC §10.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from momagames.games.cell_sets import is_connected, neighbors
from momagames.games.robotmail.layouts.layout import Cell, Layout
from momagames.games.seeded_rng import SeededRng

CANDIDATES = 6  # cells compared for each placement
MAX_STROKE = 4  # cells of a straight wall at most
MIN_WHITE_SHARE = 2 / 3  # of the cells of the room that stay white
ASYMMETRIC, MIRRORED, ROTATED = range(3)


class BoardBuilder:
    """Board under construction. After every change robots can reach all cells.

    Open ground consists of the white and gray cells that are not narrow. It is connected, all other cells but walls are
    beside it, and mails, receivers and chargers are not narrow. So each of these can be reached from every cell, with any mail
    and without passing a narrow cell.
    """

    def __init__(self, rng: SeededRng, width: int, height: int, white: float) -> None:
        self.rng, self.width, self.height = rng, width, height
        self.symmetry = rng.below(3)
        wide, high = (max(1, min(side - 2, round(white**0.5 * side))) for side in (width, height))
        left, top = (width - wide) // 2, (height - high) // 2
        self.room = {(x, y) for x in range(left, left + wide) for y in range(top, top + high)}
        self.colors = {(x, y): "w" if (x, y) in self.room else "g" for y in range(height) for x in range(width)}

    def place_color(self, code: str, count: int) -> int:
        """Give up to `count` suitable cells a color; return their number."""
        if code == "r":
            self.build_walls(count)
        elif code == "b":
            for beside in (False, True):  # robots may not stay beside a charger, so start cells are the second choice
                spots = [cell for cell, color in self.colors.items() if color == "g"]
                self.place_spread(code, count, [spot for spot in spots if self.room.isdisjoint(neighbors(spot)) != beside])
        elif code == "y":
            for depth in range((min(self.width, self.height) + 1) // 2):
                self.place_spread(
                    code, count, [c for c, color in self.colors.items() if color == "g" and self.edge_distance(c) == depth]
                )
        else:
            self.place_spread(code, count, [c for c, color in self.colors.items() if color in "wg" and self.edge_distance(c)])
        return self.count(code)

    def place_spread(self, code: str, count: int, spots: list[Cell]) -> None:
        """Place cells of a color far from each other, and mails far from receivers too."""
        while spots and self.count(code) < count:
            others = [cell for cell, color in self.colors.items() if color == code or (code == "gr" and color == "y")]
            seen = self.rng.sample(spots, min(CANDIDATES, len(spots)))
            spot = max(seen, key=lambda cell: self.distance_to_others(cell, others))
            spots.remove(spot)
            self.place(code, spot, count)

    def build_walls(self, count: int) -> None:
        """Place walls in straight strokes, until there are enough or no cell is left."""
        before = -1
        while before < self.count("r") < count:
            before = self.count("r")
            spots = [cell for cell, color in self.colors.items() if color in "wg"]
            while spots and self.count("r") < count:
                x, y = spots.pop(self.rng.below(len(spots)))
                dx, dy = self.rng.choice(((1, 0), (0, 1)))
                for k in range(self.rng.randint(1, MAX_STROKE)):
                    if self.count("r") == count or not self.place("r", (x + k * dx, y + k * dy), count):
                        break

    def place(self, code: str, cell: Cell, most: int) -> bool:
        """Give a cell a color and, if the limit allows, its mirror cell too; return whether the board allows it."""
        cells = {cell, self.mirror(cell)} if self.count(code) + 2 <= most else {cell}
        before = {each: self.colors.get(each, "") for each in cells}
        if any(color not in ("w", "g") for color in before.values()):
            return False
        self.colors.update(dict.fromkeys(cells, code))
        if self.is_valid():
            return True
        self.colors.update(before)
        return False

    def is_valid(self) -> bool:
        """Return whether the invariants of the class hold and enough of the room is white."""
        if self.count("w") < MIN_WHITE_SHARE * len(self.room):
            return False
        closed = [cell for cell, color in self.colors.items() if color in ("y", "r")]
        beside = Counter(near for cell in closed for near in neighbors(cell))
        narrow = {cell for cell, count in beside.items() if count == 2}  # §3.3
        ground = {cell for cell, color in self.colors.items() if color in "wg" and cell not in narrow}
        if any(color in ("gr", "y", "b") and cell in narrow for cell, color in self.colors.items()):
            return False
        rest = [cell for cell, color in self.colors.items() if color != "r" and cell not in ground]
        return is_connected(ground) and all(not ground.isdisjoint(neighbors(cell)) for cell in rest)

    def count(self, code: str) -> int:
        """Return the number of cells of a color."""
        return sum(color == code for color in self.colors.values())

    def edge_distance(self, cell: Cell) -> int:
        """Return the number of cells between a cell and the nearest edge."""
        x, y = cell
        return min(x, y, self.width - 1 - x, self.height - 1 - y)

    def mirror(self, cell: Cell) -> Cell:
        """Return the symmetric counterpart of a cell; the cell itself on an asymmetric board."""
        x, y = cell
        if self.symmetry == ASYMMETRIC:
            return cell
        return self.width - 1 - x, y if self.symmetry == MIRRORED else self.height - 1 - y

    def distance_to_others(self, cell: Cell, others: Iterable[Cell]) -> int:
        """Return the Manhattan distance to the nearest of other cells and the mirror cell."""
        distances = (manhattan_distance(cell, other) for other in {*others, self.mirror(cell)} - {cell})
        return min(distances, default=self.width + self.height)

    def build_layout(self, targets: dict[Cell, int] | None = None) -> Layout:
        """Return the board as a layout with these target numbers."""
        lines, numbers = range(self.height), targets or {}
        return Layout(
            tuple(tuple(self.colors[x, y] for x in range(self.width)) for y in lines),
            tuple(tuple(numbers.get((x, y), 0) for x in range(self.width)) for y in lines),
        )

    def build_numbered_layout(self) -> Layout:
        """Return the finished board with random indices of receivers."""
        receivers = self.build_layout().cells("y")
        left = list(range(1, len(receivers) + 1))
        return self.build_layout({cell: left.pop(self.rng.below(len(left))) for cell in receivers})


def manhattan_distance(a: Cell, b: Cell) -> int:
    """Return the Manhattan distance of two cells."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])
