# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-RoboticMail: the actions after which a robot can still reach a charger, from what it observes alone (SPEC §3, §4.4).

A search backward from the chargers finds, for each action, the moves to the nearest one: by the rules of moving with the
robot's mail, without one after its delivery, and with an unknown one after a pickup. Other robots do not block these paths. The
inner battery is taken to be the lowest that is displayed as the robot's.

Sets of cells are rows of bits, int64[LINES]: row y of the board at y + 1, between two empty ones. Several sets follow each
other.

board    the cells of each kind, see PLAIN and the following
reach    for each load: the cells from which a robot with this load comes to a charger within so many moves
entries  for each load: the cells that such a robot may enter next on its way
"""

import numpy as np

from momagames.games.robotmail.agents.routing_kernels import (
    FAR,
    battery_level,
    guaranteed_moves,
    is_twin_charger,
    possible_moves,
)
from momagames.games.robotmail.rules import can_enter_narrow
from momagames.games.robotmail.rules.state import (
    BACKWARD,
    BLUE,
    FORWARD,
    GRAY,
    GREEN,
    LEFT,
    MAX_SIDE,
    NARROW,
    RIGHT,
    STAND,
    WHITE,
    YELLOW,
    cell_at,
    cell_color,
    robot_cell,
)
from momagames.kernels.jit import kernel, local_array, noinline_kernel

ACTIONS = RIGHT + 1
LINES = MAX_SIDE + 2
# Loads, where their sets begin: no mail, none after a delivery on this cell, the robot's mail, one that it does not know yet
NO_MAIL, DELIVERED, OWN_MAIL, UNKNOWN_MAIL = range(0, 4 * LINES, LINES)
LOADS = 4 * LINES
# Kinds of cells: white or gray ones, green ones, receivers of the robot's mail, chargers, all but narrow ones, and all but
# those that are closed to its mail
PLAIN, SOURCES, RECEIVERS, CHARGERS, WIDE, OPEN = range(0, 6 * LINES, LINES)
KINDS = 6 * LINES
# With caution 2 the moves of the detours that others may force, for each robot of the game, and at most; chosen by measuring
DETOUR_MOVES, MAX_RESERVE = 2, 12


@noinline_kernel
def clear_unsafe_actions(state, agent, caution, mask):
    """Clear the actions in the mask after which the robot may run out of energy before it reaches a charger.

    Where no action is safe, those remain that need the fewest moves to a charger: standing costs none. Nothing is cleared if
    they need more than the battery can have.

    caution    1: other robots make way; 2: a reserve for detours around them remains
    """
    costs = local_array(ACTIONS)
    power = battery_level(state, agent)
    if state["with_battery"] == 0 or power == 0:
        return
    nearest = write_costs(state, agent, possible_moves(power), mask, costs)
    if nearest > possible_moves(power):
        return
    limit = guaranteed_moves(power)
    if caution > 1:
        limit -= min(DETOUR_MOVES * count_robots(state), MAX_RESERVE)
    limit = max(limit, nearest, 1)
    for action in range(ACTIONS):
        mask[action] = np.int8(mask[action] != 0 and costs[action] <= limit)


@kernel
def count_robots(state):
    return np.int64(state["players"]) * np.int64(state["team"])


@noinline_kernel
def write_costs(state, agent, most, mask, costs):
    """Write the moves to a charger with each action of the mask; return the least. Those beyond `most` may be FAR."""
    board, reach, entries = local_array(KINDS), local_array(LOADS), local_array(LOADS)
    mail, height = np.int64(state["mail"][agent]), np.int64(state["height"])
    x, line = np.int64(state["x"][agent]), np.int64(state["y"][agent]) + 1
    load = OWN_MAIL if mail else DELIVERED if cell_color(state, robot_cell(state, agent)) == YELLOW else NO_MAIL
    write_board(state, mail, board)
    for place in range(LOADS):
        reach[place] = board[CHARGERS + place % LINES]
        entries[place] = 0
    for action in range(ACTIONS):
        costs[action] = FAR
    nearest = FAR
    for moves in range(most + 1):
        is_complete = True
        write_entries(height, board, reach, entries)
        for action in range(ACTIONS):
            if mask[action] and costs[action] == FAR:
                to_line = line + np.int64(action == BACKWARD) - np.int64(action == FORWARD)
                to_x = x + np.int64(action == RIGHT) - np.int64(action == LEFT)
                cells = reach[load + line] if action == STAND else entries[load + to_line]
                if (cells >> to_x) & 1:
                    costs[action] = moves + np.int64(action != STAND)
                    nearest = min(nearest, costs[action])
                else:
                    is_complete = False
        if is_complete:
            break
        write_reach(height, reach, entries)
    return nearest


@noinline_kernel
def write_board(state, mail, board):
    """Write the cells of each kind. A charger beside another counts only if other robots can charge who stands there."""
    width, height = np.int64(state["width"]), np.int64(state["height"])
    is_alone = count_robots(state) == 1
    for place in range(KINDS):
        board[place] = 0
    for y in range(height):
        for x in range(width):
            cell = cell_at(state, x, y)
            color, place, bit = cell_color(state, cell), y + 1, 1 << x
            if color in (WHITE, GRAY):
                board[PLAIN + place] |= bit
            elif color == GREEN:
                board[SOURCES + place] |= bit
            elif color == YELLOW and np.int64(state["target"][cell]) == mail:
                board[RECEIVERS + place] |= bit
            elif color == BLUE and not (is_alone and is_twin_charger(state, cell)):
                board[CHARGERS + place] |= bit
            is_wide = np.int64(state["ground"][cell]) & NARROW == 0
            board[WIDE + place] |= bit * np.int64(is_wide)
            board[OPEN + place] |= bit * np.int64(is_wide or can_enter_narrow(state, cell, mail))


@noinline_kernel
def write_entries(height, board, reach, entries):
    """Write the cells that a robot enters on its way: plain ones, chargers, and those where its load changes."""
    for line in range(1, height + 1):
        plain, chargers, wide = board[PLAIN + line], board[CHARGERS + line], board[WIDE + line]
        unknown = (reach[UNKNOWN_MAIL + line] & plain) | chargers
        without = (reach[NO_MAIL + line] & plain) | (reach[UNKNOWN_MAIL + line] & board[SOURCES + line]) | chargers
        own = (reach[OWN_MAIL + line] & plain) | (reach[DELIVERED + line] & board[RECEIVERS + line]) | chargers
        entries[NO_MAIL + line] = without & wide
        entries[DELIVERED + line] = without  # narrow cells let in who comes from a receiver
        entries[OWN_MAIL + line] = own & board[OPEN + line]
        entries[UNKNOWN_MAIL + line] = unknown & wide


@noinline_kernel
def write_reach(height, reach, entries):
    """Write the cells from which a robot can enter an entry."""
    for load in range(0, LOADS, LINES):
        for place in range(load + 1, load + height + 1):
            reach[place] = (entries[place] << 1) | (entries[place] >> 1) | entries[place - 1] | entries[place + 1]
