# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-RoboticMail: paths of scripted robots (SPEC §3), and their knowledge of the position.

Scripted robots use the layout, the cells of all robots and whether those carry mails, their own mail, and their own displayed
battery. They do not use the mails on green cells.

steps     int64[CELLS]: moves from the start of a search; FAR for cells that it did not reach
first     int64[CELLS]: the first directions of the shortest paths, a bit for each
queue     int64[CELLS]: the cells that were found, the nearest first
"""

import numpy as np

from momagames.games.robotmail.rules import can_enter
from momagames.games.robotmail.rules.state import (
    BLUE,
    CELLS,
    FORWARD,
    GRAY,
    GREEN,
    NARROW,
    OUTSIDE,
    RED,
    RIGHT,
    STAND,
    WHITE,
    YELLOW,
    cell_at,
    cell_color,
    displayed_battery,
    neighbor,
    robot_cell,
)
from momagames.kernels.jit import kernel, local_array, noinline_kernel
from momagames.kernels.rng import advance, below

FAR = 1 << 20
MOVES_PER_UNIT = 5  # of battery, above LOW_BATTERY
PATH_ENDS = (1 << GREEN) | (1 << YELLOW) | (1 << BLUE)  # colors at which a path ends, since they change the robot
HEAP_CAPACITY = 4 * CELLS  # each cell is put on the heap once by each neighbor, at most

# ---------------------------------------------------------------------------------------------------------- what is known


@kernel
def battery_level(state, robot):
    """Return the displayed battery; always full without batteries."""
    return displayed_battery(state["battery"][robot])


@kernel
def guaranteed_moves(power):
    """Return the fewest moves that a robot with this displayed battery can make: its inner one may be almost a unit less."""
    return MOVES_PER_UNIT * power + 5 if power > 2 else 11 if power == 2 else power


@kernel
def possible_moves(power):
    """Return the most moves that a robot with this displayed battery can make."""
    return MOVES_PER_UNIT * power + 10 if power > 1 else 11 * power


@kernel
def board_range(state):
    """Return the range of the cell numbers of the board."""
    width, height = np.int64(state["width"]), np.int64(state["height"])
    return cell_at(state, 0, 0), cell_at(state, width - 1, height - 1) + 1


@kernel
def manhattan_distance(state, cell, other):
    """Return the Manhattan distance of two cells."""
    pitch = np.int64(state["width"]) + 1
    return abs(cell // pitch - other // pitch) + abs(cell % pitch - other % pitch)


@kernel
def is_destination(state, cell, color, mail):
    """Return whether a cell has this color and, if it is a receiver, accepts this mail."""
    return cell_color(state, cell) == color and (color != YELLOW or np.int64(state["target"][cell]) == mail)


@kernel
def find_nearest(state, start, color, mail):
    """Return the first cell of a color (yellow: a receiver of this mail) at the least Manhattan distance; -1: none."""
    low, high = board_range(state)
    best, least = -1, FAR
    for cell in range(low, high):
        if is_destination(state, cell, color, mail) and manhattan_distance(state, start, cell) < least:
            best, least = cell, manhattan_distance(state, start, cell)
    return best


# ------------------------------------------------------------------------------------------------------------------ moves


@kernel
def legal_bits(mask):
    """Return the legal actions, a bit for each."""
    bits = 0
    for act in range(RIGHT + 1):
        bits |= np.int64(mask[act]) << act
    return bits


@kernel
def choose_bit(bits, word):
    """Return the index of a uniformly random set bit. The caller has advanced `word`."""
    count = 0
    for place in range(RIGHT + 1):
        count += (bits >> place) & 1
    rank, chosen = below(word, count), 0
    for place in range(RIGHT, -1, -1):
        if (bits >> place) & 1:
            if rank == 0:
                chosen = place
            rank -= 1
    return chosen


@kernel
def choose_action(bits, legal, word):
    """Return an action and the generator word: a legal one of `bits`, else standing if legal, else any legal action."""
    choices = bits & legal
    if choices == 0:
        choices = legal & (1 << STAND) if legal & (1 << STAND) else legal
    word = advance(word)
    return choose_bit(choices, word), word


# ---------------------------------------------------------------------------------------------------------- breadth first


@noinline_kernel
def search_paths(state, robot, power, ignore_robots, steps, first, queue):
    """Search breadth-first from the cell of a robot, by the rules for its mail.

    power           the assumed displayed battery
    ignore_robots   search through the other robots
    Returns         the number of cells found
    """
    mail, start = np.int64(state["mail"][robot]), robot_cell(state, robot)
    steps[:] = FAR
    steps[start], first[start], queue[0] = 0, 0, start
    done, found = 0, 1
    while done < found:
        cell = queue[done]
        done += 1
        color = cell_color(state, cell)
        if cell != start and (PATH_ENDS >> color) & 1:
            continue
        for direction in range(FORWARD, RIGHT + 1):
            to = neighbor(state, cell, direction)
            if can_enter(state, to, color, mail, power) and (ignore_robots or state["robot"][to] == 0):
                first_bits = 1 << direction if cell == start else first[cell]
                if steps[to] == FAR:
                    steps[to], first[to], queue[found] = steps[cell] + 1, first_bits, to
                    found += 1
                elif steps[to] == steps[cell] + 1:
                    first[to] |= first_bits
    return found


@noinline_kernel
def find_directions(state, robot, color, ignore_robots):
    """Return the first directions of the shortest paths to cells of a color, a bit for each, and the length; else 0, FAR."""
    steps, first, queue = local_array(CELLS), local_array(CELLS), local_array(CELLS)
    found = search_paths(state, robot, battery_level(state, robot), ignore_robots, steps, first, queue)
    bits, least = 0, FAR
    for place in range(1, found):
        cell = queue[place]
        if cell_color(state, cell) == color and steps[cell] <= least:
            bits, least = bits | first[cell], steps[cell]
    return bits, least


@noinline_kernel
def write_charger_distances(state, steps, queue):
    """Write the moves from each cell to the nearest charger without other robots. Twins count only if there are no others."""
    low, high = board_range(state)
    steps[:] = FAR
    count = 0
    for twins in range(2):
        if count == 0:
            for cell in range(low, high):
                if cell_color(state, cell) == BLUE and is_twin_charger(state, cell) == twins:
                    steps[cell], queue[count] = 0, cell
                    count += 1
    expand_search(state, count, steps, queue)


@kernel
def is_twin_charger(state, cell):
    """Return whether a charger is beside a cell.

    No robot may stand there with a battery of more than 4. Two robots on adjacent chargers may never be able to leave them.
    """
    found = False
    for direction in range(FORWARD, RIGHT + 1):
        found |= cell_color(state, neighbor(state, cell, direction)) == BLUE
    return found


@noinline_kernel
def mean_receiver_distance(state, green):
    """Return the mean number of moves from a green cell to a receiver without other robots.

    The mean is over the indices of mails, each with its nearest receiver.
    """
    steps, queue = local_array(CELLS), local_array(CELLS)
    steps[:] = FAR
    steps[green], queue[0] = 0, green
    found = expand_search(state, 1, steps, queue)
    served, moves, count = np.int64(0), 0, 0
    for place in range(1, found):
        cell = queue[place]
        bit = np.int64(1) << (np.int64(state["target"][cell]) - 1) if cell_color(state, cell) == YELLOW else np.int64(0)
        if bit & ~served:
            served |= bit
            moves += steps[cell]
            count += 1
    return moves / max(count, 1)


@noinline_kernel
def expand_search(state, found, steps, queue):
    """Search breadth-first from the cells in `queue` over white and gray cells. Return the final length of the queue.

    Narrow cells lead to receivers only.
    """
    done = 0
    while done < found:
        cell = queue[done]
        done += 1
        if steps[cell] > 0 and (PATH_ENDS >> cell_color(state, cell)) & 1:
            continue
        narrow = steps[cell] > 0 and np.int64(state["ground"][cell]) & NARROW != 0
        for direction in range(FORWARD, RIGHT + 1):
            to = neighbor(state, cell, direction)
            color = cell_color(state, to)
            if steps[to] == FAR and color != OUTSIDE and color != RED and (not narrow or color == YELLOW):
                steps[to], queue[found] = steps[cell] + 1, to
                found += 1
    return found


# --------------------------------------------------------------------------------------------------------------------- A*


@noinline_kernel
def astar_step(state, robot, target, wary):
    """Return the first direction to `target` by the A* search of the original; STAND if there is no path.

    It ignores that narrow cells are closed to most robots; a `wary` robot uses only moves that its mail and battery allow.
    Every move costs 1, the estimate is the Manhattan distance. Paths lead over white and gray cells without robots;
    goals may be anything. Every second cell from the heap expands its neighbors in the opposite order, and of
    two entries of equal value in the heap either counts as the smaller one when it is compared with the other.
    """
    heap, cost, first = local_array(HEAP_CAPACITY), local_array(CELLS), local_array(CELLS)
    mail, power, start = np.int64(state["mail"][robot]), battery_level(state, robot), robot_cell(state, robot)
    cost[:] = FAR
    cost[start], first[start] = 0, STAND
    size, expanded = push_entry(heap, 0, heap_entry(state, 0, start, target)), 0
    while size > 0:
        cell = pop_entry(heap, size) % CELLS
        size -= 1
        if cell == target:
            return first[target]
        for turn in range(FORWARD, RIGHT + 1):
            direction = turn if expanded % 2 == 0 else RIGHT + FORWARD - turn
            to = neighbor(state, cell, direction)
            closed = wary and not can_enter(state, to, cell_color(state, cell), mail, power)
            if (to == target or is_free_plain(state, to)) and not closed and cost[cell] + 1 < cost[to]:
                cost[to] = cost[cell] + 1
                first[to] = direction if cell == start else first[cell]
                size = push_entry(heap, size, heap_entry(state, cost[to], to, target))
        expanded += 1
    return STAND


@kernel
def is_free_plain(state, cell):
    """Return whether a cell is white or gray, and free of robots."""
    color = cell_color(state, cell)
    return color in (WHITE, GRAY) and state["robot"][cell] == 0


@kernel
def heap_entry(state, cost, cell, target):
    """Return a cell and its value, the cost so far plus the estimate, as one number."""
    return (cost + manhattan_distance(state, cell, target)) * CELLS + cell


@kernel
def precedes(one, other):
    """Return whether an entry is not greater than another one."""
    return one // CELLS <= other // CELLS


@kernel
def push_entry(heap, size, new):
    """Push an entry on a binary heap; return the new size."""
    sift_up(heap, size, new)
    return size + 1


@kernel
def sift_up(heap, place, new):
    """Insert an entry at a place of the heap, or above it."""
    while place > 0 and precedes(new, heap[(place - 1) // 2]):
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = new


@kernel
def pop_entry(heap, size):
    """Remove the first entry of a binary heap and return it.

    The smaller children move up until a place at the bottom is free. The last entry is sifted up from there.
    """
    top, last = heap[0], size - 1
    place, child = 0, 1
    while child < last:
        if child + 1 < last and not precedes(heap[child], heap[child + 1]):
            child += 1
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    sift_up(heap, place, heap[last])
    return top
