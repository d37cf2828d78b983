"""MO-SameGame: an upper bound of what a position can still bring."""

import numpy as np

from momagames.games.samegame.rules import COLOR, GUARD
from momagames.kernels.jit import kernel


@kernel
def all_in_one_group(state, out):
    """All tiles of a colour removed at once: their number squared, and the bonus if the board can still be emptied.

    state   record
    out     float64[K], one for each colour, or one for all
    """
    board = state["board"]
    cells = np.int64(state["width"]) * np.int64(state["height"])
    out[:] = 0.0
    for color in range(1, np.int64(state["colors"]) + 1):
        tiles = 0
        for i in range(GUARD, GUARD + cells):
            tiles += np.int64(np.int64(board[i] & COLOR) == color)
        objective = color - 1 if state["color_rewards"] else 0
        if tiles > 1:
            out[objective] += tiles * tiles + state["clear_bonus"]
