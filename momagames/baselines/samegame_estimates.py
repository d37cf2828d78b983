"""MO-SameGame: what a position can still bring. Both kernels fill out float64[K]: one for each colour, or one for all."""

import numpy as np

from momagames.games.samegame.rules import COLOR, GUARD, remove_group
from momagames.kernels.jit import kernel


@kernel
def optimistic(state, out):
    """All tiles of a colour removed at once: their number squared, and the bonus of an emptied board."""
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
    """Every group of the board removed as it stands: the squares of their sizes. The state is spoilt."""
    board = state["board"]
    out[:] = 0.0
    for cell in range(np.int64(state["width"]) * np.int64(state["height"])):
        color = np.int64(board[GUARD + cell] & COLOR)
        if color != 0:
            size = remove_group(state, cell)[0]
            if size > 1:
                out[color - 1 if state["color_rewards"] else 0] += size * size
