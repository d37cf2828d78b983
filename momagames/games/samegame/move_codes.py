# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-SameGame: a move is the group that it removes, whatever else lies on the board and whenever it is made.

Source of the choice: Cazenave, "Nested rollout policy adaptation with selective policies", Computer Games, 2016 (the code of
a move is a hash of its cells).
"""

import numpy as np

from momagames.games.samegame.rules import COLOR, FIRST, GONE, GUARD, LIST_LENGTH, MAX_CELLS, ODD
from momagames.kernels.jit import kernel, local_array
from momagames.kernels.rng import mix

# where color, size and the sum of squared positions stand in a word; below them the sum of positions
COLOR_BITS, SIZE_BITS, SQUARE_BITS = np.uint64(60), np.uint64(50), np.uint64(20)
ONE = np.uint64(1)
LARGEST = GUARD + MAX_CELLS
assert MAX_CELLS * LARGEST < 1 << 20
assert MAX_CELLS * LARGEST**2 < 1 << 30


@kernel
def codes(state, actions, count, codes):
    """Write the code of each group and mark the group GONE. The actions are those of `prune_equivalent_actions`."""
    board = state["board"]
    width = np.int64(state["width"])
    num_groups = 0
    for i in range(count):
        cell = actions[i]
        if board[FIRST + np.uint64(cell)] & GONE == 0:
            actions[num_groups] = cell
            codes[num_groups] = mix(mix(describe(board, width, cell)) ^ np.uint64(cell)) | ONE
            num_groups += 1
    return num_groups


@kernel
def describe(board, width, cell):
    """Color, size, sum of positions and sum of their squares, in one word.

    Groups that differ do so in this word or in their first cell, but for rare ones (a group and its point reflection have the
    same sums where their centers agree, and so the first cell is needed).
    """
    color = np.uint64(board[FIRST + np.uint64(cell)] & COLOR)
    size, places, squares = flood(board, width, cell)
    word = (color << COLOR_BITS) | (np.uint64(size) << SIZE_BITS)
    return word | (squares << SQUARE_BITS) | places


@kernel
def flood(board, width, cell):
    """Mark a group GONE, as the rules do, from a cell that has no equal neighbor on the left or above
    (see `rules.prune_equivalent_actions`).

    Returns its size, the sum of its positions, and the sum of their squares.
    """
    members = local_array(LIST_LENGTH)
    down = np.uint64(width)
    position = FIRST + np.uint64(cell)
    color = board[position] & COLOR
    size = take(board, members, 0, position, board[position])
    here, across = rows_alike(board, color, position)
    size = take(board, members, size, position + ONE, here)
    size = take(board, members, size, position + down, across)
    done, places, squares = 1, position, position * position
    while done < size:
        position = np.uint64(members[np.uint64(done)])
        done += 1
        places += position
        squares += position * position
        here, across = rows_alike(board, color, position)
        size = take(board, members, size, position - ONE, here)
        size = take(board, members, size, position + ONE, here)
        size = take(board, members, size, position - down, across)
        size = take(board, members, size, position + down, across)
    return size, places, squares


@kernel
def take(board, members, size, position, wanted):
    """Append a cell to the list, and mark it GONE, if it holds `wanted`; return the new length of the list.

    Unlike `rules.join` it branches, and writes only cells that belong: faster where all groups of a board are flooded, most
    of them of two or three cells.
    """
    if board[position] != wanted:
        return size
    members[np.uint64(size)] = position
    board[position] = np.uint8(GONE | (wanted & ODD))
    return size + 1


@kernel
def rows_alike(board, color, position):
    """Return the byte of a tile of this color in the row of this position, and in the adjacent rows."""
    here = np.uint8(color | (board[position] & ODD))
    return here, np.uint8(here ^ ODD)
