"""Images and texts of MO-Breakthrough. Row 0, the home of player_0, is on top in both."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from momagames.contract import Cell, Cells, Line, Slide, State
from momagames.games import duel_board
from momagames.games.breakthrough.codec import PLAYERS, unpack_board
from momagames.games.duel_board import DuelBoard
from momagames.render import canvas, shapes
from momagames.render.text import grid

MIN_WIDTH = 150  # smallest width of the names in pixels
LIGHT, DARK, MARK = (240, 233, 218), (226, 215, 193), (250, 222, 110)
SIDES = (canvas.color("#1f5fa8"), canvas.color("#e07b00"))
STYLES = ("bold #ffffff on #1f5fa8", "bold #000000 on #e07b00")
SYMBOLS_BY_SIDE = "VA"  # arrowheads in the direction of movement
DIRECTIONS = ("down", "up")


def last_move_cells(state: State, last: Any) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the start and target cells of the last move as (row, column); None for no move."""
    if last is None:
        return None
    height, width, mover = int(state["height"]), int(state["width"]), 1 - int(state["to_move"])
    action = int(last)
    if state["canonical"] and mover == 1:
        action = 3 * width * height - 1 - action
    cell, direction = divmod(action, 3)
    x, y = divmod(cell, height)
    return (y, x), (y + 1 - 2 * mover, x + direction - 1)


def describe_player(state: State, side: int) -> str:
    """Describe a player: its direction, or its result when the game is over."""
    if state["over"]:
        return f"{PLAYERS[side]} {'lost' if side == int(state['to_move']) else 'won'}"
    return f"{PLAYERS[side]} goes {DIRECTIONS[side]}"


def describe_result(state: State) -> str:
    """Describe the end of a game."""
    return describe_player(state, 1 - int(state["to_move"]))


def draw_picture(state: State, last: Any = None, size: int | None = None, hidden: Collection[Cell] = ()) -> canvas.Sheet:
    """Draw a position as an RGB image, uint8[H, W, 3].

    last     the last action: its two cells are colored and joined by a line
    size     pixels that the board takes on its longer side, names and coordinates included; None: `canvas.LONG_SIDE`
    hidden   cells that are drawn without their pieces
    """
    board = canvas.clear_cells(unpack_board(state), hidden)
    height, width = board.shape
    frame = measure_board(height, width, size)
    top, left, side = frame.cells[:3]
    sheet = _draw_background(frame).copy()
    ground = (np.indices(board.shape).sum(axis=0)) % 2
    move = last_move_cells(state, last)
    if move:
        ground[move[0]] = ground[move[1]] = 2
    canvas.place(sheet, top, left, canvas.mosaic(_draw_tiles(side), 3 * board + ground))
    if move:
        (y0, x0), (y1, x1) = ((top + (y + 0.5) * side, left + (x + 0.5) * side) for y, x in move)
        reach = 1 - 0.4 / max(abs(y1 - y0), abs(x1 - x0)) * side  # up to the edge of the piece that moved
        canvas.draw_line(sheet, (x0, y0), (x0 + reach * (x1 - x0), y0 + reach * (y1 - y0)), max(2, side // 12), canvas.INK)
    frame.write_names(sheet, [describe_player(state, player) for player in range(2)])
    return sheet


def find_slides(before: State, after: State, last: Any) -> list[Slide]:
    """Return the cells of the last move."""
    move = last_move_cells(after, last)
    return [move] if move and unpack_board(after)[move[1]] == unpack_board(before)[move[0]] else []


def locate_cells(state: State, size: int | None) -> Cells:
    """Return where the cells are in a picture."""
    return measure_board(int(state["height"]), int(state["width"]), size).cells


def pick(state: State, pressed: tuple[float, float], released: tuple[float, float]) -> int | None:
    """Return the action of a mouse drag from a piece to its target cell."""
    height, width, mover = int(state["height"]), int(state["width"]), int(state["to_move"])
    top, left, side = locate_cells(state, None)[:3]
    first, last = (canvas.cell_at(place, top, left, side, height, width) for place in (pressed, released))
    if first is None or last is None or last[0] - first[0] != 1 - 2 * mover or abs(last[1] - first[1]) > 1:
        return None
    action = 3 * (first[1] * height + first[0]) + last[1] - first[1] + 1
    return 3 * width * height - 1 - action if state["canonical"] and mover == 1 else action


def measure_board(height: int, width: int, size: int | None = None) -> DuelBoard:
    """Return where the parts of a picture are."""
    return DuelBoard(height, width, duel_board.fit_side(height, width, size), MIN_WIDTH)


@canvas.cache_drawing(maxsize=32)
def _draw_tiles(side: int) -> canvas.Tiles:
    """Draw an empty cell, player_0 and player_1, each on light, dark and marked ground: uint8[9, side, side, 3]."""
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
    return canvas.join_tiles([canvas.paint(side, paper, *piece) for piece in pieces for paper in (LIGHT, DARK, MARK)])


@canvas.cache_drawing(maxsize=16)
def _draw_background(frame: DuelBoard) -> canvas.Sheet:
    """Draw the static part: coordinates, and the pieces beside the names."""
    signs = _draw_tiles(duel_board.SIGN)
    return frame.draw_background([signs[3], signs[6]])


def format_text(state: State, last: Any = None) -> list[Line]:
    """Return a position as text with coordinates; the start and target cells of the last move are in brackets."""
    symbols = [(".", "dim"), *zip(SYMBOLS_BY_SIDE, STYLES, strict=True)]
    names = [[(SYMBOLS_BY_SIDE[side], STYLES[side]), (f" {describe_player(state, side)}", "")] for side in range(2)]
    board = grid([[symbols[k] for k in row] for row in unpack_board(state)], last_move_cells(state, last) or ())
    return [names[0], *board, names[1]]
