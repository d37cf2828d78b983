"""MO-SameGame: the rules as compiled kernels. Section numbers are those of SPEC.md.

The board is one run of bytes, row after row without gaps (row 0 on top), between two guard rows of zeros, so that the
loops over cells vectorise and no neighbour needs a bounds check. A byte is the colour (0 empty, 1..10), plus ODD in odd
rows: the last cell of a row and the first of the next then never look equal, and no loop needs to know where rows end.
"""

import numpy as np

from momagames.kernels.grid import remainder
from momagames.kernels.jit import kernel, local_array
from momagames.kernels.record import record
from momagames.kernels.rng import draw

MAX_SIDE = 30
MAX_CELLS = MAX_SIDE * MAX_SIDE
MAX_AGENTS = 5
LIST_LENGTH = MAX_CELLS + 4  # one neighbour more than belongs may be written
GUARD = 32  # cells in a guard row: at least one row and one cell more
COLOR = np.uint8(0x0F)
ODD = np.uint8(0x10)
GONE = np.uint8(0x20)  # the cell belongs to the group that is being removed
COLUMN = 1 << 16  # a list entry is a position plus COLUMN times its column
FIRST, ONE = np.uint64(GUARD), np.uint64(1)  # unsigned positions, for loops that should vectorise

state_dtype = record(
    MAX_AGENTS,
    board=("u1", (GUARD + MAX_CELLS + GUARD,)),
    width=("i4",),
    height=("i4",),
    colors=("i4",),
    agents=("i4",),
    tiles=("i4",),
    team_rewards=("u1",),
    color_rewards=("u1",),
    clear_bonus=("f4",),
)


@kernel
def deal(state):
    """§2 Draw every cell until the board has a group."""
    state["over"] = 1
    while state["over"]:
        fill(state)
        state["over"] = not has_group(state)


@kernel
def fill(state):
    """§2 Every cell one of the colours, uniformly, row by row."""
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
    """§3 Every cell of every group, for the agent whose turn it is."""
    n = np.int64(state["width"]) * np.int64(state["height"])
    if state["over"] or agent != state["to_move"]:
        mask[:n] = 0
    else:
        mark_groups(state, mask)


@kernel
def mark_groups(state, mask):
    """§3.1 A cell is in a group iff it is filled and equals one of its four neighbours."""
    board = state["board"]
    width = np.uint64(state["width"])
    for i in range(width * np.uint64(state["height"])):
        p = FIRST + i
        cell = board[p]
        across = np.uint8(cell ^ ODD)
        same = (cell == board[p - ONE]) | (cell == board[p + ONE]) | (across == board[p - width]) | (across == board[p + width])
        mask[i] = same & (cell & COLOR != 0)


@kernel
def has_group(state):
    """§6.1 Whether two equal tiles touch; looks from the bottom up, where tiles are, and stops at the first pair."""
    board = state["board"]
    width = np.uint64(state["width"])
    p = FIRST + width * np.uint64(state["height"])
    while p != FIRST:
        p = p - ONE
        cell = board[p]
        if cell & COLOR != 0 and (cell == board[p - ONE] or np.uint8(cell ^ ODD) == board[p - width]):
            return True
    return False


@kernel
def step(state, actions, reward):
    """§4 Remove the group of the mover's cell. The caller has checked legality."""
    mover = np.int64(state["to_move"])
    cell = np.int64(actions[0, 0])
    color = np.int64(state["board"][GUARD + cell] & COLOR)
    size, first, last = remove_group(state, cell)  # §4.1
    drop_tiles(state, first, last)  # §4.2
    close_columns(state, first, last)  # §4.3
    state["tiles"] -= size
    state["over"] = not has_group(state)  # §6.1
    pay(state, mover, color, size, reward)  # §5
    state["ply"] += 1
    state["to_move"] = mover + 1 if mover + 1 < state["agents"] else 0  # §4.4


