# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-Pommerman: the view of a scripted agent, and paths from its cell (SPEC §7.2, §11).

`write_view` writes the visible part of a position. All other kernels here and in simple_kernels.py read only that: no agent
acts on hidden information.

board      uint8[CELLS]: codes of the cells; FOG for hidden cells
bombs      int64[MAX_BOMBS]: cell and blast strength (cell * 256 + strength) of the bombs in sight, by cell
distance   uint8[CELLS]: steps from the agent's cell; FAR for cells without a path
first      uint8[CELLS]: the direction of the first of these steps
queue      int64[CELLS]: the reachable cells, the nearest first; the agent's own cell comes first
"""

import numpy as np

from momagames.games.pommerman.rules.moves import bomb_cell, cell_row, is_item
from momagames.games.pommerman.rules.observation import view_window
from momagames.games.pommerman.rules.state import (
    AGENT,
    DOWN,
    FLAMES,
    FOG,
    LEFT,
    PASSAGE,
    RIGHT,
    RIGID,
    SEATS,
    STOP,
    UP,
    neighbor,
)
from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, below

FAR = 255
REACH = 10  # Manhattan distance of the search for paths


@kernel
def write_view(state, agent, board, bombs):
    """Write the agent's view to `board` and `bombs`; return the number of bombs."""
    size = np.int64(state["size"])
    window = view_window(state, agent)
    top, bottom, left, right = window[0], window[1], window[2], window[3]
    for row in range(size):
        for col in range(size):
            cell = row * size + col
            board[cell] = state["board"][cell] if top <= row < bottom and left <= col < right else FOG
    count = 0
    for bomb in range(np.int64(state["bombs"])):
        row, col = np.int64(state["bomb_row"][bomb]), np.int64(state["bomb_col"][bomb])
        if top <= row < bottom and left <= col < right:
            place = count
            new = bomb_cell(state, bomb) * 256 + np.int64(state["bomb_strength"][bomb])
            while place > 0 and bombs[place - 1] > new:
                bombs[place] = bombs[place - 1]
                place -= 1
            bombs[place] = new
            count += 1
    return count


@kernel
def is_open(code, enemies):
    """Return whether a cell is open: passage, item, the agent itself or its mate. `enemies` has a bit for each seat."""
    return code == PASSAGE or is_item(code) or (AGENT <= code < AGENT + SEATS and (enemies >> (code - AGENT)) & 1 == 0)


@kernel
def neighbor_or_self(cell, direction, size):
    """Return the neighbor in a direction 1..4, the cell itself for Stop; -1 beyond the border."""
    if direction == STOP:
        return cell
    row = cell_row(cell, size)
    return neighbor(cell, direction, row, cell - row * size, size)


@kernel
def search_paths(board, size, start, enemies, word, distance, first, queue):
    """Search breadth-first from `start`; ties between paths of equal length are broken at random.

    It looks at cells of up to REACH rows up and columns left, but one less down and right, and not farther than REACH in
    rows and columns together. Cells with fog, rigid walls or flames are left out; paths end at cells that are not open.
    Returns    the number of cells found, and the generator word
    """
    for cell in range(size * size):
        distance[cell] = FAR
    start_row = cell_row(start, size)
    start_col = start - start_row * size
    distance[start] = 0
    first[start] = STOP
    queue[0] = start
    done, found = 0, 1
    while done < found:
        cell = queue[done]
        done += 1
        if not is_open(np.int64(board[cell]), enemies):
            continue
        row = cell_row(cell, size)
        col = cell - row * size
        for direction in range(UP, RIGHT + 1):
            to = neighbor(cell, direction, row, col, size)
            if to < 0 or board[to] == FOG or board[to] == RIGID or board[to] == FLAMES:
                continue
            down = row + np.int64(direction == DOWN) - np.int64(direction == UP) - start_row
            across = col + np.int64(direction == RIGHT) - np.int64(direction == LEFT) - start_col
            if down >= REACH or across >= REACH or abs(down) + abs(across) > REACH:
                continue
            steps = np.int64(distance[cell]) + 1
            if distance[to] == FAR:
                queue[found] = to
                found += 1
            elif distance[to] == steps:
                word = advance(word)
                if below(word, 2) == 0:
                    continue
            else:
                continue
            distance[to] = steps
            first[to] = direction if cell == start else first[cell]
    return found, word


@kernel
def find_nearest(board, distance, queue, found, wanted, radius):
    """Return the nearest cell within `radius` that shows one of the codes in the bits of `wanted`; -1: none.

    Ties go to the highest code, then to the last cell of the board.
    """
    best = -1
    for place in range(found):
        cell = queue[place]
        steps = np.int64(distance[cell])
        if steps > radius or (best >= 0 and steps > np.int64(distance[best])):
            break
        code = np.int64(board[cell])
        if (wanted >> code) & 1 and (best < 0 or code * 256 + cell > np.int64(board[best]) * 256 + best):
            best = cell
    return best


@kernel
def can_leave(board, size, distance, queue, found, strength):
    """Return whether a path leads to a passage that a bomb laid here does not reach: out of range, or around a corner."""
    start = queue[0]
    row = cell_row(start, size)
    for place in range(found):
        cell = queue[place]
        if board[cell] == PASSAGE:
            across = cell_row(cell, size)
            if np.int64(distance[cell]) > strength or (across != row and cell - across * size != start - row * size):
                return True
    return False


@kernel
def can_hide(board, size, start, bomb, enemies, strength):
    """Return whether an agent that moves to `start`, away from a bomb, can get out of range straight on or around a corner.

    Every other path leaves the row or column of `start` at some cell. So the search follows only these two.
    """
    for direction in range(UP, RIGHT + 1):
        cell, steps = start, 0
        while True:
            if steps > strength:
                return True
            if steps > 0:
                for side in range(UP, RIGHT + 1):
                    if (side <= DOWN) != (direction <= DOWN):
                        side_cell = neighbor_or_self(cell, side, size)
                        if side_cell >= 0 and side_cell != bomb and is_open(np.int64(board[side_cell]), enemies):
                            return True
            cell = neighbor_or_self(cell, direction, size)
            steps += 1
            if cell < 0 or cell == bomb or not is_open(np.int64(board[cell]), enemies):
                break
    return False


@kernel
def is_in_blast_line(bombs, count, cell, size):
    """Return whether a bomb in the row or column of a cell is at most its strength away."""
    row = cell_row(cell, size)
    col = cell - row * size
    for bomb in range(count):
        place, strength = bombs[bomb] >> 8, bombs[bomb] & 255
        other = cell_row(place, size)
        down, across = other - row, place - other * size - col
        if (down == 0 and abs(across) <= strength) or (across == 0 and abs(down) <= strength):
            return True
    return False
