"""Construction of random boards of MO-RoboticMail (SPEC §10.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from momagames.games.cell_sets import around, connected
from momagames.games.robotmail.layouts.layout import Cell, Layout
from momagames.games.seeded_rng import SeededRng

LOOKS = 6  # spots that are compared for each thing
STROKE = 4  # cells of a straight wall at most
MIN_WHITE_SHARE = 2 / 3  # of the room that stays white
ALONE, MIRRORED, TURNED = range(3)


class BoardBuilder:
    """Board under construction. After every change robots can reach all cells.

    Open ground consists of the white and gray cells that are not narrow. It is connected, all other cells but walls are
    beside it, and mails, receivers and chargers are not narrow. So every one of these can be reached from everywhere, with
    any mail and without passing a narrow cell.
    """

    def __init__(self, rng: SeededRng, width: int, height: int, white: float) -> None:
        self.rng, self.width, self.height = rng, width, height
        self.symmetry = rng.below(3)
        wide, high = (max(1, min(side - 2, round(white**0.5 * side))) for side in (width, height))
        left, top = (width - wide) // 2, (height - high) // 2
        self.room = {(x, y) for x in range(left, left + wide) for y in range(top, top + high)}
        self.colors = {(x, y): "w" if (x, y) in self.room else "g" for y in range(height) for x in range(width)}

    def furnish(self, code: str, count: int) -> int:
        """Place up to `count` things of a color at suitable cells; return their number."""
        if code == "r":
            self.build(count)
        elif code == "b":
            for beside in (False, True):  # robots may not stay beside a charger, so start cells are the second choice
                spots = [cell for cell, color in self.colors.items() if color == "g"]
                self.spread(code, count, [spot for spot in spots if self.room.isdisjoint(around(spot)) != beside])
        elif code == "y":
            for depth in range((min(self.width, self.height) + 1) // 2):
                self.spread(code, count, [c for c, color in self.colors.items() if color == "g" and self.depth(c) == depth])
        else:
            self.spread(code, count, [c for c, color in self.colors.items() if color in "wg" and self.depth(c)])
        return self.count(code)

    def spread(self, code: str, count: int, spots: list[Cell]) -> None:
        """Place things far from others of their kind, and mails far from receivers too."""
        while spots and self.count(code) < count:
            others = [cell for cell, color in self.colors.items() if color == code or (code == "gr" and color == "y")]
            seen = self.rng.sample(spots, min(LOOKS, len(spots)))
            spot = max(seen, key=lambda cell: self.room_around(cell, others))
            spots.remove(spot)
            self.put(code, spot, count)

    def build(self, count: int) -> None:
        """Place walls in straight strokes, until there are enough or no cell is left."""
        before = -1
        while before < self.count("r") < count:
            before = self.count("r")
            spots = [cell for cell, color in self.colors.items() if color in "wg"]
            while spots and self.count("r") < count:
                x, y = spots.pop(self.rng.below(len(spots)))
                dx, dy = self.rng.choice(((1, 0), (0, 1)))
                for k in range(self.rng.randint(1, STROKE)):
                    if self.count("r") == count or not self.put("r", (x + k * dx, y + k * dy), count):
                        break

    def put(self, code: str, cell: Cell, most: int) -> bool:
        """Place a thing and, if the limit allows, its twin; return whether the board allows it."""
        cells = {cell, self.twin(cell)} if self.count(code) + 2 <= most else {cell}
        before = {each: self.colors.get(each, "") for each in cells}
        if any(color not in ("w", "g") for color in before.values()):
            return False
        self.colors.update(dict.fromkeys(cells, code))
        if self.is_good():
            return True
        self.colors.update(before)
        return False

    def is_good(self) -> bool:
        """Return whether the invariants of the class hold and enough of the room is white."""
        if self.count("w") < MIN_WHITE_SHARE * len(self.room):
            return False
        closed = [cell for cell, color in self.colors.items() if color in ("y", "r")]
        beside = Counter(near for cell in closed for near in around(cell))
        narrow = {cell for cell, count in beside.items() if count == 2}  # §3.3
        ground = {cell for cell, color in self.colors.items() if color in "wg" and cell not in narrow}
        if any(color in ("gr", "y", "b") and cell in narrow for cell, color in self.colors.items()):
            return False
        rest = [cell for cell, color in self.colors.items() if color != "r" and cell not in ground]
        return connected(ground) and all(not ground.isdisjoint(around(cell)) for cell in rest)

    def count(self, code: str) -> int:
        return sum(color == code for color in self.colors.values())

    def depth(self, cell: Cell) -> int:
        """Return the number of cells between a cell and the nearest edge."""
        x, y = cell
        return min(x, y, self.width - 1 - x, self.height - 1 - y)

    def twin(self, cell: Cell) -> Cell:
        """Return the symmetric counterpart of a cell; the cell itself on an asymmetric board."""
        x, y = cell
        return cell if self.symmetry == ALONE else (self.width - 1 - x, y if self.symmetry == MIRRORED else self.height - 1 - y)

    def room_around(self, cell: Cell, others: Iterable[Cell]) -> int:
        """Return the steps to the nearest of other cells, the twin included."""
        return min((apart(cell, other) for other in {*others, self.twin(cell)} - {cell}), default=self.width + self.height)

    def board(self, targets: dict[Cell, int] | None = None) -> Layout:
        lines, numbers = range(self.height), targets or {}
        return Layout(
            tuple(tuple(self.colors[x, y] for x in range(self.width)) for y in lines),
            tuple(tuple(numbers.get((x, y), 0) for x in range(self.width)) for y in lines),
        )

    def layout(self) -> Layout:
        """Return the finished board with random indices of receivers."""
        receivers = self.board().cells("y")
        left = list(range(1, len(receivers) + 1))
        return self.board({cell: left.pop(self.rng.below(len(left))) for cell in receivers})


def apart(a: Cell, b: Cell) -> int:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])