@kernel
def remove_group(state, cell):
    """§4.1 Mark the group of `cell` GONE. Returns its size and its first and last column.

    The list of members grows while it is read. Each neighbour is written to its end, and the end moves on only if the
    neighbour belongs: no branch depends on the board. An entry is a position with its column in the upper bits.
    """
    board = state["board"]
    width = np.int64(state["width"])
    members = local_array(LIST_LENGTH)
    color = board[FIRST + np.uint64(cell)] & COLOR
    size = join(board, members, 0, GUARD + cell + remainder(cell, width) * COLUMN, board[FIRST + np.uint64(cell)])
    done = 0
    first, last = MAX_SIDE, 0
    while done < size:
        entry = members[done]
        done += 1
        first, last = min(first, entry // COLUMN), max(last, entry // COLUMN)
        here = np.uint8(color | (board[np.uint64(entry % COLUMN)] & ODD))  # what a cell of this group holds in this row
        across = np.uint8(here ^ ODD)  # and in the rows next to it
        size = join(board, members, size, entry - COLUMN - 1, here)
        size = join(board, members, size, entry + COLUMN + 1, here)
        size = join(board, members, size, entry - width, across)
        size = join(board, members, size, entry + width, across)
    return size, first, last


@kernel
def join(board, members, size, entry, wanted):
    """§4.1 Put a cell on the list if it holds `wanted`; returns the new length of the list."""
    p = np.uint64(entry % COLUMN)
    held = board[p]
    belongs = held == wanted
    members[np.uint64(size)] = entry
    board[p] = np.uint8(GONE | (held & ODD)) if belongs else held
    return size + np.int64(belongs)


@kernel
def drop_tiles(state, first, last):
    """§4.2 In the columns `first..last` tiles fall into the gaps, in order. No branch depends on the board."""
    board = state["board"]
    width = np.uint64(state["width"])
    height = np.int64(state["height"])
    for x in range(np.uint64(first), np.uint64(last + 1)):
        read = FIRST + width * np.uint64(height - 1) + x
        write = read
        odd = np.uint8(ODD * ((height - 1) & 1))
        for _ in range(height):
            cell = board[read]
            stays = cell & GONE == 0
            board[write] = (cell & COLOR) | odd
            write = write - width if stays else write
            odd = np.uint8(odd ^ ODD) if stays else odd
            read = read - width
        while write != read:
            board[write] = odd
            write = write - width
            odd = np.uint8(odd ^ ODD)


@kernel
def close_columns(state, first, last):
    """§4.3 Empty columns among `first..last` go; those on the right of them move left."""
    board = state["board"]
    width = np.int64(state["width"])
    height = np.int64(state["height"])
    bottom = GUARD + width * (height - 1)
    write = first
    for x in range(first, width):
        if board[bottom + x] & COLOR != 0:
            if write != x:
                for row in range(GUARD, bottom + 1, width):
                    board[row + write] = board[row + x]
                    board[row + x] &= ODD
            write += 1
        elif x > last:
            break


@kernel
def pay(state, mover, color, size, reward):
    """§5 The square of the group's size, in the objective of its colour, to the mover or to everybody."""
    agents = np.int64(state["agents"])
    objective = color - 1 if state["color_rewards"] else 0
    points = np.float32(size * size)
    if state["tiles"] == 0:
        points += state["clear_bonus"]
    reward[:] = 0
    if state["team_rewards"]:
        for agent in range(agents):
            reward[agent, objective] = points
    else:
        reward[mover, objective] = points


@kernel
def observe(state, agent, out):
    """§7 One plane per colour, the same for every agent."""
    n = np.int64(state["width"]) * np.int64(state["height"])
    here = state["board"][GUARD : GUARD + n]
    for color in range(np.int64(state["colors"])):
        plane = out[color * n : (color + 1) * n]
        wanted = np.uint8(color + 1)
        for i in range(n):
            plane[i] = (here[i] & COLOR) == wanted


@kernel
def key(state, words):
    """The board as bits, `key_bits` a cell, and whose turn it is."""
    n = np.int64(state["width"]) * np.int64(state["height"])
    board = state["board"]
    bits = key_bits(np.int64(state["colors"]))
    each = 64 // bits
    for w in range(words.shape[0]):
        word = np.uint64(state["to_move"]) if w * each >= n else np.uint64(0)
        for i in range(each * w, min(each * w + each, n)):
            word = (word << np.uint64(bits)) | np.uint64(board[GUARD + i] & COLOR)
        words[w] = word


@kernel
def key_bits(colors):
    """Bits that hold the colours 0..colors."""
    return 2 if colors < 4 else 3 if colors < 8 else 4
