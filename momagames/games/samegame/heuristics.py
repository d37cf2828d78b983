# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Estimates of the future return in MO-SameGame. Both kernels write float64[K] to `out`: a value for each color, or for all."""

import numpy as np

from momagames.games.samegame.move_codes import mark_group
from momagames.games.samegame.rules import COLOR, FIRST, GONE, GUARD, NOTHING, ODD, ONE, SAME, find_groups
from momagames.kernels.grid import bit_count
from momagames.kernels.jit import equal_mask64, kernel


@kernel
def optimistic(state, out):
    """Write an upper bound: all tiles of a color are removed at once, and the board is emptied."""
    board = state["board"]
    cells = np.int64(state["width"]) * np.int64(state["height"])
    out[:] = 0.0
    for color in range(1, np.int64(state["colors"]) + 1):
        tiles = 0
        for i in range(GUARD, GUARD + cells):
            tiles += np.int64(np.int64(board[i] & COLOR) == color)
        if tiles > 1:
            out[color - 1 if state["color_rewards"] else 0] += tiles * tiles + state["clear_bonus"]


@kernel
def present(state, out):
    """Write the sum of the squared sizes of the present groups. Overwrites the state."""
    board = state["board"]
    width = np.int64(state["width"])
    cells = width * np.int64(state["height"])
    out[:] = 0.0
    for start in range(0, cells, 64):
        window = min(start, max(cells - 64, 0))  # the last 64 cells; removed groups are not counted again
        p = GUARD + window
        starts = find_groups(state, window) & ~(equal_mask64(board, p, SAME, p - 1) | equal_mask64(board, p, ODD, p - width))
        while starts != NOTHING:
            cell = window + bit_count((starts & (~starts + ONE)) - ONE)
            starts &= starts - ONE
            tile = board[FIRST + np.uint64(cell)]
            if tile & GONE == 0:
                color = np.int64(tile & COLOR)
                size = mark_group(board, width, cell)[0]
                out[color - 1 if state["color_rewards"] else 0] += size * size
