# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-SameGame of one agent on at most 64 cells, for search: the board as bit planes. Section numbers are those of SPEC.md.

Bit i of plane k is bit k of the color of cell i; cells are numbered row by row from the top, as actions are. Shifts process
all cells at once: a right shift by 1 moves the right neighbor to a cell, a right shift by `width` the neighbor below.
"""

import numpy as np

from momagames.games.samegame.rules import add_bonus, group_points
from momagames.kernels.grid import bit_count
from momagames.kernels.jit import kernel
from momagames.kernels.record import record

PLANES = 4  # colors 1..10
WORD = 64
NOTHING, ONE = np.uint64(0), np.uint64(1)

packed_dtype = record(
    1,
    planes=("u8", (PLANES,)),
    inner=("u8",),  # the cells that are not in the last column
    left=("u8",),  # the cells of the first column
    width=("i4",),
    cells=("i4",),
    used=("i4",),  # planes
    color_rewards=("u1",),
    classic=("u1",),
    move_rewards=("u1",),
    colors=("i4",),
    clear_bonus=("f8",),
)


@kernel
def legal(state, agent, mask):
    """§3 Write the first cell of each group; the other cells of a group have the same effect."""
    for i in range(mask.shape[0]):
        mask[i] = 0
    width = np.uint64(state["width"])
    equal_right, equal_below = find_equal_neighbors(state)
    rest = equal_right | (equal_right << ONE) | equal_below | (equal_below << width)
    if state["over"]:
        rest = NOTHING
    while rest != NOTHING:
        first = rest & (~rest + ONE)
        rest &= ~expand_group(first, equal_right, equal_below, width)
        mask[bit_count(first - ONE)] = 1


@kernel
def find_equal_neighbors(state):
    """§3.1 Return the filled cells that equal their right neighbor, and those that equal the one below."""
    planes = state["planes"]
    width = np.uint64(state["width"])
    filled, right, below = NOTHING, NOTHING, NOTHING
    for k in range(PLANES):
        plane = planes[k]
        filled |= plane
        right |= plane ^ (plane >> ONE)
        below |= plane ^ (plane >> width)
    return filled & ~right & np.uint64(state["inner"]), filled & ~below  # the last row has empty cells below it


@kernel
def expand_group(group, equal_right, equal_below, width):
    """§3.1 Return the group of a cell."""
    reached = NOTHING
    while reached != group:
        reached = group
        group |= ((group & equal_right) << ONE) | ((group >> ONE) & equal_right)
        group |= ((group & equal_below) << width) | ((group >> width) & equal_below)
    return group


@kernel
def step(state, actions, reward):
    """§4 Remove the group of a cell. The caller has checked legality."""
    planes = state["planes"]
    cell = np.uint64(actions[0, 0])
    color = 0
    for k in range(PLANES):
        color |= np.int64((planes[k] >> cell) & ONE) << k
    equal_right, equal_below = find_equal_neighbors(state)
    group = expand_group(ONE << cell, equal_right, equal_below, np.uint64(state["width"]))  # §4.1
    drop_tiles(state, group)  # §4.2
    filled = close_columns(state)  # §4.3
    equal_right, equal_below = find_equal_neighbors(state)
    state["over"] = (equal_right | equal_below) == NOTHING  # §6.1
    size = bit_count(group)
    points = np.float32(group_points(state, size))  # §5
    if filled == NOTHING:
        points = add_bonus(group_points(state, size), state["clear_bonus"])
    objective = color - 1 if state["color_rewards"] else 0
    for k in range(reward.shape[1]):
        reward[0, k] = points if k == objective else np.float32(0)
    if state["move_rewards"]:
        reward[0, reward.shape[1] - 1] = -1  # §5.3
    if state["classic"] and state["over"] and filled != NOTHING:
        subtract_penalties(state, reward[0])


@kernel
def subtract_penalties(state, reward):
    """§5.2 Subtract the points of the tiles that are left of each color, as if they were one group."""
    planes = state["planes"]
    for color in range(1, np.int64(state["colors"]) + 1):
        tiles = ~NOTHING
        for k in range(PLANES):
            tiles &= planes[k] if (color >> k) & 1 else ~planes[k]
        left = bit_count(tiles)
        if left > 2:
            reward[color - 1 if state["color_rewards"] else 0] -= np.float32((left - 2) ** 2)


@kernel
def drop_tiles(state, group):
    """§4.2 Let tiles fall into the gaps: into the topmost gap of each column at once, then into the next one."""
    planes = state["planes"]
    width = np.uint64(state["width"])
    size = np.uint64(state["cells"])
    while group != NOTHING:
        lower = group << width
        shift = width
        while shift < size:
            lower |= lower << shift
            shift += shift
        gaps = group & ~lower
        moved = gaps  # and all cells above them
        shift = width
        while shift < size:
            moved |= moved >> shift
            shift += shift
        for k in range(PLANES):
            planes[k] = (planes[k] & ~moved) | ((planes[k] << width) & moved)
        group &= lower


@kernel
def close_columns(state):
    """§4.3 Remove empty columns; columns on their right move left. Return the filled cells of the bottom row as bits."""
    planes = state["planes"]
    inner, left = np.uint64(state["inner"]), np.uint64(state["left"])
    filled = NOTHING
    for k in range(PLANES):
        filled |= planes[k]
    row = filled >> np.uint64(state["cells"] - state["width"])
    while row & (row + ONE) != NOTHING:  # an empty column left of a filled one
        before = (~row & (row + ONE)) - ONE  # the columns on the left of the first gap
        stays = before * left
        for k in range(PLANES):
            planes[k] = (planes[k] & stays) | ((planes[k] >> ONE) & inner & ~stays)
        row = (row & before) | ((row >> ONE) & ~before)
    return row


@kernel
def write_state_key(state, words):
    """Write the planes one after the other, without gaps."""
    planes = state["planes"]
    size = np.int64(state["cells"])
    for w in range(words.shape[0]):
        words[w] = NOTHING
    for k in range(np.int64(state["used"])):
        at, shift = (k * size) >> 6, np.uint64((k * size) & 63)
        words[at] |= planes[k] << shift
        if shift + np.uint64(size) > np.uint64(WORD):
            words[at + 1] |= planes[k] >> (np.uint64(WORD) - shift)
