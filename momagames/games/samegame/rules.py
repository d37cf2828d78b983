"""MO-SameGame: the rules as compiled kernels. Section numbers are those of SPEC.md.

The board is one array of bytes, row after row without gaps (row 0 on top), between two guard rows of zeros. Loops over cells
vectorize, and no neighbor needs a bounds check. A byte is the color (0 empty, 1..10), plus ODD in odd rows. The last cell of a
row and the first cell of the next are therefore never equal, and loops can ignore the ends of rows.
"""

from typing import Any

import numpy as np

from momagames.kernels.grid import bit_count, remainder, unpack_bits_short
from momagames.kernels.jit import equal_mask64, kernel, local_array, unpack_bits64, value_mask64
from momagames.kernels.record import record
from momagames.kernels.rng import draw

MAX_SIDE = 30
MAX_CELLS = MAX_SIDE * MAX_SIDE
MAX_AGENTS = 5
MAX_COLORS = 10
LIST_LENGTH = MAX_CELLS + 4  # `append_if_equal` also writes cells that do not match
GUARD = 32  # cells in a guard row: at least one row and two cells more
COLOR = np.uint8(0x0F)
ODD, SAME = np.uint8(0x10), np.uint8(0)
NOTHING = np.uint64(0)
GONE = np.uint8(0x20)  # the cell belongs to the group that is being removed
COLUMN = 1 << 16  # a list entry is a position plus COLUMN times its column
FIRST, ONE = np.uint64(GUARD), np.uint64(1)  # unsigned positions, because loops over them vectorize

CLASSIC_BONUS = 1000.0  # §5.2

SMALL_CELLS = 256  # records of small boards are short: large batches of them fit in the cache of a processor


def make_state_dtype(cells: int, fixed: bool = False) -> np.dtype[Any]:
    """Return the dtype of the states of boards with at most `cells` cells; `fixed`: with the board that every episode has."""
    return record(
        MAX_AGENTS,
        width=("i4",),
        height=("i4",),
        colors=("i4",),
        agents=("i4",),
        tiles=("i4",),
        team_rewards=("u1",),
        color_rewards=("u1",),
        classic=("u1",),
        move_rewards=("u1",),
        clear_bonus=("f8",),
        board=("u1", (GUARD + cells + GUARD,)),
        **({"fixed_board": ("u1", (GUARD + cells + GUARD,))} if fixed else {}),
    )


state_dtype, small_state_dtype = make_state_dtype(MAX_CELLS), make_state_dtype(SMALL_CELLS)
fixed_state_dtype = make_state_dtype(SMALL_CELLS, fixed=True)

PARAMETERS = ("width", "height", "colors", "agents", "team_rewards", "color_rewards", "classic", "move_rewards", "clear_bonus")


@kernel
def generate(state):
    """§2 Draw every cell until the board has a group."""
    state["over"] = 1
    while state["over"]:
        fill_board(state)
        state["over"] = not has_group(state)


@kernel
def generate_fixed(state):
    """§2.3 Start from the fixed board."""
    board, fixed_board = state["board"], state["fixed_board"]
    for p in range(board.shape[0]):
        board[p] = fixed_board[p]
    state["tiles"] = np.int64(state["width"]) * np.int64(state["height"])
    state["over"] = not has_group(state)


@kernel
def fill_board(state):
    """§2 Fill every cell with a uniformly random color, row by row."""
    board = state["board"]
    width = np.int64(state["width"])
    colors = np.int64(state["colors"])
    p = GUARD
    for y in range(np.int64(state["height"])):
        for _ in range(width):
            board[p] = 1 + draw(state, colors) + ODD * (y & 1)
            p += 1
    state["tiles"] = p - GUARD


@kernel
def legal(state, agent, mask):
    """§3 Mark every cell of every group as legal for the agent to move."""
    n = np.int64(state["width"]) * np.int64(state["height"])
    if state["over"] or agent != state["to_move"]:
        mask[:n] = 0
    elif n < 64:
        unpack_bits_short(find_groups(state, 0), mask, 0, n)
    else:
        for start in range(0, n, 64):
            window = min(start, n - 64)  # the last 64 cells; some of them are written twice
            unpack_bits64(find_groups(state, window), mask, window)


@kernel
def find_groups(state, start):
    """§3.1 Return the 64 cells from `start` on as bits: a cell is in a group iff it is filled and equals a neighbor."""
    board = state["board"]
    width = np.int64(state["width"])
    p = GUARD + start
    horizontal = equal_mask64(board, p, SAME, p - 1) | equal_mask64(board, p, SAME, p + 1)
    vertical = equal_mask64(board, p, ODD, p - width) | equal_mask64(board, p, ODD, p + width)
    return (horizontal | vertical) & ~value_mask64(board, p, COLOR, np.uint8(0))


