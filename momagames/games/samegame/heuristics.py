# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Estimates of the future return in MO-SameGame. Both kernels write float64[K] to `out`: a value for each color, or for all,
and with `move_rewards` one for the moves.
"""

import numpy as np

from momagames.games.samegame.move_codes import mark_group
from momagames.games.samegame.rules import (
    COLOR,
    FIRST,
    GONE,
    GUARD,
    MAX_COLORS,
    NOTHING,
    ODD,
    ONE,
    SAME,
    add_bonus,
    count_tiles,
    find_groups,
    group_points,
)
from momagames.kernels.grid import bit_count
from momagames.kernels.jit import equal_mask64, kernel, local_array

FEATURE_NAMES = ("all tiles squared", "groups squared", "tiles in groups", "groups", "largest group squared")
EXTRA_FEATURE_NAMES = ("tiles", "nearly adjacent pairs", "heights")
FIRST_EXTRA = len(FEATURE_NAMES)


@kernel
def optimistic(state, out):
    """Write an upper bound: all tiles of a color are removed at once, and the board is emptied.

    With classic scoring a color with a single tile rules the bonus out, and the bonus counts once in a single objective. The
    bound of moves is that of `count_lasting_colors`.
    """
    out[:] = 0.0
    bonus, lone, removable = np.float64(state["clear_bonus"]), False, False
    has_bonus = bonus > 0 and not state["classic"]
    for color in range(1, np.int64(state["colors"]) + 1):
        tiles = count_tiles(state, color)
        lone |= tiles == 1
        if tiles > 1:
            removable = True
            points = group_points(state, tiles)
            out[color - 1 if state["color_rewards"] else 0] += add_bonus(points, bonus) if has_bonus else points
    if state["classic"] and removable and not lone:
        for color in range(1, np.int64(state["colors"]) + 1):
            if state["color_rewards"] and count_tiles(state, color) > 1:
                out[color - 1] += bonus
        if not state["color_rewards"]:
            out[0] += bonus
    if state["move_rewards"] and not state["over"]:
        out[out.shape[0] - 1] = -max(count_lasting_colors(state), 1)


@kernel
def count_lasting_colors(state):
    """Return the number of colors with a pair of adjacent tiles that only a move of their color ends: a lower bound of the
    moves to the end.

    Such a pair is one tile upon the other, or is in the bottom row. The tiles of other pairs can fall to different rows.
    """
    board, width = state["board"], np.uint64(state["width"])
    cells = width * np.uint64(state["height"])
    found = 0
    for i in range(cells):
        p = FIRST + i
        tile = board[p]
        lasts = (board[p + width] == np.uint8(tile ^ ODD)) | ((i >= cells - width) & (board[p + ONE] == tile))
        found |= np.int64(lasts) << np.int64(tile & COLOR)
    return bit_count(np.uint64(found >> 1))  # bit 0: empty cells


@kernel
def present(state, out):
    """Write the sum of the points of the present groups, and as moves their number. Overwrites the state."""
    out[:] = 0.0
    ignored = local_array(MAX_COLORS)
    ignored[:] = 0
    measure_groups(state, out, ignored, ignored, ignored)


@kernel
def write_objective_features(state, out):
    """Write the features of FEATURE_NAMES for each color, or for all, and those of EXTRA_FEATURE_NAMES to further rows, if
    `out` has these. Overwrites the state.

    In the column of moves the first two rows are the estimates of `optimistic` and `present`, and the others are 0.
    """
    optimistic(state, out[0])
    out[1:] = 0.0
    if out.shape[0] > FIRST_EXTRA:
        measure_tiles(state, out[FIRST_EXTRA], out[FIRST_EXTRA + 1], out[FIRST_EXTRA + 2])
    measure_groups(state, out[1], out[2], out[3], out[4])


@kernel
def measure_tiles(state, tiles, pairs, heights):
    """Add the tiles, the pairs that a small fall can make adjacent, and the heights to arrays with an entry for each objective.

    Two tiles of a color are such a pair if they touch at a corner, or if one cell is between them in a column. The lowest row
    has height 1. The fewer and the lower the tiles, the closer the end; pairs become groups.
    """
    board, width = state["board"], np.uint64(state["width"])
    height = np.int64(state["height"])
    cells = width * np.uint64(height)
    column = np.uint64(0)
    for i in range(cells):
        p = FIRST + i
        tile = board[p]
        if tile & COLOR != 0:
            objective = np.int64(tile & COLOR) - 1 if state["color_rewards"] else 0
            below = np.uint8(tile ^ ODD)  # of the same color; the ends of rows do not match, see rules.py
            near = np.int64(board[p + width - ONE] == below) + np.int64(board[p + width + ONE] == below)
            if height > 2:
                near += np.int64(board[p + width + width] == tile)
            tiles[objective] += 1.0
            pairs[objective] += near
            heights[objective] += height
        column += ONE
        if column == width:
            column = np.uint64(0)
            height -= 1


@kernel
def measure_groups(state, points, tiles, groups, largest):
    """Add the points, the sizes and the number of the present groups to arrays with an entry for each objective, and update
    the largest points of a group. With `move_rewards` the last entry of `points` counts the groups, negative. Overwrites the
    state.
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
                earned = np.float64(group_points(state, size))
                points[objective] += earned
                if state["move_rewards"]:
                    points[points.shape[0] - 1] -= 1.0
                tiles[objective] += size
                groups[objective] += 1
                largest[objective] = max(largest[objective], earned)
