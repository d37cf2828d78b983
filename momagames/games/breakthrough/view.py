"""Images and texts of MO-Breakthrough. Row 0, the home of player_0, is on top in both."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Line, State
from momagames.games.breakthrough.codec import PLAYERS, cells
from momagames.render import canvas, shapes
from momagames.render.text import grid

EDGE = 24  # pixels around the board, for coordinates
STRIP = 26  # pixels above and below that, for the players' names
NARROWEST = 150  # pixels for those names
LIGHT, DARK, MARK = (240, 233, 218), (226, 215, 193), (250, 222, 110)
SIDES = (canvas.color("#1f5fa8"), canvas.color("#e07b00"))
STYLES = ("bold #ffffff on #1f5fa8", "bold #000000 on #e07b00")
LETTERS = "VA"  # they point where their player goes
WAYS = ("down", "up")


def ends(state: State, last: Any) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return from and to of the last move as (row, column); None for no move."""
    if last is None:
        return None
    height, width, mover = int(state["height"]), int(state["width"]), 1 - int(state["to_move"])
    action = int(last)
    if state["canonical"] and mover == 1:
        action = 3 * width * height - 1 - action
    cell, direction = divmod(action, 3)
    x, y = divmod(cell, height)
    return (y, x), (y + 1 - 2 * mover, x + direction - 1)


def said(state: State, side: int) -> str:
    """Describe a player: its direction, or its result when the game is over."""
    if state["over"]:
        return f"{PLAYERS[side]} {'lost' if side == int(state['to_move']) else 'won'}"
    return f"{PLAYERS[side]} goes {WAYS[side]}"


def picture(state: State, last: Any = None) -> NDArray[np.uint8]:
    """A position as an RGB image, uint8[H, W, 3].

    last   the action that was played last: its two cells are colored and joined by a line
    """
    board = cells(state)
    height, width = board.shape
    side = (canvas.LONG_SIDE - 2 * EDGE - 2 * STRIP) // max(height, width)
    top, left = STRIP + EDGE, _left(width, side)
    sheet = _sheet(height, width, side).copy()
    ground = (np.indices(board.shape).sum(axis=0)) % 2
    move = ends(state, last)
    if move:
        ground[move[0]] = ground[move[1]] = 2
    sheet[top : top + height * side, left : left + width * side] = canvas.mosaic(_tiles(side), 3 * board + ground)
    if move:
        (y0, x0), (y1, x1) = ((top + (y + 0.5) * side, left + (x + 0.5) * side) for y, x in move)
        reach = 1 - 0.4 / max(abs(y1 - y0), abs(x1 - x0)) * side  # up to the edge of the piece that moved
        canvas.line(sheet, (x0, y0), (x0 + reach * (x1 - x0), y0 + reach * (y1 - y0)), max(2, side // 12), canvas.INK)
    for player, y in ((0, STRIP / 2), (1, sheet.shape[0] - STRIP / 2)):
        canvas.write(sheet, _name_left(sheet) + 22, y, said(state, player), 13)
    return sheet


def pick(state: State, pressed: tuple[float, float], released: tuple[float, float]) -> int | None:
    """Return the action of a mouse drag from a piece to its target cell."""
    height, width, mover = int(state["height"]), int(state["width"]), int(state["to_move"])
    side = (canvas.LONG_SIDE - 2 * EDGE - 2 * STRIP) // max(height, width)
    top, left = STRIP + EDGE, _left(width, side)
    first, last = (canvas.cell_at(place, top, left, side, height, width) for place in (pressed, released))
    if first is None or last is None or last[0] - first[0] != 1 - 2 * mover or abs(last[1] - first[1]) > 1:
        return None
    action = 3 * (first[1] * height + first[0]) + last[1] - first[1] + 1
    return 3 * width * height - 1 - action if state["canonical"] and mover == 1 else action


def _left(width: int, side: int) -> int:
    """Left edge of the board: in the middle of the names where these are wider."""
    return max(EDGE, (NARROWEST - width * side + 1) // 2)


def _name_left(sheet: NDArray[np.uint8]) -> int:
    return int(sheet.shape[1] - NARROWEST) // 2


@functools.lru_cache(maxsize=32)
def _tiles(side: int) -> NDArray[np.uint8]:
    """Empty, player_0 and player_1, each on light, dark and marked ground: uint8[9, side, side, 3]."""
    down = [(0.3, 0.38), (0.7, 0.38), (0.5, 0.7)]
    pieces = (
        (),
        (shapes.disc(0.42, canvas.INK), shapes.disc(0.38, SIDES[0]), shapes.polygon(down, canvas.WHITE)),
        (
            shapes.block(0.12, 0.1, canvas.INK),
            shapes.block(0.16, 0.07, SIDES[1]),
            shapes.polygon([(x, 1 - y) for x, y in down], canvas.INK),
        ),
    )
    return np.stack([canvas.paint(side, paper, *piece) for piece in pieces for paper in (LIGHT, DARK, MARK)])


@functools.lru_cache(maxsize=16)
def _sheet(height: int, width: int, side: int) -> NDArray[np.uint8]:
    """Return the static part: coordinates, and the pieces beside the names."""
    left, top = _left(width, side), STRIP + EDGE
    sheet = canvas.blank(2 * top + height * side, 2 * left + width * side)
    for x in range(width):
        for y in (top - EDGE / 2, sheet.shape[0] - top + EDGE / 2):
            canvas.write(sheet, left + (x + 0.5) * side, y, str(x), 12, canvas.FAINT, "center")
    for y in range(height):
        for x, align in ((left - 6, "right"), (sheet.shape[1] - left + 6, "left")):
            canvas.write(sheet, x, top + (y + 0.5) * side, str(y), 12, canvas.FAINT, align)
    for player, y in ((0, 4), (1, sheet.shape[0] - STRIP + 4)):
        start = _name_left(sheet)
        sheet[y : y + STRIP - 8, start : start + STRIP - 8] = _tiles(STRIP - 8)[3 * (1 + player)]
    return sheet


def sketch(state: State, last: Any = None) -> list[Line]:
    """A position as text with coordinates; from and to of the last move stand in brackets."""
    symbols = [(".", "dim"), *zip(LETTERS, STYLES, strict=True)]
    names = [[(LETTERS[side], STYLES[side]), (f" {said(state, side)}", "")] for side in range(2)]
    board = grid([[symbols[k] for k in row] for row in cells(state)], ends(state, last) or ())
    return [names[0], *board, names[1]]
