"""Power pieces of MO-TileBlast (SPEC §4.3, §4.4)."""

import numpy as np

from momagames.games.tileblast.rules.bitset import count_cells, first_cell, flood_fill, remove_first
from momagames.games.tileblast.rules.board import draw, place_piece, remove_piece
from momagames.games.tileblast.rules.damage import clear_basic, damage_piece, hit_neighbors, remove_cover
from momagames.games.tileblast.rules.goals import credit_goals
from momagames.games.tileblast.rules.pieces import (
    ATTRIBUTES,
    BASIC,
    BLAST,
    BOMB,
    CAGE,
    FLASK,
    POWER,
    ROCKET_H,
    ROCKET_V,
    UNIT_CAGE,
)
from momagames.games.tileblast.rules.state import CELLS, LIT, WIDTH
from momagames.games.tileblast.rules.taps import free_basics, free_powers, with_color
from momagames.kernels.jit import kernel, noinline_kernel

ROW, COLUMN, CROSS, ROWS, COLUMNS, BOMB_AREA, SQUARE, WHOLE_BOARD = range(8)  # areas
BEAM_ROW, BEAM_COLUMN = 1, 2


@noinline_kernel
def tap_power(state, cell):
    """§4.3 Light a single power piece, or combine several connected ones."""
    low, high = free_powers(state)
    low, high = flood_fill(cell, low, high)
    if count_cells(low, high) == 1:
        light_power(state, cell)
    else:
        combine_powers(state, cell, low, high)


@noinline_kernel
def combine_powers(state, cell, low, high):
    """§4.3 Use several connected power pieces at once, around the tapped cell."""
    flasks, bombs = 0, 0
    flask = cell if state["kind"][cell] == FLASK else -1
    rocket = cell if state["kind"][cell] in (ROCKET_H, ROCKET_V) else -1
    color, is_horizontal = 0, False
    a, b = low, high
    while a | b:
        at = first_cell(a, b)
        kind = state["kind"][at]
        flasks += kind == FLASK
        bombs += kind == BOMB
        if flask < 0 and kind == FLASK:
            flask = at
        if rocket < 0 and kind in (ROCKET_H, ROCKET_V):
            rocket = at
        a, b = remove_first(a, b)
    if flask >= 0:
        color = np.int64(state["color"][flask])
    if rocket >= 0:
        is_horizontal = state["kind"][rocket] == ROCKET_H
    while low | high:
        use_power(state, first_cell(low, high))
        low, high = remove_first(low, high)
    state["combo"] = 1
    if flasks >= 2:
        apply_area(state, WHOLE_BOARD, cell)
    elif flasks:
        convert_basics(state, color, bombs > 0)
    elif bombs >= 2:
        apply_area(state, SQUARE, cell)
    elif bombs:
        apply_area(state, ROWS if is_horizontal else COLUMNS, cell)
    else:
        apply_area(state, CROSS, cell)


@noinline_kernel
def use_power(state, cell):
    """§4.3, §4.4 Use up a power piece."""
    kind, color = np.int64(state["kind"][cell]), np.int64(state["color"][cell])
    remove_piece(state, cell)
    state["used"] += 1
    credit_goals(state, kind, color)


@noinline_kernel
def light_power(state, cell):
    """§4.4 Append a power piece to the queue."""
    state["flags"][cell] |= LIT
    state["queue"][state["queued"]] = cell
    state["queued"] += 1


@noinline_kernel
def convert_basics(state, color, to_bombs):
    """§4.3 Turn every free basic of a color into a lit power piece."""
    for cell in range(CELLS):
        if state["kind"][cell] == BASIC and state["color"][cell] == color and state["cover"][cell] != CAGE:
            clear_basic(state, cell)
            if to_bombs:
                place_piece(state, cell, BOMB, 1, 0)
            else:
                place_piece(state, cell, ROCKET_V if draw(state, 2) else ROCKET_H, 1, 0)
            light_power(state, cell)


@noinline_kernel
def process_queue(state):
    """§4.4 Apply the effects of lit pieces, in the order in which they were lit."""
    done = 0
    while done < state["queued"]:
        cell = np.int64(state["queue"][done])
        kind, color = state["kind"][cell], np.int64(state["color"][cell])
        done += 1
        use_power(state, cell)
        if kind == FLASK:
            apply_flask(state, color)
        else:
            apply_area(state, ROW if kind == ROCKET_H else COLUMN if kind == ROCKET_V else BOMB_AREA, cell)


@noinline_kernel
def apply_flask(state, color):
    """§4.4 Apply a flask: clear all basics of its color, then make one wave from the cleared cells."""
    low, high = free_basics(state)
    low, high = with_color(state, color, low, high)
    for cell in range(CELLS):
        if state["kind"][cell] == BASIC and state["color"][cell] == color:
            if state["cover"][cell] == CAGE:
                remove_cover(state, cell, UNIT_CAGE)
            else:
                clear_basic(state, cell)
    hit_neighbors(state, low, high, color)


@kernel
def cover_offset(area, right, up):
    """§4.3, §4.4 Return whether an area holds the cell at this offset from its center, and BEAM_... or 0."""
    columns, rows = abs(right), abs(up)
    if area == ROW:
        return up == 0, BEAM_ROW
    if area == COLUMN:
        return right == 0, BEAM_COLUMN
    if area == CROSS:
        return up == 0 or right == 0, BEAM_ROW if up == 0 else BEAM_COLUMN
    if area == ROWS:
        return rows <= 1, BEAM_ROW
    if area == COLUMNS:
        return columns <= 1, BEAM_COLUMN
    if area == BOMB_AREA:
        return columns <= 2 and rows <= 2 and columns + rows < 4, 0
    if area == SQUARE:
        return columns <= 3 and rows <= 3, 0
    return True, 0


@noinline_kernel
def apply_area(state, area, center):
    """§4.4 Hit the cells of an area around a cell, ascending; nothing stops it."""
    state["effects"] += 1
    x, y = center % WIDTH, center // WIDTH
    for cell in range(CELLS):
        inside, beam = cover_offset(area, cell % WIDTH - x, cell // WIDTH - y)
        if inside:
            hit_cell(state, cell, beam)


@kernel
def hit_cell(state, cell, beam):
    """§4.4 Apply an area effect to one cell."""
    kind = np.int64(state["kind"][cell])
    attributes = ATTRIBUTES[kind]
    if state["cover"][cell] == CAGE:
        remove_cover(state, cell, UNIT_CAGE)
    elif kind == BASIC:
        clear_basic(state, cell)
    elif attributes & POWER:
        if not state["flags"][cell] & LIT:
            if kind == ROCKET_H and beam == BEAM_ROW:
                state["kind"][cell] = ROCKET_V
            elif kind == ROCKET_V and beam == BEAM_COLUMN:
                state["kind"][cell] = ROCKET_H
            light_power(state, cell)
    elif attributes & BLAST:
        anchor = np.int64(state["anchor"][cell])
        if state["touched"][anchor] != state["effects"]:
            state["touched"][anchor] = state["effects"]
            damage_piece(state, anchor, 0)
