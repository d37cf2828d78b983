"""Settling of the board of MO-TileBlast (SPEC §4.7, §4.8)."""

import numpy as np

from momagames.games.tileblast.rules.board import clear_cell, draw, draw_color, place_piece, remove_piece
from momagames.games.tileblast.rules.goals import credit_goals
from momagames.games.tileblast.rules.pieces import ATTRIBUTES, BASIC, BIG, CAGE, DROP, FALLS
from momagames.games.tileblast.rules.state import CELLS, HEIGHT, NOWHERE, WIDTH
from momagames.kernels.jit import kernel, noinline_kernel


@noinline_kernel
def settle_board(state):
    """§4.7 Apply falls, drops and refill until nothing changes."""
    again = True
    while again:
        apply_gravity(state)
        again = state["abilities"] & DROP and remove_leaving_drops(state)
        if not again:
            again = refill_columns(state)


@noinline_kernel
def apply_gravity(state):
    """§4.7 a) Repeat passes until one moves nothing. After a pass in which no piece of size 2 moved, all others lie still."""
    if state["abilities"] & DROP:
        moved = True
        while moved:
            moved = False
            for cell in range(CELLS):
                attributes = ATTRIBUTES[np.int64(state["kind"][cell])]
                if attributes & FALLS and state["cover"][cell] != CAGE:
                    if attributes & BIG:
                        moved |= fall_big(state, cell)
                    else:
                        fall_small(state, cell)
    else:
        for x in range(WIDTH):
            fall_column(state, x)


@kernel
def fall_small(state, cell):
    """Move a piece of size 1 down past inactive cells, while the next active cell is empty."""
    to = cell
    below = np.int64(state["below"][cell])
    while below != NOWHERE and state["kind"][below] == 0:
        to = below
        below = np.int64(state["below"][to])
    if to != cell:
        move_cell(state, cell, to)
        state["anchor"][to] = to


@kernel
def fall_column(state, x):
    """Move the falling pieces of a column down, the lowest first. All of them have size 1."""
    kind, active, cover = state["kind"], state["active"], state["cover"]
    to = -1  # the lowest empty cell below the next piece
    for cell in range(x, CELLS, WIDTH):
        if active[cell]:
            if kind[cell] == 0:
                if to < 0:
                    to = cell
            elif to >= 0:
                if ATTRIBUTES[np.int64(kind[cell])] & FALLS and cover[cell] != CAGE:
                    move_cell(state, cell, to)
                    state["anchor"][to] = to
                    to += WIDTH
                    while not active[to]:
                        to += WIDTH
                else:
                    to = -1


@kernel
def move_cell(state, cell, to):
    """Move the piece fields of a cell to another cell."""
    state["kind"][to] = state["kind"][cell]
    state["hp"][to] = state["hp"][cell]
    state["full"][to] = state["full"][cell]
    state["color"][to] = state["color"][cell]
    state["flags"][to] = state["flags"][cell]
    clear_cell(state, cell)


@noinline_kernel
def fall_big(state, cell):
    """Move a piece of size 2 down by rows of active cells; return whether it moved."""
    moved = False
    if state["anchor"][cell] != cell:
        return moved
    anchor = cell
    while anchor >= WIDTH:
        low = anchor - WIDTH
        for at in (low, low + 1):
            if state["active"][at] == 0 or state["kind"][at]:
                return moved
        for at in (anchor, anchor + 1, anchor + WIDTH, anchor + WIDTH + 1):
            move_cell(state, at, at - WIDTH)
            state["anchor"][at - WIDTH] = low
        state["counters"][low] = state["counters"][anchor]
        state["counters"][anchor] = 0
        anchor = low
        moved = True
    return moved


@noinline_kernel
def remove_leaving_drops(state):
    """§4.7 b) Remove drops at the bottom; return whether there were any."""
    left = False
    for cell in range(CELLS):
        kind = np.int64(state["kind"][cell])
        if ATTRIBUTES[kind] & DROP and state["anchor"][cell] == cell and state["cover"][cell] != CAGE:
            out = state["below"][cell] == NOWHERE
            if ATTRIBUTES[kind] & BIG:
                out = out and state["below"][cell + 1] == NOWHERE
            if out:
                state["hits"] += state["hp"][cell]
                remove_piece(state, cell)
                credit_goals(state, kind, 0)
                left = True
    return left


@kernel
def refill_columns(state):
    """§4.7 c) Add new pieces from above; return whether a drop was among them."""
    came = False
    for x in range(WIDTH):
        lowest, y = HEIGHT, HEIGHT - 1
        while y >= 0:
            cell = WIDTH * y + x
            if state["active"][cell]:
                if state["kind"][cell]:
                    break
                lowest = y
            y -= 1
        for y in range(lowest, HEIGHT):
            if state["active"][WIDTH * y + x]:
                came |= add_new_piece(state, WIDTH * y + x)
    return came


@kernel
def add_new_piece(state, cell):
    """§4.8 Add a new piece; return whether it is a drop."""
    for feed in range(np.int64(state["feeds"])):
        kind = np.int64(state["feed_kind"][feed])
        may = state["fed"][feed] < state["feed_total"][feed] and count_kind(state, kind) < state["feed_on_board"][feed]
        if may and draw(state, 1000) < np.int64(state["feed_per_mille"][feed]):
            place_piece(state, cell, kind, state["feed_hp"][feed], state["feed_color"][feed])
            state["fed"][feed] += 1
            return (ATTRIBUTES[kind] & DROP) != 0
    place_piece(state, cell, BASIC, 1, draw_color(state))
    return False


@noinline_kernel
def count_kind(state, kind):
    """Return the number of cells that hold a kind."""
    count = 0
    for cell in range(CELLS):
        count += state["kind"][cell] == kind
    return count
