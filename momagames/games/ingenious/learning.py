# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""What MO-Ingenious declares for learners: features of candidate placements."""

from __future__ import annotations

import numpy as np

from momagames.contract import ObjectiveFeatures
from momagames.games.ingenious.rules import MIDDLE, ROW, STEPS, count_line, span
from momagames.kernels.jit import kernel, local_array

FEATURES = ("open gains", "best open gain")


@kernel
def write_features(state, out):
    """Write FEATURES to out float64[2, K]: the gains of a cell of each color on the empty cells, their sum and the largest;
    0 for the win.
    """
    radius, board, colors = np.int64(state["radius"]), state["board"], np.int64(state["colors"])
    gains = local_array(8)  # by color
    out[:] = 0.0
    for q in range(-radius, radius + 1):
        first, last = span(radius, q)
        for r in range(first, last + 1):
            cell = MIDDLE + q * ROW + r
            if board[cell]:
                continue
            gains[:] = 0
            for d in range(len(STEPS)):
                color = np.int64(board[cell + STEPS[d]])
                if 0 < color <= colors:
                    gains[color] += count_line(board, cell, d, color)
            for k in range(colors):
                column = np.int64(state["column"][k])
                if column >= 0:
                    out[0, column] += gains[k + 1]
                    out[1, column] = max(out[1, column], gains[k + 1])


def declare_features(colors: tuple[int, ...]) -> ObjectiveFeatures:
    """Return the features for objectives of colors, by index. They are exchangeable: corners and tiles have colors as well."""
    return ObjectiveFeatures(names=FEATURES, write=write_features, exchangeable_objectives=(colors,) if colors else ())
