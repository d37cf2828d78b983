# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-RoboticMail: the egocentric view for learners, from what a robot observes, and what follows from its own past.

It shows the layout, the cells, mails and displayed batteries of all robots, the robot's mask, the steps it has stood in a row,
and the mails that its team has delivered, but neither the mails on green cells nor the deliveries of other players. Planes
show the cells at most RADIUS rows and columns from the robot. What is absent is zero.

Ways are the moves to the nearest cell of a kind with a move in each direction first. Sets of cells are rows of bits, see
`safety_kernels`.
"""

import numpy as np

from momagames.games.robotmail.agents.routing_kernels import FAR, battery_level, find_nearest, guaranteed_moves
from momagames.games.robotmail.agents.safety_kernels import LINES, count_robots
from momagames.games.robotmail.rules import can_enter, can_stand, count_deliveries, legal_directions
from momagames.games.robotmail.rules.state import (
    BACKWARD,
    BLUE,
    CELLS,
    ENTER_BELOW,
    FORWARD,
    GRAY,
    GREEN,
    LEAVE_FROM,
    LEFT,
    MAX_STANDS,
    RIGHT,
    WHITE,
    YELLOW,
    cell_at,
    cell_color,
    robot_cell,
)
from momagames.kernels.grid import bit_count
from momagames.kernels.jit import kernel, local_array, noinline_kernel

RADIUS = 3
SIDE = 2 * RADIUS + 1
PLANES = ("closed", "goal", "charger", "robot", "loaded", "mate", "leaving", "heading_down", "heading_right")
DIRECTIONS = ("forward", "backward", "left", "right")
WAYS = ("goal", "free_goal", "trip", "charger", "free_charger")  # "free": around the robots that are near
SCALARS = (
    *("can_stand", "loaded", "stands", "team_left", "time", "robots", "docked", "spare", "spare_beyond"),
    *(f"battery_{level}" for level in range(11)),
    *("on_green", "on_yellow", "on_blue"),
    *(f"legal_{direction}" for direction in DIRECTIONS),
    *(f"{way}_{direction}" for way in WAYS for direction in (*DIRECTIONS, "near")),
)  # fmt: skip

(CLOSED, GOAL, CHARGER, ROBOT, LOADED, MATE, LEAVING, DOWN, SIDEWAYS) = range(0, len(PLANES) * SIDE * SIDE, SIDE * SIDE)
SPARE, BATTERY, ON_COLOR, LEGAL, FIRST_WAY = 7, 9, 20, 23, 27  # first scalars of these names
# Kinds of cells: white or gray ones, goals and chargers that are open to the robot's load, all receivers, and robots near it
PLAIN, GOALS, CHARGERS, RECEIVERS, OTHERS = range(0, 5 * LINES, LINES)
KINDS = 5 * LINES
NEAR = 3  # moves to a robot that is in the way
SIXTEENTH, ONE, ZERO = np.float32(1 / 16), np.float32(1), np.float32(0)


@noinline_kernel
def write_egocentric_view(state, agent, planes, scalars):
    """Write the view of a robot, see `contract.LearningSupport`."""
    board = local_array(KINDS)
    for place in range(planes.shape[0]):
        planes[place] = ZERO
    for place in range(scalars.shape[0]):
        scalars[place] = ZERO
    write_board(state, agent, board)
    write_cells(state, agent, planes)
    write_robots(state, agent, planes)
    write_own_scalars(state, agent, scalars)
    write_ways(state, agent, board, scalars)


@kernel
def is_goal(state, cell, mail):
    """Return whether a robot with this mail, or without one, is on its way to such a cell."""
    color = cell_color(state, cell)
    return (color == YELLOW and np.int64(state["target"][cell]) == mail) if mail else color == GREEN


@noinline_kernel
def write_board(state, agent, board):
    """Write the cells of each kind."""
    width, height = np.int64(state["width"]), np.int64(state["height"])
    mail = np.int64(state["mail"][agent])
    for place in range(KINDS):
        board[place] = 0
    for y in range(height):
        for x in range(width):
            cell = cell_at(state, x, y)
            color, place, bit = cell_color(state, cell), y + 1, 1 << x
            if color == YELLOW:
                board[RECEIVERS + place] |= bit
            if not can_enter(state, cell, GRAY, mail, ENTER_BELOW):
                continue
            if color in (WHITE, GRAY):
                board[PLAIN + place] |= bit
            elif color == BLUE:
                board[CHARGERS + place] |= bit
            else:
                board[GOALS + place] |= bit
    for other in range(count_robots(state)):
        down, right = measure_offset(state, agent, other)
        if other != agent and abs(down) + abs(right) <= NEAR:
            board[OTHERS + np.int64(state["y"][other]) + 1] |= 1 << np.int64(state["x"][other])


@kernel
def measure_offset(state, agent, other):
    """Return the rows and columns from a robot to another one."""
    down = np.int64(state["y"][other]) - np.int64(state["y"][agent])
    return down, np.int64(state["x"][other]) - np.int64(state["x"][agent])


@kernel
def write_cells(state, agent, planes):
    """Write what the cells around the robot are to it."""
    width, height, mail = np.int64(state["width"]), np.int64(state["height"]), np.int64(state["mail"][agent])
    power, own = battery_level(state, agent), cell_color(state, robot_cell(state, agent))
    top, left = np.int64(state["y"][agent]) - RADIUS, np.int64(state["x"][agent]) - RADIUS
    for i in range(SIDE):
        for j in range(SIDE):
            place, y, x = i * SIDE + j, top + i, left + j
            if y < 0 or y >= height or x < 0 or x >= width:
                planes[CLOSED + place] = ONE
                continue
            cell = cell_at(state, x, y)
            if not can_enter(state, cell, own, mail, power):
                planes[CLOSED + place] = ONE
            if is_goal(state, cell, mail):
                planes[GOAL + place] = ONE
            if cell_color(state, cell) == BLUE:
                planes[CHARGER + place] = ONE


@kernel
def write_robots(state, agent, planes):
    """Write the other robots around, whether they must leave their cells or have to stay, and where they are going.

    Their goals are chargers with a low battery, receivers of their mail, or else green cells, the nearest ones.
    """
    team, pitch = np.int64(state["team"]), np.int64(state["width"]) + 1
    for other in range(count_robots(state)):
        down, right = measure_offset(state, agent, other)
        if other == agent or abs(down) > RADIUS or abs(right) > RADIUS:
            continue
        place, cell = (down + RADIUS) * SIDE + right + RADIUS, robot_cell(state, other)
        color, mail, power = cell_color(state, cell), np.int64(state["mail"][other]), battery_level(state, other)
        planes[ROBOT + place] = ONE
        planes[LOADED + place] = ONE if mail else ZERO
        planes[MATE + place] = ONE if other // team == agent // team else ZERO
        if power == 0 or (color == BLUE and power < LEAVE_FROM):
            planes[LEAVING + place] = -ONE
            continue
        if color == BLUE or (color == GREEN and mail) or (color == YELLOW and mail == 0):
            planes[LEAVING + place] = ONE
        goal = find_nearest(state, cell, BLUE, mail) if power <= ENTER_BELOW else -1
        if goal < 0:
            goal = find_nearest(state, cell, YELLOW if mail else GREEN, mail)
        if goal >= 0:
            planes[DOWN + place] = find_sign(goal // pitch - cell // pitch)
            planes[SIDEWAYS + place] = find_sign(goal % pitch - cell % pitch)


@kernel
def find_sign(value):
    """Return 1, 0 or -1."""
    return ONE if value > 0 else -ONE if value < 0 else ZERO


@kernel
def write_own_scalars(state, agent, scalars):
    """Write the robot's load, battery, legal actions and the progress of its team.

    The time is zero where turns have random lengths, from which a robot cannot tell the number of steps.
    """
    power, cell, robots = battery_level(state, agent), robot_cell(state, agent), count_robots(state)
    color, most = cell_color(state, cell), np.int64(state["max_step"])
    missing = np.int64(state["required"]) - count_deliveries(state, agent // np.int64(state["team"]))
    scalars[0] = np.float32(can_stand(state, agent))
    scalars[1] = np.float32(state["mail"][agent] != 0)
    scalars[2] = np.float32(min(np.int64(state["stands"][agent]), MAX_STANDS)) / np.float32(MAX_STANDS)
    scalars[3] = np.float32(min(max(missing, 0), 8)) / np.float32(8)
    if state["random_turns"] == 0:
        scalars[4] = np.float32(np.int64(state["ply"]) * 64 // most) / np.float32(64)
    scalars[5] = np.float32(robots) / np.float32(36)
    scalars[BATTERY + power] = ONE
    if color >= GREEN:
        scalars[ON_COLOR + color - GREEN] = ONE
    docked = 0
    for other in range(robots):
        docked += other != agent and cell_color(state, robot_cell(state, other)) == BLUE
    scalars[6] = np.float32(min(docked, 4)) / np.float32(4)
    free, _ = legal_directions(state, agent)
    for direction in range(FORWARD, RIGHT + 1):
        if (free >> direction) & 1:
            scalars[LEGAL + direction - FORWARD] = ONE


@noinline_kernel
def write_ways(state, agent, board, scalars):
    """Write the ways of each kind, and the moves that the battery has to spare: to a charger, and by way of a goal."""
    height, power = np.int64(state["height"]), battery_level(state, agent)
    x, line = np.int64(state["x"][agent]), np.int64(state["y"][agent]) + 1
    reach, ways = local_array(LINES), local_array(RIGHT)
    for kind in range(2):
        is_free, at = kind == 1, FIRST_WAY + kind * (RIGHT + 1)
        search_ways(board, GOALS, height, is_free, x, line, reach, ways)
        goal = write_way(ways, scalars, at)
        beyond = search_ways(board, CHARGERS, height, is_free, x, line, reach, ways)
        charger = write_way(ways, scalars, at + 3 * (RIGHT + 1))
        if not is_free and state["with_battery"]:
            scalars[SPARE] = clip_moves(guaranteed_moves(power) - charger)
            scalars[SPARE + 1] = clip_moves(guaranteed_moves(power) - goal - beyond)
    if state["mail"][agent] == 0:
        search_trips(state, board, height, x, line, reach, ways)
        write_way(ways, scalars, FIRST_WAY + 2 * (RIGHT + 1))


@kernel
def clip_moves(moves):
    """Return a number of moves as a value of the view."""
    return np.float32(min(max(moves, -16), 16)) * SIXTEENTH


@kernel
def write_way(ways, scalars, at):
    """Write how near a cell is by the best direction, and how good each direction is; return the moves, FAR without a way."""
    nearest = FAR
    for way in range(RIGHT):
        nearest = min(nearest, ways[way])
    if nearest < FAR:
        for way in range(RIGHT):
            scalars[at + way] = np.float32(max(4 - (ways[way] - nearest), 0)) * np.float32(0.25)
        scalars[at + RIGHT] = np.float32(max(32 - nearest, 0)) * np.float32(1 / 32)
    return nearest


@noinline_kernel
def search_ways(board, kind, height, is_free, x, line, reach, ways):
    """Write the moves to the nearest cell of a kind by each direction, FAR where there is no way.

    is_free    around the robots that are near
    Returns    the most moves from a goal to such a cell, FAR if one has no way
    """
    missing, beyond = 0, FAR
    for place in range(height + 2):
        reach[place] = board[kind + place] & ~(board[OTHERS + place] if is_free else 0)
        missing += kind == CHARGERS and board[GOALS + place] != 0
    for way in range(RIGHT):
        ways[way] = FAR
    found, moves, is_growing = 0, 0, True
    while is_growing and (found < RIGHT or missing > 0):
        found = note_ways(reach, x, line, moves, ways)
        if missing > 0:
            missing = 0
            for place in range(1, height + 1):
                around = (reach[place] << 1) | (reach[place] >> 1) | reach[place - 1] | reach[place + 1]
                missing += board[GOALS + place] & ~around != 0
            beyond = moves + 1
        is_growing = spread(board, height, is_free, reach)
        moves += 1
    return FAR if missing else beyond


@kernel
def note_ways(reach, x, line, moves, ways):
    """Note the directions in which a cell is within so many moves of the end; return how many have been found."""
    found = 0
    for direction in range(FORWARD, RIGHT + 1):
        to = line + np.int64(direction == BACKWARD) - np.int64(direction == FORWARD)
        at = x + np.int64(direction == RIGHT) - np.int64(direction == LEFT)
        if ways[direction - FORWARD] == FAR and at >= 0 and (reach[to] >> at) & 1:
            ways[direction - FORWARD] = moves + 1
        found += ways[direction - FORWARD] != FAR
    return found


@kernel
def spread(board, height, is_free, reach):
    """Add the open cells from which a robot enters the set; return whether there are any."""
    above, is_growing = np.int64(0), False
    for place in range(1, height + 1):
        row = reach[place]
        around = (row << 1) | (row >> 1) | above | reach[place + 1]
        new = around & board[PLAIN + place] & ~row & ~(board[OTHERS + place] if is_free else 0)
        above, reach[place] = row, row | new
        is_growing |= new != 0
    return is_growing


@noinline_kernel
def search_trips(state, board, height, x, line, reach, ways):
    """Write the moves by each direction to the best green cell and on to a receiver, in the mean."""
    delay = local_array(CELLS)
    latest, soonest = 0, FAR
    for place in range(1, height + 1):
        for at in range(np.int64(state["width"])):
            if (board[GOALS + place] >> at) & 1:
                moves = mean_receiver_moves(board, height, at, place, reach)
                delay[place * LINES + at] = moves
                latest, soonest = max(latest, moves), min(soonest, moves)
    for place in range(height + 2):
        reach[place] = 0
    for way in range(RIGHT):
        ways[way] = FAR
    found, moves, is_growing = 0, soonest, True
    while found < RIGHT and (is_growing or moves <= latest):
        if moves <= latest:
            for place in range(1, height + 1):
                for at in range(np.int64(state["width"])):
                    if (board[GOALS + place] >> at) & 1 and delay[place * LINES + at] == moves:
                        reach[place] |= 1 << at
        found = note_ways(reach, x, line, moves, ways)
        is_growing = spread(board, height, False, reach)
        moves += 1


@noinline_kernel
def mean_receiver_moves(board, height, x, line, reach):
    """Return the mean number of moves from a green cell to the receivers, rounded, without those that have no way."""
    for place in range(height + 2):
        reach[place] = 0
    reach[line] = 1 << x
    seen, total, moves, is_growing = 0, 0, 1, True
    while is_growing:
        served = 0
        for place in range(1, height + 1):
            around = (reach[place] << 1) | (reach[place] >> 1) | reach[place - 1] | reach[place + 1]
            served += bit_count(np.uint64(around & board[RECEIVERS + place]))
        total += (served - seen) * moves
        seen = served
        is_growing = spread(board, height, False, reach)
        moves += 1
    return (total + seen // 2) // max(seen, 1)
