"""Images and texts of MO-SameGame: each kind of tile has a color, a shape and a digit."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from momagames.contract import Cell, Cells, Line, Slide, State
from momagames.games.samegame.codec import SYMBOLS, unpack_board
from momagames.render import canvas, shapes
from momagames.render.text import grid

EDGE = 24  # pixels left of the board and above it, for coordinates
EMPTY = (240, 240, 244)
LEGEND = 96  # pixels of an entry of the legend
LEGEND_ROW = 24


def draw_picture(state: State, last: Any = None, size: int | None = None, hidden: Collection[Cell] = ()) -> canvas.Sheet:
    """Draw a position as an RGB image, uint8[H, W, 3]: the board, and for each color its tile, number and tiles left.

    last     the last action; its cell is framed
    size     pixels that the board takes on its longer side, coordinates included; None: `canvas.LONG_SIDE`
    hidden   cells that are drawn without their tiles
    """
    board, colors = unpack_board(state), int(state["colors"])
    height, width = board.shape
    side = cell_side(height, width, size)
    sheet = _draw_background(height, width, colors, side).copy()
    canvas.place(sheet, EDGE, EDGE, canvas.mosaic(_draw_tiles(side), canvas.clear_cells(board, hidden)))
    if last is not None:
        y, x = divmod(int(last), width)
        top, left, thick = EDGE + y * side, EDGE + x * side, min(5, max(2, side // 14))
        canvas.draw_frame(sheet, top, left, side, thick, canvas.INK)
        canvas.draw_frame(sheet, top + thick, left + thick, side - 2 * thick, max(1, thick // 2), canvas.WHITE)
    counts = np.bincount(board.ravel(), minlength=colors + 1)
    for k in range(colors):
        y, x = _legend_corner(height, width, colors, side, k)
        canvas.write(sheet, x + 46, y + LEGEND_ROW / 2, f"{counts[k + 1]} left", 12, canvas.FAINT)
    return sheet


def find_slides(before: State, after: State, last: Any) -> list[Slide]:
    """§4 Return the cells that the tiles fall and move from and to."""
    board = unpack_board(before)
    height, width = board.shape
    group, border = set(), [] if last is None else [divmod(int(last), width)]
    while border:
        cell = border.pop()
        if cell not in group:
            group.add(cell)
            y, x = cell
            near = [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
            border += [n for n in near if min(n) >= 0 and n[0] < height and n[1] < width and board[n] == board[cell]]
    rest = canvas.clear_cells(board, group)
    columns = [x for x in range(width) if rest[:, x].any()]
    found = []
    for end, start in enumerate(columns):
        rows = np.flatnonzero(rest[:, start])
        found += [((int(y), start), (height - len(rows) + k, end)) for k, y in enumerate(rows)]
    moved = unpack_board(after)
    return [(start, end) for start, end in found if start != end and board[start] == moved[end]]


def locate_cells(state: State, size: int | None) -> Cells:
    """Return where the cells are in a picture."""
    height, width = int(state["height"]), int(state["width"])
    return Cells(EDGE, EDGE, cell_side(height, width, size), height, width)


def pick(state: State, pressed: tuple[float, float], released: tuple[float, float]) -> int | None:
    """Return the action of the tile that the mouse was pressed and released on, or None; see `canvas.cell_at`."""
    height, width = unpack_board(state).shape
    side = cell_side(height, width)
    first, last = (canvas.cell_at(place, EDGE, EDGE, side, height, width) for place in (pressed, released))
    return None if first is None or first != last else first[0] * width + first[1]


def cell_side(height: int, width: int, size: int | None = None) -> int:
    """Return the pixels of a cell side."""
    return canvas.fit_cells(max(height, width), EDGE, size)


@canvas.cache_drawing(maxsize=32)
def _draw_tiles(side: int) -> canvas.Tiles:
    """Draw an empty cell, then each color: uint8[11, side, side, 3]."""
    tiles = [canvas.paint(side, EMPTY)]
    for k, color in enumerate(shapes.COLORS):
        tile = shapes.block(0.03, 0.16, color)
        tiles.append(canvas.paint(side, EMPTY, tile, shapes.shape(k, shapes.contrast(color), color)))
    return canvas.join_tiles(tiles)


def _legend_corner(height: int, width: int, colors: int, side: int, k: int) -> tuple[int, int]:
    """Return top and left of an entry of the legend: on the right of a narrow board, in rows below any other."""
    if 4 * width < 3 * height:
        return EDGE + k * LEGEND_ROW, EDGE + width * side + 16
    rows = -(-colors * LEGEND // (EDGE + width * side))
    row, column = divmod(k, -(-colors // rows))
    return EDGE + height * side + 10 + row * LEGEND_ROW, EDGE + column * LEGEND


@canvas.cache_drawing(maxsize=16)
def _draw_background(height: int, width: int, colors: int, side: int) -> canvas.Sheet:
    """Draw the static part: coordinates and the legend without its counts."""
    places = [_legend_corner(height, width, colors, side, k) for k in range(colors)]
    bottom = max(EDGE + height * side + 6, max(y for y, _ in places) + LEGEND_ROW)
    right = max(EDGE + width * side + 6, max(x for _, x in places) + LEGEND)
    sheet = canvas.blank(bottom, right)
    letters = 12 if side > 20 else 10
    for x in range(width):
        canvas.write(sheet, EDGE + (x + 0.5) * side, EDGE / 2, str(x), letters, canvas.FAINT, "center")
    for y in range(height):
        canvas.write(sheet, EDGE - 6, EDGE + (y + 0.5) * side, str(y), letters, canvas.FAINT, "right")
    small = _draw_tiles(LEGEND_ROW - 6)
    for k, (top, left) in enumerate(places):
        canvas.place(sheet, top + 3, left, small[k + 1])
        canvas.write(sheet, left + LEGEND_ROW, top + LEGEND_ROW / 2, str(k + 1), 13)
    return sheet


def describe_result(state: State) -> str:
    """Describe the end of a game."""
    count = np.count_nonzero(unpack_board(state))
    return f"{count} {'tile' if count == 1 else 'tiles'} left" if count else "no tile left"


def format_text(state: State, last: Any = None) -> list[Line]:
    """Return a position as text with coordinates; the cell of the last action is in brackets."""
    board = unpack_board(state)
    styles = ["dim", *(f"bold {shapes.contrast_code(k)} on {code}" for k, code in enumerate(shapes.CODES))]
    marked = set() if last is None else {divmod(int(last), board.shape[1])}
    return grid([[(SYMBOLS[k], styles[k]) for k in row] for row in board], marked)
