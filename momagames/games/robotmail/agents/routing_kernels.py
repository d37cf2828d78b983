# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-RoboticMail: paths of scripted robots (SPEC §3), and their knowledge of the position.

Scripted robots use the layout, the cells of all robots and whether those carry mails, their own mail, and their own displayed
battery. They do not use the mails on green cells.

steps     int64[CELLS]: moves from the start of a search; FAR for cells that it did not reach
first     int64[CELLS]: the first directions of the shortest paths, a bit for each
queue     int64[CELLS]: the cells that were found, the nearest first
"""

import numpy as np

from momagames.games.robotmail.rules import may_enter
from momagames.games.robotmail.rules.state import (
    BLUE,
    CELLS,
    FORWARD,
    GREEN,
    GREY,
    NARROW,
    OUTSIDE,
    RED,
    RIGHT,
    STAND,
    WHITE,
    YELLOW,
    cell_at,
    cell_of,
    color_of,
    displayed_battery,
    neighbor,
)
from momagames.kernels.jit import kernel, local_array, noinline_kernel
from momagames.kernels.rng import advance, below

FAR = 1 << 20
EVENTFUL = (1 << GREEN) | (1 << YELLOW) | (1 << BLUE)  # colors at which a way ends, for the robot is another one then
OPEN = 4 * CELLS  # each cell is put on the heap once by each neighbor, at most

# ---------------------------------------------------------------------------------------------------------- what is known


@kernel
def power_of(state, robot):
    """Return the displayed battery; always full without batteries."""
    return displayed_battery(state["battery"][robot])


@kernel
def ends_of(state):
    """Return the range of the cell numbers of the board."""
    width, height = np.int64(state["width"]), np.int64(state["height"])
    return cell_at(state, 0, 0), cell_at(state, width - 1, height - 1) + 1


@kernel
def apart(state, cell, other):
    """Return the Manhattan distance of two cells."""
    pitch = np.int64(state["width"]) + 1
    return abs(cell // pitch - other // pitch) + abs(cell % pitch - other % pitch)


@kernel
def takes(state, cell, color, mail):
    """Return whether a cell has this color and, if it is a receiver, accepts this mail."""
    return color_of(state, cell) == color and (color != YELLOW or np.int64(state["target"][cell]) == mail)


@kernel
def nearest_cell(state, start, color, mail):
    """Return the first cell of a color (yellow: a receiver of this mail) at the least Manhattan distance; -1: none."""
    low, high = ends_of(state)
    best, least = -1, FAR
    for cell in range(low, high):
        if takes(state, cell, color, mail) and apart(state, start, cell) < least:
            best, least = cell, apart(state, start, cell)
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
def one_of(bits, word):
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
def go(bits, legal, word):
    """Return an action and the generator word: a legal one of `bits`, else standing if legal, else any legal action."""
    choices = bits & legal
    if choices == 0:
        choices = legal & (1 << STAND) if legal & (1 << STAND) else legal
    word = advance(word)
    return one_of(choices, word), word


# ---------------------------------------------------------------------------------------------------------- breadth first


@noinline_kernel
def find_ways(state, robot, power, through, steps, first, queue):
    """Search breadth-first from where a robot stands, by the rules that hold for its mail.

    power     the assumed displayed battery
    through   whether the other robots are thought away
    Returns   how many cells were found
    """
    mail, start = np.int64(state["mail"][robot]), cell_of(state, robot)
    steps[:] = FAR
    steps[start], first[start], queue[0] = 0, 0, start
    done, found = 0, 1
    while done < found:
        cell = queue[done]
        done += 1
        color = color_of(state, cell)
        if cell != start and (EVENTFUL >> color) & 1:
            continue
        for direction in range(FORWARD, RIGHT + 1):
            to = neighbor(state, cell, direction)
            if may_enter(state, to, color, mail, power) and (through or state["robot"][to] == 0):
                begins = 1 << direction if cell == start else first[cell]
                if steps[to] == FAR:
                    steps[to], first[to], queue[found] = steps[cell] + 1, begins, to
                    found += 1
                elif steps[to] == steps[cell] + 1:
                    first[to] |= begins
    return found


@noinline_kernel
def toward(state, robot, color, through):
    """The directions in which the shortest ways to cells of a color begin, a bit for each, and how long they are; 0, FAR
    if there is none."""
    steps, first, queue = local_array(CELLS), local_array(CELLS), local_array(CELLS)
    found = find_ways(state, robot, power_of(state, robot), through, steps, first, queue)
    bits, least = 0, FAR
    for place in range(1, found):
        cell = queue[place]
        if color_of(state, cell) == color and steps[cell] <= least:
            bits, least = bits | first[cell], steps[cell]
    return bits, least


@noinline_kernel
def find_chargers(state, steps, queue):
    """Moves from each cell to the nearest charger, other robots apart. Twins count only if there are no others."""
    low, high = ends_of(state)
    steps[:] = FAR
    count = 0
    for twins in range(2):
        if count == 0:
            for cell in range(low, high):
                if color_of(state, cell) == BLUE and is_twin(state, cell) == twins:
                    steps[cell], queue[count] = 0, cell
                    count += 1
    spread(state, count, steps, queue)


@kernel
def is_twin(state, cell):
    """Return whether a charger is beside a cell: no robot may stand there with a battery of more than 4, so that two robots on
    adjacent chargers may never leave them."""
    found = False
    for direction in range(FORWARD, RIGHT + 1):
        found |= color_of(state, neighbor(state, cell, direction)) == BLUE
    return found


@noinline_kernel
def mean_way(state, green):
    """Moves from a green cell to a receiver, other robots apart: the mean over the indices of mails, each with its nearest
    receiver."""
    steps, queue = local_array(CELLS), local_array(CELLS)
    steps[:] = FAR
    steps[green], queue[0] = 0, green
    found = spread(state, 1, steps, queue)
    served, moves, count = np.int64(0), 0, 0
    for place in range(1, found):
        cell = queue[place]
        bit = np.int64(1) << (np.int64(state["target"][cell]) - 1) if color_of(state, cell) == YELLOW else np.int64(0)
        if bit & ~served:
            served |= bit
            moves += steps[cell]
            count += 1
    return moves / max(count, 1)


@noinline_kernel
def spread(state, found, steps, queue):
    """Search breadth-first from the cells in `queue`, over white and gray cells, to whatever they lead to; narrow cells lead to
    receivers alone. Returns how many cells are in the queue then."""
    done = 0
    while done < found:
        cell = queue[done]
        done += 1
        if steps[cell] > 0 and (EVENTFUL >> color_of(state, cell)) & 1:
            continue
        narrow = steps[cell] > 0 and np.int64(state["ground"][cell]) & NARROW != 0
        for direction in range(FORWARD, RIGHT + 1):
            to = neighbor(state, cell, direction)
            color = color_of(state, to)
            if steps[to] == FAR and color != OUTSIDE and color != RED and (not narrow or color == YELLOW):
                steps[to], queue[found] = steps[cell] + 1, to
                found += 1
    return found


# --------------------------------------------------------------------------------------------------------------------- A*


@noinline_kernel
def astar_step(state, robot, goal, wary):
    """Return the first direction to `goal` by the A* search of the original; STAND if there is no path.

    It ignores that narrow cells are closed to most robots; a `wary` robot uses only moves that its mail and battery allow.
    Every move costs 1, the estimate is the Manhattan distance. Paths lead over white and gray cells without robots;
    goals may be anything. Every second cell from the heap expands its neighbors in the opposite order, and of
    two entries of equal value in the heap either counts as the smaller one when it is compared with the other.
    """
    heap, cost, first = local_array(OPEN), local_array(CELLS), local_array(CELLS)
    mail, power, start = np.int64(state["mail"][robot]), power_of(state, robot), cell_of(state, robot)
    cost[:] = FAR
    cost[start], first[start] = 0, STAND
    size, expanded = push(heap, 0, entry(state, 0, start, goal)), 0
    while size > 0:
        cell = pull(heap, size) % CELLS
        size -= 1
        if cell == goal:
            return first[goal]
        for turn in range(FORWARD, RIGHT + 1):
            direction = turn if expanded % 2 == 0 else RIGHT + FORWARD - turn
            to = neighbor(state, cell, direction)
            closed = wary and not may_enter(state, to, color_of(state, cell), mail, power)
            if (to == goal or is_plain(state, to)) and not closed and cost[cell] + 1 < cost[to]:
                cost[to] = cost[cell] + 1
                first[to] = direction if cell == start else first[cell]
                size = push(heap, size, entry(state, cost[to], to, goal))
        expanded += 1
    return STAND


@kernel
def is_plain(state, cell):
    """Return whether a cell is white or gray, and free of robots."""
    color = color_of(state, cell)
    return color in (WHITE, GREY) and state["robot"][cell] == 0


@kernel
def entry(state, cost, cell, goal):
    """A cell with its value, the cost so far and the estimate, as one number."""
    return (cost + apart(state, cell, goal)) * CELLS + cell


@kernel
def before(one, other):
    """Return whether an entry counts as the smaller one."""
    return one // CELLS <= other // CELLS


@kernel
def push(heap, size, new):
    """Push an entry on a binary heap; return the new size."""
    rise(heap, size, new)
    return size + 1


@kernel
def rise(heap, place, new):
    """Put an entry in at a place, or above it."""
    while place > 0 and before(new, heap[(place - 1) // 2]):
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = new


@kernel
def pull(heap, size):
    """Take the first entry off a binary heap: the smaller ones move up until a place at the bottom is free, from which the
    last one rises."""
    top, last = heap[0], size - 1
    place, child = 0, 1
    while child < last:
        if child + 1 < last and not before(heap[child], heap[child + 1]):
            child += 1
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    rise(heap, place, heap[last])
    return top
