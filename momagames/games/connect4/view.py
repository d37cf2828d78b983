"""Images and texts of MO-Connect4: a board with holes, into which tokens fall."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Cell, Cells, Keys, Line, Slide, State
from momagames.games import duel_board
from momagames.games.connect4.codec import PLAYERS, SYMBOLS, find_line, unpack_board
from momagames.games.duel_board import DuelBoard
from momagames.render import canvas, shapes
from momagames.render.text import grid

MIN_WIDTH = 190  # smallest width of the names in pixels
FRAME, RIM = canvas.color("#3468ad"), canvas.color("#244d85")
HOLE, DARK_HOLE = canvas.color("#f4f1ea"), canvas.color("#101a28")
SIDES = (canvas.color("#f6c945"), canvas.color("#a81c2a"))
SHADES = (canvas.color("#d9a520"), canvas.color("#7a0f1b"))
STYLES = ("bold #000000 on #f6c945", "bold #ffffff on #a81c2a")
TOKENS = "OX"


def find_winner(state: State, board: NDArray[np.int64]) -> int | None:
    """Return the side that has won; None before the end and in a draw."""
    last_mover = 1 - int(state["to_move"])
    is_draw = board.all() and not find_line(board, last_mover)
    return None if not state["over"] or is_draw else last_mover


def describe_player(state: State, side: int) -> str:
    """Describe a player: whether it is to move, or its result when the game is over."""
    if not state["over"]:
        return f"{PLAYERS[side]} is to move" if side == int(state["to_move"]) else PLAYERS[side]
    winner = find_winner(state, unpack_board(state))
    return f"{PLAYERS[side]} {'drew' if winner is None else 'won' if winner == side else 'lost'}"


def describe_result(state: State) -> str:
    """Describe the end of a game."""
    winner = find_winner(state, unpack_board(state))
    return "draw" if winner is None else f"{PLAYERS[winner]} won"


def find_last_cell(board: NDArray[np.int64], last: Any) -> Cell | None:
    """Return the cell (row, column) of the last token; None for no move."""
    if last is None or not 0 <= int(last) < board.shape[1] or not board[:, int(last)].any():
        return None
    return int((board[:, int(last)] > 0).argmax()), int(last)


def draw_picture(state: State, last: Any = None, size: int | None = None, hidden: Collection[Cell] = ()) -> canvas.Sheet:
    """Draw a position as an RGB image, uint8[H, W, 3].

    last     the last action: its token is marked
    size     pixels that the board takes on its longer side, names and coordinates included; None: `canvas.LONG_SIDE`
    hidden   cells that are drawn without their tokens
    """
    whole = unpack_board(state)
    board = canvas.clear_cells(whole, hidden)
    height, width = board.shape
    frame = measure_board(height, width, size)
    top, left, side = frame.cells[:3]
    sheet = _draw_background(frame).copy()
    tiles = board.copy()
    if (cell := find_last_cell(board, last)) is not None:
        tiles[cell] += 2
    canvas.place(sheet, top, left, canvas.mosaic(_draw_tiles(side), tiles))
    if state["over"] and (line := find_line(board, 1 - int(state["to_move"]))):
        start, end = ((left + (x + 0.5) * side, top + (y + 0.5) * side) for y, x in (line[0], line[-1]))
        canvas.draw_line(sheet, start, end, max(4, side // 8), canvas.WHITE)
    frame.write_names(sheet, [describe_player(state, player) for player in range(2)])
    return sheet


def find_slides(before: State, after: State, last: Any) -> list[Slide]:
    """Return the fall of the last token, from above the board."""
    board = unpack_board(after)
    cell = find_last_cell(board, last)
    return [] if cell is None or unpack_board(before)[cell] else [((-1, cell[1]), cell)]


def locate_cells(state: State, size: int | None) -> Cells:
    """Return where the cells are in a picture."""
    return measure_board(int(state["height"]), int(state["width"]), size).cells


def pick(state: State, pressed: tuple[float, float], released: tuple[float, float]) -> int | None:
    """Return the column of a mouse click, on the board or on the coordinates above and below it."""
    top, left, side, height, width = locate_cells(state, None)
    is_near = all(top - duel_board.EDGE <= y < top + height * side + duel_board.EDGE for _, y in (pressed, released))
    first, last = (canvas.cell_at((x, top), top, left, side, height, width) for x, _ in (pressed, released))
    return last[1] if is_near and last is not None and first == last else None


def make_keys(width: int) -> Keys:
    """Return the keys of the first ten columns."""
    return Keys({str(x): ((0,), x) for x in range(min(width, 10))}, "digit: drop a token into this column")


def measure_board(height: int, width: int, size: int | None = None) -> DuelBoard:
    """Return where the parts of a picture are."""
    return DuelBoard(height, width, duel_board.fit_side(height, width, size), MIN_WIDTH)


@canvas.cache_drawing(maxsize=32)
def _draw_tiles(side: int) -> canvas.Tiles:
    """Draw a hole, the tokens of player_0 (a ring) and player_1 (a cross), and both marked: uint8[5, side, side, 3]."""
    ring = (shapes.disc(0.25, SHADES[0], 0.17, SIDES[0]),)
    cross = tuple(
        shapes.polygon(
            [(0.5 + s * a, 0.5 + b) for a, b in ((-0.21, -0.14), (-0.14, -0.21), (0.21, 0.14), (0.14, 0.21))], SHADES[1]
        )
        for s in (1, -1)
    )
    pieces: list[tuple[canvas.Painter, ...]] = [(shapes.disc(0.43, RIM), shapes.disc(0.4, canvas.shade(HOLE, DARK_HOLE)))]
    for rims in (SHADES, (canvas.WHITE, canvas.WHITE)):
        for player, sign in enumerate((ring, cross)):
            pieces.append((shapes.disc(0.43, rims[player]), shapes.disc(0.37, SIDES[player]), *sign))
    return canvas.join_tiles([canvas.paint(side, FRAME, *piece) for piece in pieces])


@canvas.cache_drawing(maxsize=16)
def _draw_background(frame: DuelBoard) -> canvas.Sheet:
    """Draw the static part: coordinates, and the tokens beside the names."""
    signs = _draw_tiles(duel_board.SIGN)
    return frame.draw_background([signs[1], signs[2]])


def format_text(state: State, last: Any = None) -> list[Line]:
    """Return a position as text with coordinates; the last token is in brackets."""
    board = unpack_board(state)
    symbols = [(SYMBOLS[0], "dim"), *zip(TOKENS, STYLES, strict=True)]
    names: list[Line] = [[(TOKENS[side], STYLES[side]), (f" {describe_player(state, side)}", "")] for side in range(2)]
    cell = find_last_cell(board, last)
    return [names[0], *grid([[symbols[k] for k in row] for row in board], () if cell is None else (cell,)), names[1]]
