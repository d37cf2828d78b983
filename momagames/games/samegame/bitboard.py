# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-SameGame of one agent on at most 64 cells, for the search: the board as planes of bits. Section numbers are SPEC's.

Bit i of plane k is bit k of the color of cell i, cells counted row by row from the top, as actions are. All cells are
looked at and moved at once, by shifts: right by 1 brings the neighbor on the right to a cell, by `width` the one below.
"""

import numpy as np

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
    clear_bonus=("f4",),
)


@kernel
def legal(state, agent, mask):
    """§3 Return the first cell of each group: all its cells have the same effect."""
    for i in range(mask.shape[0]):
        mask[i] = 0
    width = np.uint64(state["width"])
    across, along = bonds(state)
    rest = across | (across << ONE) | along | (along << width)
    if state["over"]:
        rest = NOTHING
    while rest != NOTHING:
        first = rest & (~rest + ONE)
        rest &= ~flood(first, across, along, width)
        mask[bit_count(first - ONE)] = 1


@kernel
def bonds(state):
    """§3.1 The cells that are filled and equal their neighbor on the right, and those that equal the one below."""
    planes = state["planes"]
    width = np.uint64(state["width"])
    filled, right, below = NOTHING, NOTHING, NOTHING
    for k in range(PLANES):
        plane = planes[k]
        filled |= plane
        right |= plane ^ (plane >> ONE)
        below |= plane ^ (plane >> width)
    return filled & ~right & np.uint64(state["inner"]), filled & ~below  # nothing is below the last row: an empty cell


@kernel
def flood(group, across, along, width):
    """§3.1 The group of a cell."""
    reached = NOTHING
    while reached != group:
        reached = group
        group |= ((group & across) << ONE) | ((group >> ONE) & across)
        group |= ((group & along) << width) | ((group >> width) & along)
    return group


@kernel
def step(state, actions, reward):
    """§4 Remove the group of a cell. The caller has checked legality."""
    planes = state["planes"]
    cell = np.uint64(actions[0, 0])
    color = 0
    for k in range(PLANES):
        color |= np.int64((planes[k] >> cell) & ONE) << k
    across, along = bonds(state)
    group = flood(ONE << cell, across, along, np.uint64(state["width"]))  # §4.1
    drop_tiles(state, group)  # §4.2
    filled = close_columns(state)  # §4.3
    across, along = bonds(state)
    state["over"] = (across | along) == NOTHING  # §6.1
    points = np.float32(bit_count(group) ** 2)  # §5
    if filled == NOTHING:
        points += state["clear_bonus"]
    objective = color - 1 if state["color_rewards"] else 0
    for k in range(reward.shape[1]):
        reward[0, k] = points if k == objective else np.float32(0)


@kernel
def drop_tiles(state, group):
    """§4.2 Tiles fall into the gaps: into the topmost of each column at once, then into the next."""
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
    """§4.3 Remove empty columns; those on their right move left. Return the cells of the bottom row that are filled, as
    the bits 0..width-1."""
    planes = state["planes"]
    inner, left = np.uint64(state["inner"]), np.uint64(state["left"])
    filled = NOTHING
    for k in range(PLANES):
        filled |= planes[k]
    row = filled >> np.uint64(state["cells"] - state["width"])
    while row & (row + ONE) != NOTHING:  # a gap with something behind it
        before = (~row & (row + ONE)) - ONE  # the columns on the left of the first gap
        stays = before * left
        for k in range(PLANES):
            planes[k] = (planes[k] & stays) | ((planes[k] >> ONE) & inner & ~stays)
        row = (row & before) | ((row >> ONE) & ~before)
    return row


@kernel
def key(state, words):
    """The planes one after the other, without gaps."""
    planes = state["planes"]
    size = np.int64(state["cells"])
    for w in range(words.shape[0]):
        words[w] = NOTHING
    for k in range(np.int64(state["used"])):
        at, shift = (k * size) >> 6, np.uint64((k * size) & 63)
        words[at] |= planes[k] << shift
        if shift + np.uint64(size) > np.uint64(WORD):
            words[at + 1] |= planes[k] >> (np.uint64(WORD) - shift)
