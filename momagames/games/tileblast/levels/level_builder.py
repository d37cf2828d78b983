"""A board of MO-TileBlast that is being built by chance: its shape, and pieces that stand where the linter lets them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from momagames.games.cell_sets import around, connected
from momagames.games.seeded_rng import Luck
from momagames.games.tileblast.levels.level_parser import INACTIVE, SIGNS
from momagames.games.tileblast.rules.pieces import BIG, CODES, DROP, KINDS, LASTS, Kind
from momagames.games.tileblast.rules.state import HEIGHT, WIDTH

Cell = tuple[int, int]  # x, y
Thing = dict[str, Any]  # as in a legend, §10.3

CARVED = 0.25  # of the board at most
POOL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!$%&()/<>=?@^~+"
LETTERS = [letter for letter in POOL if letter not in SIGNS]


@dataclass
class Site:
    """A board that is being built.

    mirrored   left and right are alike
    active     cells (x, y) of the box of width x height, y upwards
    held       anchor -> the thing that stands there
    taken      cell -> the kind of what fills it
    """

    luck: Luck
    width: int
    height: int
    mirrored: bool
    active: set[Cell]
    held: dict[Cell, Thing] = field(default_factory=dict)
    taken: dict[Cell, Kind] = field(default_factory=dict)

    @classmethod
    def carve(cls, luck: Luck, width: int, height: int) -> Site:
        """A box with bites taken out of its edge; what is left hangs together."""
        box = {(x, y) for x in range(width) for y in range(height)}
        site = cls(luck, width, height, luck.below(2) == 0, box)
        least = len(box) - luck.below(int(CARVED * len(box)) + 1)
        while len(site.active) > least:
            edge = [cell for cell in sorted(site.active) if not site.active.issuperset(around(cell))]
            cell = luck.pick(edge)
            left = site.active - {cell, site.mirror(cell)}
            if not connected(left):
                break
            site.active = left
        return site

    def mirror(self, cell: Cell, size: int = 1) -> Cell:
        """The anchor that takes part in a pair, for the anchor of a piece; itself where nothing is mirrored."""
        return (self.width - size - cell[0], cell[1]) if self.mirrored else cell

    def fits(self, kind: Kind, anchor: Cell) -> bool:
        """Whether a piece may stand there, so that the linter lets it and drops can leave."""
        cells = filled(kind, anchor)
        if any(cell not in self.active or cell in self.taken for cell in cells):
            return False
        x, y = anchor
        if kind.attributes & BIG:  # apart from others, or a layout would not tell whose cells are whose
            near = [(p, q) for p in range(x - 1, x + 3) for q in range(y - 1, y + 3)]
            if any(self.taken[cell].attributes & BIG for cell in near if cell in self.taken):
                return False
        if kind.attributes & LASTS:
            return not any(held.attributes & DROP for (p, _), held in self.taken.items() if p == x)
        return not kind.attributes & DROP or self.can_leave(kind, anchor)

    def can_leave(self, kind: Kind, anchor: Cell) -> bool:
        """Whether a drop has a way down, and not out at once."""
        y = anchor[1]
        columns = [[q for q in range(y) if (p, q) in self.active] for p in {p for p, _ in filled(kind, anchor)}]
        if not all(columns) or 2 * y < self.height:
            return False
        return not kind.attributes & BIG or (columns[0] == columns[1] == list(range(columns[0][0], y)))

    def put(self, thing: Thing, kind: Kind, anchor: Cell) -> None:
        self.held[anchor] = thing
        self.taken.update(dict.fromkeys(filled(kind, anchor), kind))

    def place(self, things: Callable[[], Thing], kind: Kind, count: int) -> list[Thing]:
        """Put up to so many things on the board, scattered or close together, mirrored where the board is."""
        spots = [cell for cell in sorted(self.active) if self.fits(kind, cell)]
        if self.luck.below(2) and spots:
            x, y = self.luck.pick(spots)
            near = {(p, q): abs(p - x) + abs(q - y) + self.luck.below(2) for p, q in spots}
            spots.sort(key=near.__getitem__)
        else:
            spots = [spots.pop(self.luck.below(len(spots))) for _ in range(len(spots))]
        size = 2 if kind.attributes & BIG else 1
        placed: list[Thing] = []
        for spot in spots:
            thing = things()
            for anchor in dict.fromkeys((spot, self.mirror(spot, size))):
                if len(placed) < count and self.fits(kind, anchor):
                    self.put(thing, kind, anchor)
                    placed.append(thing)
        return placed

    def layout(self) -> tuple[str, dict[str, Any]]:
        """The layout on the full board, the box in its middle, and the legend that it needs."""
        left, bottom = (WIDTH - self.width) // 2, (HEIGHT - self.height) // 2
        cells = dict.fromkeys(self.active, ".")
        legend: dict[str, Any] = {}
        signs: dict[str, str] = {}
        for anchor, thing in self.held.items():
            sign = signs.setdefault(repr(thing), LETTERS[len(signs)])
            legend[sign] = short(thing)
            cells.update(dict.fromkeys(filled(KINDS[CODES[thing["kind"]]], anchor), sign))
        lines = ["".join(cells.get((x - left, y - bottom), INACTIVE) for x in range(WIDTH)) for y in reversed(range(HEIGHT))]
        return "\n".join(lines) + "\n", legend


def short(thing: Thing) -> str | Thing:
    """A thing as a legend says it, §10.3."""
    if "colors" in thing:
        return thing
    cover = f"{thing['cover']}+" if "cover" in thing else ""
    color = f".{thing['color']}" if "color" in thing else ""
    hp = f":{thing['hp']}" if "hp" in thing else ""
    return f"{cover}{thing['kind']}{color}{hp}"


def filled(kind: Kind, anchor: Cell) -> list[Cell]:
    """The cells of a piece."""
    x, y = anchor
    return [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)] if kind.attributes & BIG else [anchor]
