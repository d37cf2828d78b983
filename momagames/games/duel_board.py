"""Pictures of boards of two players: coordinates around the board, the names of the players above and below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from momagames.contract import Cells
from momagames.render import canvas

EDGE = 24  # pixels around the board, for coordinates
STRIP = 26  # pixels above and below that, for the players' names
SIGN = STRIP - 8  # pixels of the piece beside a name


def fit_side(rows: int, columns: int, size: int | None = None) -> int:
    """Return the pixels of a cell side, for a board that takes `size` pixels on its longer side, names included."""
    return canvas.fit_cells(max(rows, columns), 2 * EDGE + 2 * STRIP, size)


@dataclass(frozen=True)
class DuelBoard:
    """Where the parts of a picture are, in pixels.

    side           of a cell
    names_width    smallest width of the names; a narrow board is centered below them
    """

    rows: int
    columns: int
    side: int
    names_width: int

    @property
    def cells(self) -> Cells:
        left = max(EDGE, (self.names_width - self.columns * self.side + 1) // 2)
        return Cells(STRIP + EDGE, left, self.side, self.rows, self.columns)

    @property
    def _names_left(self) -> int:
        return (2 * self.cells.left + self.columns * self.side - self.names_width) // 2

    def draw_background(self, signs: Sequence[canvas.Sheet]) -> canvas.Sheet:
        """Draw the static part: coordinates, and beside the names the piece of each player, a square of SIGN pixels."""
        top, left, side = self.cells[:3]
        sheet = canvas.blank(2 * top + self.rows * side, 2 * left + self.columns * side)
        for x in range(self.columns):
            for y in (top - EDGE / 2, sheet.shape[0] - top + EDGE / 2):
                canvas.write(sheet, left + (x + 0.5) * side, y, str(x), 12, canvas.FAINT, "center")
        for row in range(self.rows):
            for x, align in ((left - 6, "right"), (sheet.shape[1] - left + 6, "left")):
                canvas.write(sheet, x, top + (row + 0.5) * side, str(row), 12, canvas.FAINT, align)
        for sign, y in zip(signs, (4, sheet.shape[0] - STRIP + 4), strict=True):
            canvas.place(sheet, y, self._names_left, sign)
        return sheet

    def write_names(self, sheet: canvas.Sheet, names: Sequence[str]) -> None:
        """Write what is said of each player beside its piece."""
        for name, y in zip(names, (STRIP / 2, sheet.shape[0] - STRIP / 2), strict=True):
            canvas.write(sheet, self._names_left + 22, y, name, 13)
