# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""What MO-Connect4 declares for learners: codes of cells, an egocentric view, features of positions, and safe actions.

A threat of a side is an empty cell where its token would make a line of four. Cell x * H + y is (x, y), as in rules.py.
"""

from __future__ import annotations

import numpy as np

from momagames.contract import BoardTables, EgocentricView, ObjectiveFeatures, Symmetry
from momagames.games.connect4.rules import (
    COLUMNS,
    SPEED,
    WIN,
    column_bits,
    compare_column,
    count_bits,
    empty_bits,
    makes_four,
)
from momagames.kernels.jit import kernel

CODES = 4  # empty, own token, token of the opponent, empty cell on which a token would land
PLANES = ("own", "others", "landing", "own threats", "others' threats")
FEATURES = ("standing", "margin")


@kernel
def write_cell_codes(state, agent, codes):
    """Write the code of each cell to codes uint8[n]. Source: four values as in Thill, Koch and Konen, "Reinforcement learning
    with n-tuples on the game Connect-4", 2012."""
    height = np.int64(state["height"])
    for x in range(np.int64(state["width"])):
        own, others = column_bits(state, agent, x), column_bits(state, 1 - agent, x)
        landing = (empty_bits(state, x) + 1) >> 1
        for y in range(height):
            codes[x * height + y] = ((own >> y) & 1) + 2 * ((others >> y) & 1) + 3 * ((landing >> y) & 1)


@kernel
def find_threats(state, side, x):
    """Return the threats of a side in column x as bits."""
    threats, empty = 0, empty_bits(state, x)
    for y in range(np.int64(state["height"])):
        if empty >> y != 0 and makes_four(state, side, x, 1 << y):
            threats |= 1 << y
    return threats


@kernel
def write_view(state, agent, planes, scalars):
    """Write PLANES to planes float32[5 * W * H]."""
    width, height = np.int64(state["width"]), np.int64(state["height"])
    for x in range(width):
        rows = (
            column_bits(state, agent, x),
            column_bits(state, 1 - agent, x),
            (empty_bits(state, x) + 1) >> 1,
            find_threats(state, agent, x),
            find_threats(state, 1 - agent, x),
        )
        for plane in range(len(rows)):
            for y in range(height):
                planes[(plane * width + x) * height + y] = (rows[plane] >> y) & 1


@kernel
def weigh_threats(state, side):
    """Return the number of threats of a side, less that of the other one; and whether the other one can win at once."""
    lead, is_lost = 0, False
    for x in range(np.int64(state["width"])):
        others = find_threats(state, 1 - side, x)
        lead += count_bits(find_threats(state, side, x)) - count_bits(others)
        is_lost |= others & ((empty_bits(state, x) + 1) >> 1) != 0
    return lead, is_lost


@kernel
def write_features(state, out):
    """Write FEATURES to out float64[2, K], as the agent that made the last move sees the position.

    For a column they are its reward if the game ended now, and the lead in tokens as a share of its cells; for win and speed
    the lead in threats, and -1 if the opponent can win at once.
    """
    side, height = 1 - np.int64(state["to_move"]), np.int64(state["height"])
    lead, is_lost = weigh_threats(state, side)
    for objective in range(WIN, SPEED + 1):
        k = np.int64(state["column"][objective])
        if k >= 0:
            out[0, k], out[1, k] = lead, -np.float64(is_lost)
    for x in range(np.int64(state["width"])):
        k = np.int64(state["column"][COLUMNS + x])
        if k >= 0:
            tokens = count_bits(column_bits(state, side, x)) - count_bits(column_bits(state, 1 - side, x))
            out[0, k], out[1, k] = compare_column(state, side, x), tokens / height


@kernel
def clear_unsafe_actions(state, agent, caution, mask):
    """Clear the columns after which the opponent can win at once; clear nothing if no action would remain."""
    width, threats, safe = np.int64(state["width"]), 0, 0
    for x in range(width):
        landing = (empty_bits(state, x) + 1) >> 1
        threats |= np.int64(landing != 0 and makes_four(state, 1 - agent, x, landing)) << x
    for x in range(width):
        landing = (empty_bits(state, x) + 1) >> 1
        above = landing >> 1
        is_lost = threats & ~(1 << x) != 0 or (above != 0 and makes_four(state, 1 - agent, x, above))
        safe |= np.int64(mask[x] != 0 and (not is_lost or makes_four(state, agent, x, landing))) << x
    for x in range(width if safe else 0):
        mask[x] = (safe >> x) & 1


def declare_board(width: int, height: int, has_columns: bool) -> BoardTables:
    """Return the declaration for a board of these sizes; exchanging left and right exchanges the objectives of columns, too."""
    cells = np.arange(width * height).reshape(width, height)
    mirror = Symmetry(tuple(cells[::-1].ravel().tolist()), tuple(range(width))[::-1])
    return BoardTables(
        write_codes=write_cell_codes, num_codes=CODES, shape=(width, height), symmetries=() if has_columns else (mirror,)
    )


def declare_view(width: int, height: int) -> EgocentricView:
    """Return the view for a board of these sizes."""
    return EgocentricView(write=write_view, shape=(width, height), planes=PLANES)


OBJECTIVE_FEATURES = ObjectiveFeatures(names=FEATURES, write=write_features)
