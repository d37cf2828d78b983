"""Random boards of MO-TileBlast: the shape, and pieces at places that the linter accepts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from momagames.games.cell_sets import is_connected, neighbors
from momagames.games.seeded_rng import SeededRng
from momagames.games.tileblast.levels.level_parser import INACTIVE, SIGNS
from momagames.games.tileblast.rules.pieces import BIG, CODES, DROP, KINDS, LASTS, Kind
from momagames.games.tileblast.rules.state import HEIGHT, WIDTH

Cell = tuple[int, int]  # x, y
PieceData = dict[str, Any]  # as in a legend (§10.3)

MAX_CARVED_SHARE = 0.25  # of the board at most
CANDIDATES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!$%&()/<>=?@^~+"
SIGN_POOL = [letter for letter in CANDIDATES if letter not in SIGNS]


@dataclass
class LevelBuilder:
    """A board under construction.

    rng        generator of the random draws
    mirrored   whether left and right are mirror images
    active     cells (x, y) of the box of width x height, y upwards
    pieces     anchor -> piece
    kinds      cell -> kind of the piece that fills it
    """

    rng: SeededRng
    width: int
    height: int
    mirrored: bool
    active: set[Cell]
    pieces: dict[Cell, PieceData] = field(default_factory=dict)
    kinds: dict[Cell, Kind] = field(default_factory=dict)

    @classmethod
    def carve(cls, rng: SeededRng, width: int, height: int) -> LevelBuilder:
        """Return an empty board: a box without some cells of its edge, which stays connected."""
        box = {(x, y) for x in range(width) for y in range(height)}
        builder = cls(rng, width, height, rng.below(2) == 0, box)
        min_cells = len(box) - rng.below(int(MAX_CARVED_SHARE * len(box)) + 1)
        while len(builder.active) > min_cells:
            edge = [cell for cell in sorted(builder.active) if not builder.active.issuperset(neighbors(cell))]
            cell = rng.choice(edge)
            left = builder.active - {cell, builder.mirror(cell)}
            if not is_connected(left):
                break
            builder.active = left
        return builder

    def mirror(self, cell: Cell, size: int = 1) -> Cell:
        """Return the anchor of the mirror image of a piece; the same anchor on boards without symmetry."""
        return (self.width - size - cell[0], cell[1]) if self.mirrored else cell

    def can_place(self, kind: Kind, anchor: Cell) -> bool:
        """Return whether a piece may stand there: the linter accepts it, and drops can leave."""
        cells = piece_cells(kind, anchor)
        if any(cell not in self.active or cell in self.kinds for cell in cells):
            return False
        x, y = anchor
        if kind.attributes & BIG:  # apart from other big pieces: a layout could not separate them
            near = [(p, q) for p in range(x - 1, x + 3) for q in range(y - 1, y + 3)]
            if any(self.kinds[cell].attributes & BIG for cell in near if cell in self.kinds):
                return False
        if kind.attributes & LASTS:
            return not any(other.attributes & DROP for (p, _), other in self.kinds.items() if p == x)
        return not kind.attributes & DROP or self.can_leave(kind, anchor)

    def can_leave(self, kind: Kind, anchor: Cell) -> bool:
        """Return whether a drop has a way down and does not leave at once."""
        y = anchor[1]
        columns = [[q for q in range(y) if (p, q) in self.active] for p in {p for p, _ in piece_cells(kind, anchor)}]
        if not all(columns) or 2 * y < self.height:
            return False
        return not kind.attributes & BIG or (columns[0] == columns[1] == list(range(columns[0][0], y)))

    def add(self, piece: PieceData, kind: Kind, anchor: Cell) -> None:
        """Place a piece at an anchor."""
        self.pieces[anchor] = piece
        self.kinds.update(dict.fromkeys(piece_cells(kind, anchor), kind))

    def place_pieces(self, make_piece: Callable[[], PieceData], kind: Kind, count: int) -> list[PieceData]:
        """Place up to `count` pieces, scattered or close together, mirrored on mirrored boards."""
        anchors = [cell for cell in sorted(self.active) if self.can_place(kind, cell)]
        if self.rng.below(2) and anchors:
            x, y = self.rng.choice(anchors)
            near = {(p, q): abs(p - x) + abs(q - y) + self.rng.below(2) for p, q in anchors}
            anchors.sort(key=near.__getitem__)
        else:
            anchors = [anchors.pop(self.rng.below(len(anchors))) for _ in range(len(anchors))]
        size = 2 if kind.attributes & BIG else 1
        placed: list[PieceData] = []
        for anchor in anchors:
            piece = make_piece()
            for cell in dict.fromkeys((anchor, self.mirror(anchor, size))):
                if len(placed) < count and self.can_place(kind, cell):
                    self.add(piece, kind, cell)
                    placed.append(piece)
        return placed

    def format_layout(self) -> tuple[str, dict[str, Any]]:
        """Return the layout on the full board, with the box in its middle, and its legend."""
        left, bottom = (WIDTH - self.width) // 2, (HEIGHT - self.height) // 2
        cells = dict.fromkeys(self.active, ".")
        legend: dict[str, Any] = {}
        signs: dict[str, str] = {}
        for anchor, piece in self.pieces.items():
            sign = signs.setdefault(repr(piece), SIGN_POOL[len(signs)])
            legend[sign] = format_legend_entry(piece)
            cells.update(dict.fromkeys(piece_cells(KINDS[CODES[piece["kind"]]], anchor), sign))
        lines = ["".join(cells.get((x - left, y - bottom), INACTIVE) for x in range(WIDTH)) for y in reversed(range(HEIGHT))]
        return "\n".join(lines) + "\n", legend


def format_legend_entry(piece: PieceData) -> str | PieceData:
    """Return a piece in the short form of a legend, §10.3."""
    if "colors" in piece:
        return piece
    cover = f"{piece['cover']}+" if "cover" in piece else ""
    color = f".{piece['color']}" if "color" in piece else ""
    hp = f":{piece['hp']}" if "hp" in piece else ""
    return f"{cover}{piece['kind']}{color}{hp}"


def piece_cells(kind: Kind, anchor: Cell) -> list[Cell]:
    """Return the cells of a piece."""
    x, y = anchor
    return [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)] if kind.attributes & BIG else [anchor]
