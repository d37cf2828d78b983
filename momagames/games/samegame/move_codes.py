# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Move codes of MO-SameGame: a code depends on the removed group only, not on the rest of the board or the ply.

`write_selected_codes` leaves moves out: the tabu color of Schadd, Winands, Tak and Uiterwijk, "Single-player Monte-Carlo tree
search for SameGame", Knowledge-Based Systems 34, 2012, with an exception for pairs.

Source: Cazenave, "Nested rollout policy adaptation with selective policies", Computer Games, 2016 (the code of
a move is a hash of its cells).
"""

import numpy as np

from momagames.games.samegame.rules import COLOR, FIRST, GONE, GUARD, LIST_LENGTH, MAX_CELLS, ODD, count_tiles
from momagames.kernels.jit import kernel, local_array
from momagames.kernels.rng import mix

# lowest bit of color, size and the sum of squared positions in a word; the sum of positions has the lowest bits
COLOR_BITS, SIZE_BITS, SQUARE_BITS = np.uint64(60), np.uint64(50), np.uint64(20)
SIZE_MASK = np.uint64((1 << 10) - 1)
ONE = np.uint64(1)
EARLY_PLIES, MAX_GRADE = 10, 8
LARGEST = GUARD + MAX_CELLS
assert MAX_CELLS * LARGEST < 1 << 20
assert MAX_CELLS * LARGEST**2 < 1 << 30


@kernel
def write_codes(state, actions, count, codes):
    """Write the code of each group and mark the group GONE. The actions are those of `prune_equivalent_actions`."""
    board = state["board"]
    width = np.int64(state["width"])
    num_groups = 0
    for i in range(count):
        cell = actions[i]
        if board[FIRST + np.uint64(cell)] & GONE == 0:
            actions[num_groups] = cell
            codes[num_groups] = mix(mix(pack_group(board, width, cell)) ^ np.uint64(cell)) | ONE
            num_groups += 1
    return num_groups


@kernel
def find_tabu_color(state, rank):
    """Return the color of this rank by the number of tiles, the first of equals first, for `write_selected_codes`."""
    colors = np.int64(state["colors"])
    for color in range(1, colors + 1):
        tiles, before = count_tiles(state, color), 0
        for other in range(1, colors + 1):
            tiles_of_other = count_tiles(state, other)
            before += np.int64(tiles_of_other > tiles or (tiles_of_other == tiles and other < color))
        if before == rank % colors:
            return color
    return 1


@kernel
def write_selected_codes(state, tabu, actions, count, codes, grades):
    """Write the codes of the groups as `write_codes`, without the groups of the tabu color while there are others.

    Its tiles then grow into one large group, which is removed late. After EARLY_PLIES its pairs may be removed: they earn
    little, and a tile in the way can cost more. The grade of a group is its size beyond 2, up to MAX_GRADE.
    """
    board = state["board"]
    width = np.int64(state["width"])
    early = state["ply"] < EARLY_PLIES
    num_groups = num_selected = 0
    for i in range(count):
        cell = actions[i]
        tile = board[FIRST + np.uint64(cell)]
        if tile & GONE == 0:
            word = pack_group(board, width, cell)
            size = np.int64((word >> SIZE_BITS) & SIZE_MASK)
            is_tabu = np.int64(tile & COLOR) == tabu and (early or size > 2)
            actions[num_groups] = cell
            codes[num_groups] = mix(mix(word) ^ np.uint64(cell)) | ONE
            grades[num_groups] = -1 if is_tabu else min(size - 2, MAX_GRADE)
            num_groups += 1
            num_selected += np.int64(not is_tabu)
    if num_selected == 0:
        for i in range(num_groups):
            grades[i] = 0
        return num_groups
    num_selected = 0
    for i in range(num_groups):
        if grades[i] >= 0:
            actions[num_selected], codes[num_selected], grades[num_selected] = actions[i], codes[i], grades[i]
            num_selected += 1
    return num_selected


@kernel
def pack_group(board, width, cell):
    """Pack color, size, sum of positions and sum of their squares into one word.

    Nearly all different groups differ in this word or in their first cell. The first cell is needed because a group and its
    point reflection have the same sums if their centers agree.
    """
    color = np.uint64(board[FIRST + np.uint64(cell)] & COLOR)
    size, position_sum, square_sum = mark_group(board, width, cell)
    word = (color << COLOR_BITS) | (np.uint64(size) << SIZE_BITS)
    return word | (square_sum << SQUARE_BITS) | position_sum


@kernel
def mark_group(board, width, cell):
    """Mark a group GONE, from a cell without an equal neighbor on the left or above (see `rules.prune_equivalent_actions`).

    Returns the size of the group, the sum of its positions, and the sum of their squares.
    """
    members = local_array(LIST_LENGTH)
    down = np.uint64(width)
    position = FIRST + np.uint64(cell)
    color = board[position] & COLOR
    size = append_if_equal(board, members, 0, position, board[position])
    same_row, adjacent_row = tile_bytes(board, color, position)
    size = append_if_equal(board, members, size, position + ONE, same_row)
    size = append_if_equal(board, members, size, position + down, adjacent_row)
    num_read, position_sum, square_sum = 1, position, position * position
    while num_read < size:
        position = np.uint64(members[np.uint64(num_read)])
        num_read += 1
        position_sum += position
        square_sum += position * position
        same_row, adjacent_row = tile_bytes(board, color, position)
        size = append_if_equal(board, members, size, position - ONE, same_row)
        size = append_if_equal(board, members, size, position + ONE, same_row)
        size = append_if_equal(board, members, size, position - down, adjacent_row)
        size = append_if_equal(board, members, size, position + down, adjacent_row)
    return size, position_sum, square_sum


@kernel
def append_if_equal(board, members, size, position, expected):
    """If a cell holds `expected`, append it to the list and mark it GONE; return the new length of the list.

    Unlike `rules.append_if_equal`, this kernel branches and writes only matching cells. That is faster if all groups of a
    board are searched, because most of them have two or three cells.
    """
    if board[position] != expected:
        return size
    members[np.uint64(size)] = position
    board[position] = np.uint8(GONE | (expected & ODD))
    return size + 1


@kernel
def tile_bytes(board, color, position):
    """Return the byte of a tile of this color in the row of a position, and in the adjacent rows."""
    same_row = np.uint8(color | (board[position] & ODD))
    return same_row, np.uint8(same_row ^ ODD)