@kernel
def prune_equivalent_actions(state, mask):
    """§3.1 Remove equivalent actions: cells with an equal neighbor on the left or above.

    At least one cell of each group remains: the first of its topmost cells.
    """
    board = state["board"]
    width = np.uint64(state["width"])
    for i in range(width * np.uint64(state["height"])):
        p = FIRST + i
        cell = board[p]
        mask[i] = (mask[i] != 0) & (cell != board[p - ONE]) & (np.uint8(cell ^ ODD) != board[p - width])


@kernel
def has_group(state):
    """§6.1 Return whether two equal tiles are adjacent. The search starts at the bottom, where most tiles are."""
    window = np.int64(state["width"]) * np.int64(state["height"])
    while window > 0:
        window = max(window - 64, 0)
        if find_groups(state, window) != NOTHING:
            return True
    return False


@kernel
def step(state, actions, reward):
    """§4 Remove the group of the chosen cell. The caller has checked legality."""
    mover = np.int64(state["to_move"])
    cell = np.int64(actions[0, 0])
    color = np.int64(state["board"][GUARD + cell] & COLOR)
    size, first, last, lowest = remove_group(state, cell)  # §4.1
    if drop_tiles(state, first, last, lowest):  # §4.2
        close_columns(state, first)  # §4.3
    state["tiles"] -= size
    state["over"] = not has_group(state)  # §6.1
    write_rewards(state, mover, color, size, reward)  # §5
    state["ply"] += 1
    state["to_move"] = mover + 1 if mover + 1 < state["agents"] else 0  # §4.4


@kernel
def remove_group(state, cell):
    """§4.1 Mark the group of `cell` GONE. Return its size, its first and last column, and the start of its lowest row.

    The list of members grows while it is read. Each neighbor is written to its end, and the length grows only if the neighbor
    is in the group, so no branch depends on the board. An entry is a position with its column in the upper bits, counted from
    MAX_SIDE columns to the left of the cell.
    """
    board = state["board"]
    width = np.int64(state["width"])
    members = local_array(LIST_LENGTH)
    color = board[FIRST + np.uint64(cell)] & COLOR
    size = append_if_equal(board, members, 0, GUARD + cell + MAX_SIDE * COLUMN, board[FIRST + np.uint64(cell)])
    num_read = 0
    first, last, lowest = MAX_SIDE, MAX_SIDE, 0
    while num_read < size:
        entry = members[num_read]
        num_read += 1
        position, column = entry % COLUMN, entry // COLUMN
        first, last, lowest = min(first, column), max(last, column), max(lowest, position - column)
        same_row = np.uint8(color | (board[np.uint64(position)] & ODD))  # byte of a member in this row
        adjacent_row = np.uint8(same_row ^ ODD)
        size = append_if_equal(board, members, size, entry - COLUMN - 1, same_row)
        size = append_if_equal(board, members, size, entry + COLUMN + 1, same_row)
        size = append_if_equal(board, members, size, entry - width, adjacent_row)
        size = append_if_equal(board, members, size, entry + width, adjacent_row)
    left = remainder(cell, width) - MAX_SIDE
    return size, left + first, left + last, lowest - left


@kernel
def append_if_equal(board, members, size, entry, expected):
    """§4.1 Append a cell to the list if it holds `expected`; return the new length of the list."""
    p = np.uint64(entry % COLUMN)
    tile = board[p]
    is_member = tile == expected
    members[np.uint64(size)] = entry
    board[p] = np.uint8(GONE | (tile & ODD)) if is_member else tile
    return size + np.int64(is_member)


@kernel
def drop_tiles(state, first, last, lowest):
    """§4.2 In the columns `first..last` tiles fall into the gaps, in order; nothing moves below the row at `lowest`.

    Return whether one of these columns is empty now. No branch depends on the board: each cell is emptied, and its tile
    (an empty cell if it was GONE) is written to the position of the next tile.
    """
    board = state["board"]
    width = np.uint64(state["width"])
    bottom = FIRST + width * np.uint64(state["height"] - 1)
    parity = np.uint8(board[np.uint64(lowest)] & ODD)
    emptied = False
    for x in range(np.uint64(first), np.uint64(last + 1)):
        read = np.uint64(lowest) + x
        write = read
        odd = parity
        while read >= FIRST:
            cell = board[read]
            stays = cell & GONE == 0
            board[read] = cell & ODD
            board[write] = (cell & COLOR) | odd
            write = write - width if stays else write
            odd = np.uint8(odd ^ ODD) if stays else odd
            read = read - width
        emptied |= board[bottom + x] & COLOR == 0
    return emptied


