"""End of a turn of MO-TileBlast: spawns, healing, spreading, deadlock (SPEC §4.9-4.12)."""

import numpy as np

from momagames.games.tileblast.rules.board import draw, list_bare_basics, place_piece
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
from momagames.games.tileblast.rules.taps import has_valid_tap
from momagames.kernels.jit import kernel, local_array, noinline_kernel

MAX_SHUFFLES = 100  # §4.12
FAR = CELLS  # larger than any distance


@noinline_kernel
def process_spawns(state):
    """§4.9 Place the pieces and covers of the list of spawns, in the order of the hits."""
    for k in range(np.int64(state["spawned"])):
        what = np.int64(state["spawns"][k])
        if what < SPAWNERS:
            add_bubbles_around(state, what)
        else:
            cell = draw_bare_basic(state)
            if cell >= 0:
                if what == SPAWNERS + SPAWN_BUBBLE:
                    state["cover"][cell] = BUBBLE
                else:
                    place_piece(state, cell, DANDELION, 1, 0)


@noinline_kernel
def draw_bare_basic(state):
    """Return the cell of a random bare basic, or -1."""
    cells = local_array(CELLS)
    count = list_bare_basics(state, cells)
    return cells[draw(state, count)] if count else -1


@noinline_kernel
def add_bubbles_around(state, center):
    """§4.9 Apply a bucket: add bubbles to cells without a cover, one cell around it."""
    x, y = center % WIDTH, center // WIDTH
    for row in range(max(y - 1, 0), min(y + 2, HEIGHT)):
        for column in range(max(x - 1, 0), min(x + 2, WIDTH)):
            cell = WIDTH * row + column
            if state["active"][cell] and state["cover"][cell] == 0:
                state["cover"][cell] = BUBBLE


@noinline_kernel
def heal_pieces(state):
    """§4.10 Heal pieces that were not hit."""
    if not state["abilities"] & HEALS:
        return
    for cell in range(CELLS):
        hurt = ATTRIBUTES[np.int64(state["kind"][cell])] & HEALS and state["hp"][cell] < state["full"][cell]
        if hurt and not state["flags"][cell] & HIT:
            state["hp"][cell] += 1


@kernel
def spread_weeds(state):
    """§4.11 Spread weeds if none was attacked."""
    if state["abilities"] & SPREADS and state["attacked"] == 0:
        grow_weed(state)


@noinline_kernel
def grow_weed(state):
    """§4.11 Turn one of the bare basics nearest to a weed into a weed."""
    cells, distances = local_array(CELLS), local_array(CELLS)
    if not write_weed_distances(state, distances):
        return
    count, nearest, chosen = list_bare_basics(state, cells), FAR, 0
    for k in range(count):
        nearest = min(nearest, distances[cells[k]])
    for k in range(count):
        if distances[cells[k]] == nearest:
            cells[chosen] = cells[k]
            chosen += 1
    if chosen:
        place_piece(state, cells[draw(state, chosen)], WEED, 1, 0)


@kernel
def write_weed_distances(state, distances):
    """Write the distance |dx| + |dy| of every cell from the nearest weed, in one pass upwards and one downwards.
    Return whether there are weeds. distances int64[CELLS]
    """
    weeds = False
    for cell in range(CELLS):
        is_weed = ATTRIBUTES[np.int64(state["kind"][cell])] & SPREADS != 0
        weeds |= is_weed
        distances[cell] = 0 if is_weed else FAR
        if cell % WIDTH:
            distances[cell] = min(distances[cell], distances[cell - 1] + 1)
        if cell >= WIDTH:
            distances[cell] = min(distances[cell], distances[cell - WIDTH] + 1)
    for cell in range(CELLS - 1, -1, -1):
        if cell % WIDTH < WIDTH - 1:
            distances[cell] = min(distances[cell], distances[cell + 1] + 1)
        if cell + WIDTH < CELLS:
            distances[cell] = min(distances[cell], distances[cell + WIDTH] + 1)
    return weeds


@noinline_kernel
def resolve_deadlock(state):
    """§4.12 Make a valid tap if there is none; mark the board as dead if that is impossible."""
    if not has_valid_tap(state):
        state["dead"] = not (shuffle_colors(state) or match_one_pair(state))


@noinline_kernel
def shuffle_colors(state):
    """§4.12 Permute the colors of the bare basics until there is a valid tap; return whether there is one."""
    cells = local_array(CELLS)
    count, color = list_bare_basics(state, cells), state["color"]
    for _ in range(MAX_SHUFFLES):
        for k in range(count - 1, 0, -1):
            j = draw(state, k + 1)
            color[cells[k]], color[cells[j]] = color[cells[j]], color[cells[k]]
        state["shuffles"] += 1
        if has_valid_tap(state):
            return True
    return False


@noinline_kernel
def match_one_pair(state):
    """§4.12 Give two neighboring free basics one color; return whether there are two."""
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
    """§1.3 Return whether there is a basic without a cage."""
    return state["kind"][cell] == BASIC and state["cover"][cell] != CAGE
