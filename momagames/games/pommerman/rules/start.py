"""Start positions of MO-Pommerman (SPEC §2)."""

import numpy as np

from momagames.games.pommerman.rules.state import (
    AGENT,
    CELLS,
    EXTRA_BOMB,
    PASSAGE,
    RIGID,
    SEATS,
    WOOD,
)
from momagames.kernels.jit import kernel, local_array, noinline_kernel
from momagames.kernels.rng import draw

ONE = np.uint64(1)
MAX_UNREACHED = 4  # G7
OPEN = 255  # a cell that may become a wall, while a board is made


@noinline_kernel
def generate_position(state):
    """G1-G11 Generate a board and set all other fields to their start values."""
    pairs = local_array(CELLS)
    generate_walls(state, pairs)
    while count_unreached(state) > MAX_UNREACHED:  # G7
        generate_walls(state, pairs)
    hide_items(state)
    reset_agents_and_bombs(state)


@noinline_kernel
def generate_walls(state, pairs):
    """G1-G6 Generate one candidate board; `pairs` is scratch for the pairs of cells that may become walls."""
    size, board = np.int64(state["size"]), state["board"]
    for cell in range(CELLS):
        board[cell] = PASSAGE
        state["hidden"][cell] = 0
    for row in range(size):  # G1
        for col in range(size):
            board[row * size + col] = OPEN if row != col else PASSAGE
    clear_corridors(state)
    wood = np.int64(state["num_wood"]) - place_wood_ring(state)
    count = 0
    for row in range(size):
        for col in range(row):
            place = row * size + col
            if board[place] == OPEN:
                pairs[count] = place
                count += 1
                board[place] = PASSAGE
                board[col * size + row] = PASSAGE
    count = place_wall_pairs(state, pairs, count, RIGID, np.int64(state["num_rigid"]))
    place_wall_pairs(state, pairs, count, WOOD, wood)


@kernel
def start_cell(state, agent):
    """G2 Return the corner of an agent: seats go around the board, and two agents are opposite each other."""
    size = np.int64(state["size"])
    corner = 2 * agent if state["seats"] == 2 else agent
    row = size - 2 if corner in (1, 2) else 1
    col = size - 2 if corner in (2, 3) else 1
    return row * size + col


@noinline_kernel
def clear_corridors(state):
    """G2, G3 Exclude walls from the starting cells and from the two cells next to each of them along the sides."""
    size, board = np.int64(state["size"]), state["board"]
    far = size - 2
    for agent in range(np.int64(state["seats"])):
        board[start_cell(state, agent)] = PASSAGE
    for i in (2, 3):
        back = size - 1 - i
        for place in (size + i, i * size + 1, far * size + back, back * size + far):
            board[place] = PASSAGE
        if state["seats"] == SEATS:
            for place in (size + back, back * size + 1, i * size + far, far * size + i):
                board[place] = PASSAGE


@noinline_kernel
def place_wood_ring(state):
    """G4 Place wood in the middle of each side: a ring connects four agents. Return the number of walls."""
    size, board = np.int64(state["size"]), state["board"]
    if state["seats"] < SEATS:
        return 0
    count = 0
    for i in range(4, size - 4):
        back = size - 1 - i
        for place in (size + i, back * size + 1, (size - 2) * size + back, back * size + size - 2):
            board[place] = WOOD
        count += 4
    return count


@noinline_kernel
def place_wall_pairs(state, pairs, count, wall, number):
    """G5, G6 Place walls on random pairs of cells, mirrored in the main diagonal. Return the number of remaining pairs."""
    size, board = np.int64(state["size"]), state["board"]
    while number > 0:
        chosen = draw(state, count)
        place = pairs[chosen]
        count -= 1
        pairs[chosen] = pairs[count]
        row = place // size
        board[place] = wall
        board[(place - row * size) * size + row] = wall
        number -= 2
    return count


@noinline_kernel
def count_unreached(state):
    """G7 Count the passages that cannot be reached from the last corner, even through wood."""
    size, board = np.int64(state["size"]), state["board"]
    stack, seen = local_array(CELLS), local_array(CELLS)
    for cell in range(size * size):
        seen[cell] = 0
    first = (size - 2) * size + size - 2
    stack[0], seen[first], top = first, 1, 1
    while top:
        top -= 1
        cell = stack[top]
        row = cell // size
        col = cell - row * size
        for direction in range(4):
            down, right = (-1, 1, 0, 0)[direction], (0, 0, -1, 1)[direction]
            to = cell + down * size + right
            if 0 <= row + down < size and 0 <= col + right < size and seen[to] == 0 and board[to] != RIGID:
                seen[to] = 1
                stack[top] = to
                top += 1
    unreached = 0
    for cell in range(size * size):
        unreached += board[cell] == PASSAGE and seen[cell] == 0
    return unreached


@noinline_kernel
def hide_items(state):
    """G9 Place items of random kinds in random wooden cells, one in each."""
    size, left = np.int64(state["size"]), np.int64(state["num_items"])
    while left > 0:
        cell = draw(state, size) * size + draw(state, size)
        if state["board"][cell] == WOOD and state["hidden"][cell] == 0:
            state["hidden"][cell] = EXTRA_BOMB + draw(state, 3)
            left -= 1


@noinline_kernel
def reset_agents_and_bombs(state):
    """G2, G11 Place agents on their starting cells with their start values; no bombs, no flames, silence."""
    size = np.int64(state["size"])
    for cell in range(CELLS):
        state["fire"][cell] = 0
    state["burning"] = 0
    state["bombs"] = 0
    state["flame_orders"] = 0
    state["falling"] = -1
    for agent in range(SEATS):
        state["alive"][agent] = 0
        state["message"][agent, 0] = 0
        state["message"][agent, 1] = 0
        for word in range(CELLS // 64):
            state["visited"][agent, word] = 0
    for agent in range(np.int64(state["seats"])):
        cell = start_cell(state, agent)
        row = cell // size
        state["alive"][agent] = 1
        state["row"][agent] = row
        state["col"][agent] = cell - row * size
        state["ammo"][agent] = 1
        state["strength"][agent] = state["blast_strength"]
        state["kick"][agent] = 0
        state["board"][cell] = AGENT + agent
        state["visited"][agent, cell >> 6] = ONE << np.uint64(cell & 63)