@kernel
def close_columns(state, first):
    """§4.3 Remove empty columns from `first` on; columns on their right move left."""
    board = state["board"]
    width = np.int64(state["width"])
    bottom = GUARD + width * (np.int64(state["height"]) - 1)
    write = first
    for x in range(first, width):
        if board[bottom + x] & COLOR != 0:
            if write != x:
                for row in range(GUARD, bottom + 1, width):
                    board[row + write] = board[row + x]
                    board[row + x] &= ODD
            write += 1


@kernel
def group_points(state, size):
    """§5.1, §5.2 Return the points of a group."""
    return (size - 2) ** 2 if state["classic"] else size**2


@kernel
def add_bonus(points, bonus):
    """§5.1 Return the float32 nearest to the exact sum of two float64.

    The float64 sum can be halfway between two float32 only because it is rounded: then its error decides.
    """
    total = points + bonus
    part = total - points
    error = (points - (total - part)) + (bonus - part)
    nearest = np.float32(total)
    rest = total - np.float64(nearest)
    other = np.float32(np.float64(nearest) + 2 * rest)  # the next float32 on the other side, if `total` is halfway
    is_halfway = np.float64(other) - np.float64(nearest) == 2 * rest
    return other if is_halfway and rest * error > 0 else nearest


@kernel
def write_rewards(state, mover, color, size, reward):
    """§5 Write the points of a group to the objective of its color, and the move, for the mover or for all agents."""
    objective = color - 1 if state["color_rewards"] else 0
    points = np.float32(group_points(state, size))
    if state["tiles"] == 0:
        points = add_bonus(group_points(state, size), state["clear_bonus"])
    reward[:] = 0
    reward[mover, objective] = points
    if state["move_rewards"]:
        reward[mover, reward.shape[1] - 1] = -1  # §5.3
    if state["classic"] and state["over"] and state["tiles"] > 0:
        subtract_penalties(state, reward[mover])
    if state["team_rewards"]:
        for agent in range(np.int64(state["agents"])):
            if agent != mover:
                for k in range(reward.shape[1]):
                    reward[agent, k] = reward[mover, k]


@kernel
def subtract_penalties(state, reward):
    """§5.2 Subtract the points of the tiles that are left of each color, as if they were one group."""
    for color in range(1, np.int64(state["colors"]) + 1):
        left = count_tiles(state, color)
        if left > 2:
            reward[color - 1 if state["color_rewards"] else 0] -= np.float32((left - 2) ** 2)


@kernel
def count_tiles(state, color):
    """Return the number of tiles of a color."""
    board = state["board"]
    n = np.int64(state["width"]) * np.int64(state["height"])
    last = board.shape[0] - 64  # beginning of the last 64 bytes
    end = (min(n, last + 1 - GUARD) + 63) & ~63
    tiles = 0
    for start in range(0, end, 64):  # the guard row after the board is empty
        tiles += bit_count(value_mask64(board, GUARD + start, COLOR, np.uint8(color)))
    if end < n:  # the guard row is too short for another 64 bytes; most of the last ones are counted already
        tiles += bit_count(value_mask64(board, last, COLOR, np.uint8(color)) >> np.uint64(GUARD + end - last))
    return tiles


@kernel
def observe(state, agent, out):
    """§7 Write one plane per color, the same for every agent."""
    n = np.int64(state["width"]) * np.int64(state["height"])
    board = state["board"]
    for color in range(np.int64(state["colors"])):
        expected = np.uint8(color + 1)
        if n < 64:
            unpack_bits_short(value_mask64(board, GUARD, COLOR, expected), out, color * n, n)
        else:
            for start in range(0, n, 64):
                window = min(start, n - 64)  # the last 64 cells; some of them are written twice
                unpack_bits64(value_mask64(board, GUARD + window, COLOR, expected), out, color * n + window)


@kernel
def write_state_key(state, words):
    """Write the board with `key_bits` bits per cell, and the agent to move."""
    n = np.uint64(state["width"]) * np.uint64(state["height"])
    board = state["board"]
    bits = np.uint64(key_bits_per_cell(np.int64(state["colors"])))
    each = np.uint64(64) // bits
    first = np.uint64(0)
    for w in range(words.shape[0]):
        word = np.uint64(state["to_move"]) if first >= n else np.uint64(0)
        for i in range(min(each, n - min(first, n))):
            word |= np.uint64(board[FIRST + first + i] & COLOR) << (bits * i)
        words[w] = word
        first += each


@kernel
def key_bits_per_cell(colors):
    """Return the number of bits that hold the colors 0..colors."""
    return 2 if colors < 4 else 3 if colors < 8 else 4
