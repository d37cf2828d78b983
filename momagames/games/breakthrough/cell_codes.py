# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""The board of MO-Breakthrough for learners: codes of cells and the mirror image, and planes of pieces.

Cell x * H + y is (x, y), as in rules.py.
"""

from __future__ import annotations

import numpy as np

from momagames.contract import BoardTables, EgocentricView, Symmetry
from momagames.games.breakthrough.rules import MAX_SIDE, write_planes
from momagames.kernels.jit import kernel, local_array, view_as

CODES = 3  # empty, own piece, piece of the opponent
PLANES = ("own", "others")  # cells of the own pieces and of those of the opponent
PLANE_WORDS = 2 * MAX_SIDE * MAX_SIDE // 8  # 64-bit words that hold both planes of the largest board


@kernel
def write_cell_codes(state, agent, codes):
    """Write the code of each cell to codes uint8[n]; player_1 sees the board rotated (§7.1), so that both move to greater y."""
    cells = np.int64(state["width"]) * np.int64(state["height"])
    planes = view_as(local_array(PLANE_WORDS), np.uint8)
    write_planes(state, agent, agent == 1, planes)
    for cell in range(cells):
        codes[cell] = planes[cell] + 2 * planes[cells + cell]


@kernel
def write_view(state, agent, planes, scalars):
    """Write PLANES to planes float32[2 * W * H], rotated for player_1 as the codes are."""
    cells = view_as(local_array(PLANE_WORDS), np.uint8)
    write_planes(state, agent, agent == 1, cells)
    for place in range(planes.shape[0]):
        planes[place] = np.float32(cells[place])


def declare_board(width: int, height: int) -> BoardTables:
    """Return the declaration for a board of these sizes; its symmetry exchanges left and right."""
    cells = np.arange(width * height).reshape(width, height)
    actions = np.arange(3 * width * height).reshape(width, height, 3)
    mirror = Symmetry(tuple(cells[::-1].ravel().tolist()), tuple(actions[::-1, :, ::-1].ravel().tolist()))
    return BoardTables(write_codes=write_cell_codes, num_codes=CODES, shape=(width, height), symmetries=(mirror,))


def declare_view(width: int, height: int, canonical: bool) -> EgocentricView:
    """Return the view for a board of these sizes; unless it is `canonical`, player_1 sees the last action first, too."""
    actions = tuple(range(3 * width * height))
    by_agent = () if canonical else (actions, actions[::-1])
    return EgocentricView(write=write_view, shape=(width, height), planes=PLANES, actions=by_agent)
