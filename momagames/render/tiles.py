"""Compression of a game's pictures into tile indices: a grid splits them, and every distinct tile is stored once.

Pictures of board games repeat a few squares. If the grid matches the cells of the board, a long game takes some kilobytes. The
grid is detected in the pictures, so this works for every game. A poor grid only costs space.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from momagames.render.canvas import PAPER, Picture

TILE_SIDES = range(14, 73)  # pixels of a tile
SAMPLED_ROWS = 48  # rows (or columns) of a picture that the grid search samples
SHEET_COLUMNS = 32  # tiles in a row of the sheet
SHEET_COLORS = 255  # colors of the sheet
BYTES_PER_PIXEL = 0.2  # upper bound for a written sheet; measured: 0.1 to 0.19


@dataclass(frozen=True)
class Grid:
    """Squares of `side` pixels whose edges go through the pixel (left, top); both are less than `side`."""

    side: int
    top: int
    left: int

    def shape(self, picture: Picture) -> tuple[int, int]:
        """Return the numbers of rows and columns of tiles of a picture, including partial tiles at its edges."""
        height, width = picture.shape[:2]
        return -(-(height + -self.top % self.side) // self.side), -(-(width + -self.left % self.side) // self.side)

    def split(self, picture: Picture) -> NDArray[np.uint8]:
        """Return the tiles of a picture, uint8[T, side * side * 3], row by row, padded with the paper color."""
        rows, columns = self.shape(picture)
        side, height, width = self.side, *picture.shape[:2]
        sheet = np.empty((rows * side, columns * side, 3), np.uint8)
        top, left = -self.top % side, -self.left % side
        for edge in (sheet[:top], sheet[top + height :], sheet[:, :left], sheet[:, left + width :]):
            edge[:] = PAPER
        sheet[top : top + height, left : left + width] = picture
        tiles = sheet.reshape(rows, side, columns, side, 3).swapaxes(1, 2)
        return tiles.reshape(rows * columns, -1)


def find_grid(pictures: Sequence[Picture]) -> Grid:
    """Return the grid that splits pictures of one size into few distinct tiles.

    The axes are searched separately: among all cuts of pixel rows into pieces of one length, choose the one whose distinct
    pieces have the fewest pixels.
    """
    costs = [_costs(np.stack(pictures).swapaxes(1, 2 if turned else 1)) for turned in (False, True)]
    side = min(TILE_SIDES, key=lambda one: costs[0][one].min() + costs[1][one].min())
    return Grid(side, int(costs[1][side].argmin()), int(costs[0][side].argmin()))


def _costs(pictures: NDArray[np.uint8]) -> dict[int, NDArray[np.int64]]:
    """Return side -> int64[side], for each offset of the first cut: pixels of the distinct pieces of rows."""
    height, width = pictures.shape[1:3]
    lines = pictures[:, :: max(1, height // SAMPLED_ROWS)].reshape(-1, width, 3).astype(np.uint64)
    mixed = lines @ np.array([1, 1 << 8, 1 << 16], np.uint64) + np.uint64(1)
    factor = np.uint64(0x9E3779B97F4A7C15)
    powers = np.cumprod(np.full(width, factor, np.uint64))
    sums = np.concatenate([np.zeros((len(mixed), 1), np.uint64), np.cumsum(mixed * powers, axis=1, dtype=np.uint64)], axis=1)
    found = {}
    for side in TILE_SIDES:
        # a rolling hash: the same for equal pieces, wherever they lie
        pieces = (sums[:, side:] - sums[:, :-side]) * powers[::-1][: width - side + 1]
        short = (pieces >> np.uint64(50)).astype(np.int64)
        counts = [np.count_nonzero(np.bincount(short[:, start::side].ravel(), minlength=1)) for start in range(side)]
        found[side] = np.array(counts, np.int64) * side
    return found


@dataclass
class Tiles:
    """Distinct tiles of a game's pictures, in order of occurrence."""

    grid: Grid
    indices: dict[bytes, int] = field(default_factory=dict)

    def changes(self, pictures: Sequence[Picture]) -> list[list[int]]:
        """Return the changes of each picture from the previous one: cell, tile index, cell, tile index, ..."""
        found, before = [], None
        for picture in pictures:
            tiles = self.grid.split(picture)
            places = range(len(tiles)) if before is None else np.flatnonzero((tiles != before).any(axis=1)).tolist()
            found.append([n for place in places for n in (place, self._index_of(tiles[place].tobytes()))])
            before = tiles
        return found

    def _index_of(self, tile: bytes) -> int:
        return self.indices.setdefault(tile, len(self.indices))

    def truncate(self, count: int) -> None:
        """Keep the first `count` tiles only."""
        for tile in list(self.indices)[count:]:
            del self.indices[tile]

    @property
    def size(self) -> int:
        """Approximate upper bound of the bytes of the sheet."""
        return round(len(self.indices) * self.grid.side**2 * BYTES_PER_PIXEL)

    def sheet(self) -> str:
        """Return all tiles in one PNG picture, SHEET_COLUMNS in a row, as Base64 text."""
        side = self.grid.side
        rows = max(1, -(-len(self.indices) // SHEET_COLUMNS))
        tiles = np.zeros((rows * SHEET_COLUMNS, side, side, 3), np.uint8)
        tiles[: len(self.indices)] = np.frombuffer(b"".join(self.indices), np.uint8).reshape(-1, side, side, 3)
        sheet = tiles.reshape(rows, SHEET_COLUMNS, side, side, 3).swapaxes(1, 2).reshape(rows * side, SHEET_COLUMNS * side, 3)
        file = io.BytesIO()
        quantized = Image.fromarray(sheet).quantize(SHEET_COLORS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        quantized.save(file, "PNG", optimize=True)
        return base64.b64encode(file.getvalue()).decode()
