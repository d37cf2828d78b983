"""Pictures of MO-TileBlast: a bar with goals and progress, and the board below it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from momagames.contract import Cell, Cells, Parameter, Slide, State
from momagames.games.tileblast.rules.pieces import BASIC, BIG, CAGE, COLORS, COUNTS, KINDS
from momagames.games.tileblast.rules.state import CELLS, HEIGHT, WIDTH
from momagames.games.tileblast.view import tiles
from momagames.games.tileblast.view.art_shapes import Look
from momagames.games.tileblast.view.color_marks import INKS
from momagames.games.tileblast.view.scene import ending_text, progress_text, tap_cells
from momagames.games.tileblast.view.text import format_text
from momagames.render import canvas
from momagames.render.canvas import FAINT, INK, WHITE, Sheet

SIDE = 46  # pixels of a cell
EDGE = 22  # pixels left of the board and below it, for coordinates
BAR = 66  # pixels above the board
GLYPH = 44  # pixels of the picture of a unit
GOAL = 92  # pixels of a goal
RIGHT_MARGIN = 8  # pixels right of the board
STATUS = 150  # pixels of the progress bar and the result
WON, LOST, CUT, TRACK = (30, 122, 56), (170, 36, 32), (96, 96, 92), (224, 220, 208)

__all__ = ["OPTIONS", "draw_picture", "format_text", "pick", "point"]
OPTIONS = (
    Parameter("groups", True, "join the tiles of a group"),
    Parameter("cell", -1, "outline the tiles that a tap on this cell (x + 13 * y) bursts or joins; -1: none", -1, CELLS - 1),
)


def draw_picture(
    state: State,
    last: Any = None,
    groups: bool = True,
    cell: int = -1,
    size: int | None = None,
    hidden: Collection[Cell] = (),
) -> Sheet:
    """Return a position as an RGB image, uint8[H, W, 3].

    last     the last tapped cell, which gets a frame
    groups   join the tiles that burst together (SPEC §4.2)
    cell     outline the tiles that a tap on this cell bursts or joins; -1: none
    size     pixels of the board's width, coordinates included; None: cells of SIDE pixels
    hidden   cells (row from the top, column) that are drawn without their pieces
    """
    if hidden:
        state = state.copy()
        for row, column in hidden:
            state["kind"][WIDTH * (HEIGHT - 1 - row) + column] = 0
    side = cell_side(size)
    sheet = _draw_background(side).copy()
    draw_bar(sheet, state)
    for place in range(CELLS):
        if state["active"][place] and (not state["kind"][place] or state["anchor"][place] == place):
            drawn = tiles.draw_piece(*describe_piece(state, place, side))
            top, left = top_left(place, side, drawn.shape[0])
            canvas.place(sheet, top, left, drawn)
    if groups:
        join_tiles(sheet, state, side)
    if last is not None:
        top, left = top_left(int(last), side)
        canvas.draw_frame(sheet, top, left, side, 3, INK)
        canvas.draw_frame(sheet, top + 3, left + 3, side - 6, 2, WHITE)
    if cell >= 0:
        draw_outline(sheet, tap_cells(state, cell), side)
    return sheet


def find_slides(before: State, after: State, last: Any) -> list[Slide]:
    """§4 Return the cells that pieces of one cell fall from and to; new ones come from above.

    In each column from below, a piece is the next one of its kind and color at its cell or above it that did not burst with the
    tapped one. Basics above the last one of them are new, and all other pieces change where they are.
    """
    burst = set() if last is None else tap_cells(before, int(last))
    found: list[Slide] = []
    for x in range(WIDTH):
        cells = [cell for cell in range(x, CELLS, WIDTH) if after["active"][cell]]
        old = [cell for cell in cells if before["kind"][cell] and cell not in burst]
        entering = 0
        for cell in cells:
            if not after["kind"][cell] or KINDS[int(after["kind"][cell])].attributes & BIG:
                continue
            above = (other for other in old if other >= cell and _is_like(before, other, after, cell))
            source = next(above, None)
            end = HEIGHT - 1 - cell // WIDTH, x
            if source is not None:
                old = [other for other in old if other > source]
                if source != cell:
                    found.append(((HEIGHT - 1 - source // WIDTH, x), end))
            elif not old and after["kind"][cell] == BASIC:
                entering += 1
                found.append(((HEIGHT - 1 - cells[-1] // WIDTH - entering, x), end))
    return found


def _is_like(before: State, source: int, after: State, cell: int) -> bool:
    return all(before[name][source] == after[name][cell] for name in ("kind", "color"))


def locate_cells(state: State, size: int | None) -> Cells:
    """Return where the cells are in a picture."""
    return Cells(BAR, EDGE, cell_side(size), HEIGHT, WIDTH)


def cell_side(size: int | None = None) -> int:
    """Return the pixels of a cell side."""
    return SIDE if size is None else canvas.fit_cells(WIDTH, EDGE, size)


def point(state: State, x: float, y: float, size: int | None = None) -> Mapping[str, Any]:
    """Return the render options for a pointer at pixel (x, y): the outline of the tiles that a tap there bursts."""
    cell = cell_at((x, y), cell_side(size))
    return {} if cell is None else {"cell": cell}


def pick(state: State, pressed: tuple[float, float], released: tuple[float, float]) -> int | None:
    """Return the tap of a mouse that was pressed and released in one cell of a picture."""
    cell = cell_at(pressed)
    return cell if cell == cell_at(released) else None


def cell_at(place: tuple[float, float], side: int = SIDE) -> int | None:
    """Return the cell of a pixel (x, y) of a picture, None beside the board."""
    position = canvas.cell_at(place, BAR, EDGE, side, HEIGHT, WIDTH)
    return None if position is None else WIDTH * (HEIGHT - 1 - position[0]) + position[1]


def top_left(cell: int, side: int = SIDE, high: int = 0) -> tuple[int, int]:
    """Return top and left of a picture, `high` pixels high or as high as a cell, with its lower left corner in a cell."""
    return BAR + (HEIGHT - cell // WIDTH) * side - (high or side), EDGE + cell % WIDTH * side


def describe_piece(state: State, cell: int, side: int = SIDE) -> tuple[int, Look, int]:
    """Return pixels, look and cover of the piece with its anchor in a cell."""
    kind = int(state["kind"][cell])
    attributes = KINDS[kind].attributes
    word = int(state["counters"][cell]) if attributes & COUNTS else 0
    counts = tuple(word >> 4 * k & 15 for k in range(len(COLORS))) if word else ()
    look = Look(kind, int(state["hp"][cell]), int(state["full"][cell]), int(state["color"][cell]), counts)
    return side * (2 if attributes & BIG else 1), look, int(state["cover"][cell])


def draw_outline(sheet: Sheet, cells: set[int], side: int) -> None:
    """Draw a line around a set of cells."""
    for cell in cells:
        top, left = top_left(cell, side)
        x = cell % WIDTH
        bottom, right = top + side, left + side
        for inside, edge in (
            (x > 0 and cell - 1 in cells, (top, left - 2, bottom, left + 2)),
            (x < WIDTH - 1 and cell + 1 in cells, (top, right - 2, bottom, right + 2)),
            (cell + WIDTH in cells, (top - 2, left - 2, top + 2, right + 2)),
            (cell - WIDTH in cells, (bottom - 2, left - 2, bottom + 2, right + 2)),
        ):
            if not inside:
                canvas.fill(sheet, *edge, INK)


def join_tiles(sheet: Sheet, state: State, side: int) -> None:
    """Fill the gaps between free basics of a color."""
    free = (state["kind"] == BASIC) & (state["cover"] != CAGE)
    color = np.where(free, state["color"], 0).reshape(HEIGHT, WIDTH)
    beside, above = color[:, :-1] * (color[:, :-1] == color[:, 1:]), color[:-1] * (color[:-1] == color[1:])
    square = beside[:-1] * (beside[:-1] == beside[1:]) * (above[:, :-1] == above[:, 1:])
    wide, upper, lower, rest = (round(part * side) for part in (0.05, 0.1, 0.09, 0.21))
    for pairs, right, up in ((beside, True, False), (above, False, True), (square, True, True)):
        for y, x in np.argwhere(pairs).tolist():
            top, left = top_left(y * WIDTH + x, side)
            rows = (top - upper, top + lower) if up else (top + rest, top + side - rest)
            columns = (left + side - wide, left + side + wide) if right else (left + rest, left + side - rest)
            if up and right:  # the middle of four tiles
                rows, columns = (top - rest, top + rest), (left + side - rest, left + side + rest)
            canvas.fill(sheet, rows[0], columns[0], rows[1], columns[1], INKS[color[y, x]])


@canvas.cache_drawing(maxsize=16)
def _draw_background(side: int) -> Sheet:
    """Return the constant part of pictures: coordinates."""
    sheet = canvas.blank(BAR + HEIGHT * side + EDGE, EDGE + WIDTH * side + RIGHT_MARGIN)
    for x in range(WIDTH):
        canvas.write(sheet, EDGE + (x + 0.5) * side, BAR + HEIGHT * side + EDGE / 2, str(x), 12, FAINT, "center")
    for y in range(HEIGHT):
        canvas.write(sheet, EDGE - 6, BAR + (HEIGHT - y - 0.5) * side, str(y), 12, FAINT, "right")
    return sheet


# --------------------------------------------------------------------------------------------------------------------- bar


def draw_bar(sheet: Sheet, state: State) -> None:
    """Draw goals with their remaining units on the left; moves, score and the result of the game on the right."""
    for k in range(int(state["goals"])):
        left, top = EDGE + k * GOAL, 8
        glyph = tiles.draw_unit(GLYPH, int(state["goal_units"][k]), int(state["goal_color"][k]))
        rest = int(state["rest"][k])
        canvas.place(sheet, top, left, glyph, 1.0 if rest else 0.45)
        if rest:
            canvas.write(sheet, left + GLYPH + 6, top + GLYPH / 2, str(rest), 22)
        else:
            draw_tick(sheet, left + GLYPH + 6, top + GLYPH / 2)
    right, limit = sheet.shape[1] - RIGHT_MARGIN, max(1, int(state["limit"]))
    canvas.write(sheet, right, 13, progress_text(state), 17, INK, "right")
    canvas.write(sheet, right, 33, f"score {int(state['score'])}", 13, FAINT, "right")
    text = ending_text(state)
    if text:
        ground = WON if state["won"] else CUT if state["truncated"] else LOST
        canvas.fill(sheet, 43, right - STATUS, 62, right, ground)
        canvas.write(sheet, right - STATUS / 2, 53, text, 14, WHITE, "center")
    else:
        canvas.fill(sheet, 48, right - STATUS, 53, right, TRACK)
        done = min(1.0, int(state["moves"]) / limit)
        canvas.fill(sheet, 48, right - STATUS, 53, right - STATUS + round(STATUS * done), FAINT)


def draw_tick(sheet: Sheet, x: float, y: float) -> None:
    """Draw the mark of a reached goal."""
    canvas.draw_line(sheet, (x + 2, y + 1), (x + 8, y + 8), 4, WON)
    canvas.draw_line(sheet, (x + 8, y + 8), (x + 21, y - 9), 4, WON)
