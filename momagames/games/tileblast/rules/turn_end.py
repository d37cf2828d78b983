"""The end of a turn of MO-TileBlast: spawns, healing, spreading, deadlock (SPEC §4.9-4.12)."""

import numpy as np

from momagames.games.tileblast.rules.board import bare_basics, draw, place
from momagames.games.tileblast.rules.pieces import (
    ATTRIBUTES,
    BASIC,
    BUBBLE,
    CAGE,
    DANDELION,
    HEALS,
    SPAWN_BUBBLE,
    SPREADS,
    WEED,
)
from momagames.games.tileblast.rules.state import CELLS, HEIGHT, HIT, SPAWNERS, WIDTH
from momagames.games.tileblast.rules.taps import has_valid
from momagames.kernels.jit import kernel, local_array, noinline_kernel

TRIES = 100  # §4.12
FAR = CELLS  # farther than any cell


@noinline_kernel
def spawn(state):
    """§4.9 What the things that were hit make, in the order of the hits."""
    for k in range(np.int64(state["spawned"])):
        what = np.int64(state["spawns"][k])
        if what < SPAWNERS:
            bubble_around(state, what)
        else:
            cell = drawn_basic(state)
            if cell >= 0:
                if what == SPAWNERS + SPAWN_BUBBLE:
                    state["cover"][cell] = BUBBLE
                else:
                    place(state, cell, DANDELION, 1, 0)


@noinline_kernel
def drawn_basic(state):
    """One of the bare basics, or -1."""
    cells = local_array(CELLS)
    count = bare_basics(state, cells)
    return cells[draw(state, count)] if count else -1


@noinline_kernel
def bubble_around(state, center):
    """§4.9 A bucket: bubbles wherever there is no cover, one cell around it."""
    x, y = center % WIDTH, center // WIDTH
    for row in range(max(y - 1, 0), min(y + 2, HEIGHT)):
        for column in range(max(x - 1, 0), min(x + 2, WIDTH)):
            cell = WIDTH * row + column
            if state["active"][cell] and state["cover"][cell] == 0:
                state["cover"][cell] = BUBBLE


@noinline_kernel
def heal(state):
    """§4.10 Pieces that heal and were not hit."""
    if not state["abilities"] & HEALS:
        return
    for cell in range(CELLS):
        hurt = ATTRIBUTES[np.int64(state["kind"][cell])] & HEALS and state["hp"][cell] < state["full"][cell]
        if hurt and not state["flags"][cell] & HIT:
            state["hp"][cell] += 1


@kernel
def spread(state):
    """§4.11 Weeds that were left alone."""
    if state["abilities"] & SPREADS and state["attacked"] == 0:
        grow(state)


@noinline_kernel
def grow(state):
    """§4.11 One of the bare basics nearest to a weed becomes a weed."""
    cells, away = local_array(CELLS), local_array(CELLS)
    if not measure(state, away):
        return
    count, nearest, chosen = bare_basics(state, cells), FAR, 0
    for k in range(count):
        nearest = min(nearest, away[cells[k]])
    for k in range(count):
        if away[cells[k]] == nearest:
            cells[chosen] = cells[k]
            chosen += 1
    if chosen:
        place(state, cells[draw(state, chosen)], WEED, 1, 0)


@kernel
def measure(state, away):
    """The distance |dx| + |dy| of every cell from the nearest weed, by a pass upwards and one downwards; whether there are
    weeds. away int64[CELLS]"""
    weeds = False
    for cell in range(CELLS):
        is_weed = ATTRIBUTES[np.int64(state["kind"][cell])] & SPREADS != 0
        weeds |= is_weed
        away[cell] = 0 if is_weed else FAR
        if cell % WIDTH:
            away[cell] = min(away[cell], away[cell - 1] + 1)
        if cell >= WIDTH:
            away[cell] = min(away[cell], away[cell - WIDTH] + 1)
    for cell in range(CELLS - 1, -1, -1):
        if cell % WIDTH < WIDTH - 1:
            away[cell] = min(away[cell], away[cell + 1] + 1)
        if cell + WIDTH < CELLS:
            away[cell] = min(away[cell], away[cell + WIDTH] + 1)
    return weeds


@noinline_kernel
def rescue(state):
    """§4.12 Something to tap, if that is possible; else the board is dead."""
    if not has_valid(state):
        state["dead"] = not (shuffle(state) or lend_color(state))


@noinline_kernel
def shuffle(state):
    """§4.12 Permute the colors of the bare basics until there is something to tap; whether there is."""
    cells = local_array(CELLS)
    count, color = bare_basics(state, cells), state["color"]
    for _ in range(TRIES):
        for k in range(count - 1, 0, -1):
            j = draw(state, k + 1)
            color[cells[k]], color[cells[j]] = color[cells[j]], color[cells[k]]
        state["shuffles"] += 1
        if has_valid(state):
            return True
    return False


@noinline_kernel
def lend_color(state):
    """§4.12 The last resort: two free basics side by side get one color; whether there are two."""
    for cell in range(CELLS):
        if is_free_basic(state, cell):
            if cell % WIDTH + 1 < WIDTH and is_free_basic(state, cell + 1):
                state["color"][cell + 1] = state["color"][cell]
                return True
            if cell + WIDTH < CELLS and is_free_basic(state, cell + WIDTH):
                state["color"][cell + WIDTH] = state["color"][cell]
                return True
    return False


@kernel
def is_free_basic(state, cell):
    return state["kind"][cell] == BASIC and state["cover"][cell] != CAGE
