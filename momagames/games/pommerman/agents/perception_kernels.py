# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-Pommerman: what a scripted agent sees, and the ways from where it stands (SPEC §7.2, §11).

`look` writes down what is seen, and all the rest, here and in pommerman_agents.py, reads that: nobody acts on what is hidden.

board      uint8[CELLS]: what cells show; FOG where the agent does not see
bombs      int64[MAX_BOMBS]: cell and blast strength (cell * 256 + strength) of the bombs in sight, by cell
distance   uint8[CELLS]: steps from the agent's cell; FAR where it finds no way
first      uint8[CELLS]: the direction of the first of these steps
queue      int64[CELLS]: the cells that it finds a way to, the nearest first; its own is the first
"""

import numpy as np

from momagames.games.pommerman.rules.moves import bomb_cell, is_item, row_of
from momagames.games.pommerman.rules.observation import frame
from momagames.games.pommerman.rules.state import AGENT, DOWN, FLAMES, FOG, LEFT, PASSAGE, RIGHT, RIGID, SEATS, STOP, UP, ahead
from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, below

FAR = 255
REACH = 10  # it looks for ways among the cells at most so many rows and columns away, together


@kernel
def look(state, agent, board, bombs):
    """Write what the agent sees to `board` and `bombs`; returns the number of bombs."""
    size = np.int64(state["size"])
    seen = frame(state, agent)
    top, bottom, left, right = seen[0], seen[1], seen[2], seen[3]
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
def is_open(shown, enemies):
    """Whether it takes a cell for open: passages, items, itself and its mate. `enemies` has a bit for each seat."""
    return shown == PASSAGE or is_item(shown) or (AGENT <= shown < AGENT + SEATS and (enemies >> (shown - AGENT)) & 1 == 0)


@kernel
def step_to(cell, direction, size):
    """The neighbor in a direction 1..4, the cell itself for Stop; -1 beyond the border."""
    if direction == STOP:
        return cell
    row = row_of(cell, size)
    return ahead(cell, direction, row, cell - row * size, size)


@kernel
def find_ways(board, size, start, enemies, word, distance, first, queue):
    """Search breadth-first from `start`, chance deciding between ways of equal length.

    It looks at cells of up to REACH rows up and columns left, but one less down and right, and not farther than REACH in
    rows and columns together. Cells with fog, rigid walls or flames are left out; ways end at what is not open.
    Returns    the number of cells found, and the generator word
    """
    for cell in range(size * size):
        distance[cell] = FAR
    start_row = row_of(start, size)
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
        row = row_of(cell, size)
        col = cell - row * size
        for direction in range(UP, RIGHT + 1):
            to = ahead(cell, direction, row, col, size)
            if to < 0 or board[to] == FOG or board[to] == RIGID or board[to] == FLAMES:
                continue
            down = row + np.int64(direction == DOWN) - np.int64(direction == UP) - start_row
            across = col + np.int64(direction == RIGHT) - np.int64(direction == LEFT) - start_col
            if down >= REACH or across >= REACH or abs(down) + abs(across) > REACH:
                continue
            further = np.int64(distance[cell]) + 1
            if distance[to] == FAR:
                queue[found] = to
                found += 1
            elif distance[to] == further:
                word = advance(word)
                if below(word, 2) == 0:
                    continue
            else:
                continue
            distance[to] = further
            first[to] = direction if cell == start else first[cell]
    return found, word


@kernel
def nearest(board, distance, queue, found, wanted, radius):
    """The nearest cell that shows one of the codes whose bits are set in `wanted`, within `radius`; -1: none.

    Of several equally near the one with the highest code, of these the last of the board.
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
    """Whether there is a way to a passage that a bomb laid here would not reach: out of range, or round a corner."""
    start = queue[0]
    row = row_of(start, size)
    for place in range(found):
        cell = queue[place]
        if board[cell] == PASSAGE:
            across = row_of(cell, size)
            if np.int64(distance[cell]) > strength or (across != row and cell - across * size != start - row * size):
                return True
    return False


@kernel
def can_hide(board, size, start, bomb, enemies, strength):
    """Whether whoever goes to `start`, away from a bomb, comes farther than `strength` straight on or round a corner.

    Ways off the row and column of `start` leave them somewhere, so that it is enough to go along these.
    """
    for direction in range(UP, RIGHT + 1):
        cell, steps = start, 0
        while True:
            if steps > strength:
                return True
            if steps > 0:
                for side in range(UP, RIGHT + 1):
                    if (side <= DOWN) != (direction <= DOWN):
                        beside = step_to(cell, side, size)
                        if beside >= 0 and beside != bomb and is_open(np.int64(board[beside]), enemies):
                            return True
            cell = step_to(cell, direction, size)
            steps += 1
            if cell < 0 or cell == bomb or not is_open(np.int64(board[cell]), enemies):
                break
    return False


@kernel
def in_line(bombs, count, cell, size):
    """Whether a bomb in the row or column of a cell is at most its strength away."""
    row = row_of(cell, size)
    col = cell - row * size
    for bomb in range(count):
        place, strength = bombs[bomb] >> 8, bombs[bomb] & 255
        other = row_of(place, size)
        down, across = other - row, place - other * size - col
        if (down == 0 and abs(across) <= strength) or (across == 0 and abs(down) <= strength):
            return True
    return False
