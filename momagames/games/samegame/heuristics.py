# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Estimates of the future return in MO-SameGame. Both kernels write float64[K] to `out`: a value for each color, or for all."""

import numpy as np

from momagames.games.samegame.move_codes import mark_group
from momagames.games.samegame.rules import COLOR, FIRST, GONE, GUARD, MAX_COLORS, NOTHING, ODD, ONE, SAME, find_groups
from momagames.kernels.grid import bit_count
from momagames.kernels.jit import equal_mask64, kernel, local_array, value_mask64

FEATURE_NAMES = ("all tiles squared", "groups squared", "tiles in groups", "groups", "largest group squared")


@kernel
def optimistic(state, out):
    """Write an upper bound: all tiles of a color are removed at once, and the board is emptied."""
    board = state["board"]
    cells = np.int64(state["width"]) * np.int64(state["height"])
    out[:] = 0.0
    for color in range(1, np.int64(state["colors"]) + 1):
        tiles = 0
        for start in range(0, cells, 64):  # the guard rows are empty
            tiles += bit_count(value_mask64(board, GUARD + start, COLOR, np.uint8(color)))
        if tiles > 1:
            out[color - 1 if state["color_rewards"] else 0] += tiles * tiles + state["clear_bonus"]


@kernel
def present(state, out):
    """Write the sum of the squared sizes of the present groups. Overwrites the state."""
    out[:] = 0.0
    ignored = local_array(MAX_COLORS)
    ignored[:] = 0
    measure_groups(state, out, ignored, ignored, ignored)


@kernel
def write_objective_features(state, out):
    """Write the features of FEATURE_NAMES for each color, or for all. Overwrites the state."""
    optimistic(state, out[0])
    out[1:] = 0.0
    measure_groups(state, out[1], out[2], out[3], out[4])


@kernel
def measure_groups(state, squares, tiles, groups, largest):
    """Add the squared sizes, the sizes and the number of the present groups to arrays with an entry for each objective, and
    update the largest squared size. Overwrites the state.
    """
    board = state["board"]
    width = np.int64(state["width"])
    cells = width * np.int64(state["height"])
    for start in range(0, cells, 64):
        window = min(start, max(cells - 64, 0))  # the last 64 cells; removed groups are not counted again
        p = GUARD + window
        starts = find_groups(state, window) & ~(equal_mask64(board, p, SAME, p - 1) | equal_mask64(board, p, ODD, p - width))
        while starts != NOTHING:
            cell = window + bit_count((starts & (~starts + ONE)) - ONE)
            starts &= starts - ONE
            tile = board[FIRST + np.uint64(cell)]
            if tile & GONE == 0:
                objective = np.int64(tile & COLOR) - 1 if state["color_rewards"] else 0
                size = mark_group(board, width, cell)[0]
                squares[objective] += size * size
                tiles[objective] += size
                groups[objective] += 1
                largest[objective] = max(largest[objective], size * size)
