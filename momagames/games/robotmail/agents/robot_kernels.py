# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-RoboticMail: the kernels of the policies "nearest", "astar" and "energy_saver", one robot each.

A robot uses the layout, the cells of all robots, the mails that they carry, its own displayed battery, the number of steps it
has stood in a row, and its mask. Its observations contain all this. It does not use the mails on green cells. "energy_saver"
also uses the number of mails that each robot of its team has delivered, which follows from earlier observations.
"""

import numpy as np

from momagames.games.robotmail.agents.routing_kernels import (
    FAR,
    MOVES_PER_UNIT,
    astar_step,
    battery_level,
    board_range,
    choose_action,
    find_directions,
    find_nearest,
    guaranteed_moves,
    is_destination,
    is_free_plain,
    is_twin_charger,
    legal_bits,
    manhattan_distance,
    mean_receiver_distance,
    search_paths,
    write_charger_distances,
)
from momagames.games.robotmail.rules import count_deliveries
from momagames.games.robotmail.rules.state import (
    BLUE,
    CELLS,
    ENTER_BELOW,
    FORWARD,
    GREEN,
    LEAVE_FROM,
    RIGHT,
    SEATS,
    STAND,
    YELLOW,
    cell_color,
    neighbor,
    robot_cell,
)
from momagames.kernels.jit import kernel, local_array, noinline_kernel
from momagames.kernels.rng import advance, below

CLOSE_DISTANCE = 2  # smallest distance, in moves, to an occupied target cell while waiting for it
NONE, ALL_BLOCKED = -1, -2  # instead of a cell
CROWD_SIZE = 2  # "astar": robots around a green cell or a receiver that block it
# "energy_saver"
RESERVE_MOVES = 4  # moves reserved for detours
WAIT_STEPS, DETOUR_STEPS = 2, 8  # steps
OCCUPIED_COST, TWIN_COST = 2.0, 1000.0  # additional moves for a cell with a robot on it, and for a charger beside another

astar_memory = np.dtype([("wary", "u1")])  # of "astar": the index of the mail with which it is wary, plus 1
# of "energy_saver": its options, the remaining steps of a detour around others, and distances on the layout: moves from each
# cell to the nearest charger, and from green cells to a receiver
energy_saver_memory = np.dtype(
    [
        *[(name, "u1") for name in ("patience", "fair", "round", "ready")],
        ("to_charger", "i4", (CELLS,)),
        ("onward", "f4", (CELLS,)),
    ]
)


@kernel
def needs_charge(state, agent):
    """Return whether the battery is low enough to enter a charger."""
    return battery_level(state, agent) <= ENTER_BELOW


@kernel
def task_color(state, agent):
    """Return the color of the target of a robot with a full battery."""
    return YELLOW if state["mail"][agent] else GREEN


# ---------------------------------------------------------------------------------------------------------------- nearest


@kernel
def nearest(state, agent, mask, parts, memory, word, action):
    """Take the shortest path around the other robots; ties are broken at random.

    The target is a charger with a low battery, a receiver of its mail, or else a green cell. Without a path around the robots
    it ignores them until it is CLOSE_DISTANCE away. A robot that cannot move on stands; where it cannot stand it moves at
    random.
    """
    bits, length = 0, FAR
    if needs_charge(state, agent):
        bits, length = route_to_color(state, agent, BLUE)
    if length == FAR:
        bits, length = route_to_color(state, agent, task_color(state, agent))
    action[0], word = choose_action(bits, legal_bits(mask), word)
    return word


@noinline_kernel
def route_to_color(state, agent, color):
    """Return the directions to cells of a color, a bit for each, and the length of the path; FAR if there is none."""
    bits, length = find_directions(state, agent, color, False)
    if length == FAR:
        bits, length = find_directions(state, agent, color, True)
        if length <= CLOSE_DISTANCE:
            bits = 0
    return bits, length


# ------------------------------------------------------------------------------------------------------------------- A*


@kernel
def astar(state, agent, mask, parts, memory, word, action):
    """Act as the scripted agent of the original, on any layout.

    Among several receivers of its mail it chooses the nearest one that is not blocked. Without a charger it does not charge;
    without a target it stands. The original waits for a narrow cell that never opens, until it has to move at random. This
    agent becomes wary instead: until its mail changes, it plans only with legal moves.
    """
    legal, careful = legal_bits(mask), np.int64(state["mail"][agent]) + 1
    target = choose_target(state, agent)
    step = STAND
    if target >= 0:
        step = astar_step(state, agent, target, memory["wary"] == careful)
        if legal & (1 << STAND | 1 << step) == 0 and state["robot"][neighbor(state, robot_cell(state, agent), step)] == 0:
            memory["wary"] = careful
            step = astar_step(state, agent, target, True)
    action[0], word = choose_action(1 << step, legal, word)
    return word


@noinline_kernel
def choose_target(state, agent):
    """Return the target cell; negative to stay."""
    start, mail, target = robot_cell(state, agent), np.int64(state["mail"][agent]), NONE
    if cell_color(state, start) == BLUE and battery_level(state, agent) < LEAVE_FROM:
        return NONE
    if needs_charge(state, agent):
        target = nearest_unblocked(state, start, BLUE, mail)
    return nearest_unblocked(state, start, task_color(state, agent), mail) if target == NONE else target


@noinline_kernel
def nearest_unblocked(state, start, color, mail):
    """Return the nearest cell of a color; the nearest one that is not blocked if that one is blocked and not beside the robot.

    NONE: there are no such cells. ALL_BLOCKED: all of them are blocked.
    """
    target = find_nearest(state, start, color, mail)
    if target < 0 or manhattan_distance(state, start, target) == 1 or not is_blocked(state, target, color):
        return target
    low, high = board_range(state)
    target, least = ALL_BLOCKED, FAR
    for cell in range(low, high):
        if (
            is_destination(state, cell, color, mail)
            and not is_blocked(state, cell, color)
            and manhattan_distance(state, start, cell) < least
        ):
            target, least = cell, manhattan_distance(state, start, cell)
    return target


@kernel
def is_blocked(state, cell, color):
    """Return whether a robot stands on a cell and others wait for it.

    One robot waits beside a charger, or CROWD_SIZE robots beside a green cell (without a mail) or a receiver (with a mail).
    """
    waiting = 0
    for direction in range(FORWARD, RIGHT + 1):
        other = np.int64(state["robot"][neighbor(state, cell, direction)]) - 1
        if other >= 0:
            waiting += color == BLUE or (state["mail"][other] != 0) == (color == YELLOW)
    return state["robot"][cell] != 0 and waiting == (1 if color == BLUE else CROWD_SIZE)


# ---------------------------------------------------------------------------------------------------------- energy saver


@kernel
def energy_saver(state, agent, mask, parts, memory, word, action):
    """Use few moves for each mail, many of them with at most two units of battery, where a move costs half.

    It goes to the green cell with the fewest moves to it and on to a receiver, in the mean. It waits WAIT_STEPS for a robot in
    its way. Then at random it waits on, or walks around others for DETOUR_STEPS (one to a charger). Without a mail it rests if
    nearer mates deliver all missing mails. It charges while the battery might not last for its target and the path
    to a charger from there. With `patience` it stands that many steps in a row before it moves, where legal. A `fair` robot
    holds its mail while it has delivered more than a mate, and never rests in favor of nearer mates.
    """
    legal = legal_bits(mask)
    can_stand = legal & (1 << STAND)
    if can_stand and state["stands"][agent] < memory["patience"]:
        action[0] = STAND
        return word
    precompute_distances(state, memory)
    color = choose_color(state, agent, memory, can_stand)
    if color == BLUE and cell_color(state, robot_cell(state, agent)) == BLUE:
        bits = can_stand
    elif color != BLUE and (has_more_deliveries(state, agent) if memory["fair"] else is_redundant(state, agent)):
        bits = can_stand if can_stand else plain_directions(state, agent)
    else:
        word = advance(word)
        if memory["round"] == 0 or color == BLUE:
            bits = target_directions(state, agent, memory, color, True)
            waited = state["stands"][agent] >= WAIT_STEPS and below(word, 2) == 1
            stuck = bits & legal == 0 and (can_stand == 0 or waited)
            memory["round"] = 0 if not stuck else 1 if color == BLUE else DETOUR_STEPS
        if memory["round"] > 0:
            bits = target_directions(state, agent, memory, color, False)
            memory["round"] -= 1
    action[0], word = choose_action(bits, legal, word)
    return word


@noinline_kernel
def precompute_distances(state, memory):
    """Precompute the distances of the layout, once per game."""
    if memory["ready"]:
        return
    memory["ready"] = 1
    steps, queue = local_array(CELLS), local_array(CELLS)
    write_charger_distances(state, steps, queue)
    low, high = board_range(state)
    for cell in range(low, high):
        memory["to_charger"][cell] = steps[cell]
        if cell_color(state, cell) == GREEN:
            memory["onward"][cell] = mean_receiver_distance(state, cell)


@noinline_kernel
def choose_color(state, agent, memory, can_stand):
    """Return the color to go to, or to stay on: that of the task, or a charger if the battery might not last for both.

    A charger that the robot cannot enter when it arrives, or on which it cannot stay, does not count.
    """
    color, power = task_color(state, agent), battery_level(state, agent)
    charger_moves = np.int64(memory["to_charger"][robot_cell(state, agent)])
    too_soon = charger_moves < MOVES_PER_UNIT * (power - ENTER_BELOW)
    if charger_moves == FAR or (too_soon and (charger_moves > 0 or can_stand == 0)):
        return color
    target, length, _ = best_target(state, agent, memory, color, True)
    enough = target >= 0 and guaranteed_moves(power) >= length + np.int64(memory["to_charger"][target]) + RESERVE_MOVES
    return color if enough else BLUE


@noinline_kernel
def best_target(state, agent, memory, color, ignore_robots):
    """Return the cell of a color with the lowest cost, the moves to it, and the first directions of its paths, a bit for each.

    The cost is the number of moves, plus OCCUPIED_COST for a cell with a robot on it and TWIN_COST for a twin charger.
    Returns NONE, FAR, 0 if there is no such cell.

    ignore_robots   plan paths through other robots
    """
    steps, first, queue = local_array(CELLS), local_array(CELLS), local_array(CELLS)
    power = min(battery_level(state, agent), ENTER_BELOW) if color == BLUE else battery_level(state, agent)
    found = search_paths(state, agent, power, ignore_robots, steps, first, queue)
    target, least = NONE, np.float64(FAR)
    for place in range(1, found):
        cell = queue[place]
        if cell_color(state, cell) == color:
            value = steps[cell] + (OCCUPIED_COST if state["robot"][cell] else 0.0)
            if color == GREEN:
                value += np.float64(memory["onward"][cell])
            elif color == BLUE and is_twin_charger(state, cell):
                value += TWIN_COST
            if value < least:
                target, least = cell, value
    return (target, steps[target], first[target]) if target >= 0 else (NONE, FAR, 0)


@noinline_kernel
def target_directions(state, agent, memory, color, ignore_robots):
    """Return the directions toward a color, a bit for each; none if the robot waits for another one there."""
    target, length, bits = best_target(state, agent, memory, color, ignore_robots)
    return 0 if target == NONE or (state["robot"][target] and length <= CLOSE_DISTANCE) else bits


@noinline_kernel
def plain_directions(state, agent):
    """Return the directions of free white and gray cells, a bit for each."""
    cell, bits = robot_cell(state, agent), 0
    for direction in range(FORWARD, RIGHT + 1):
        bits |= np.int64(is_free_plain(state, neighbor(state, cell, direction))) << direction
    return bits


@noinline_kernel
def has_more_deliveries(state, agent):
    """Return whether a robot with a mail has delivered more than a mate whose battery is not empty."""
    team, found = np.int64(state["team"]), False
    for mate in range(agent - agent % team, agent - agent % team + team):
        found |= battery_level(state, mate) > 0 and np.int64(state["delivered"][mate]) < np.int64(state["delivered"][agent])
    return found and state["mail"][agent] != 0


@noinline_kernel
def is_redundant(state, agent):
    """Return whether a robot has no mail, and mates with a mail or nearer to one deliver all that the player still needs."""
    team, deliveries = np.int64(state["team"]), 0
    for mate in range(agent - agent % team, agent - agent % team + team):
        if mate != agent and battery_level(state, mate) > 0:
            deliveries += state["mail"][mate] != 0 or rank_to_green(state, mate) < rank_to_green(state, agent)
    return state["mail"][agent] == 0 and deliveries >= np.int64(state["required"]) - count_deliveries(state, agent // team)


@noinline_kernel
def rank_to_green(state, robot):
    """Return a rank by the Manhattan distance to the nearest green cell, with the robot's index as a tie-break."""
    start = robot_cell(state, robot)
    target = find_nearest(state, start, GREEN, 0)
    return (FAR if target < 0 else manhattan_distance(state, start, target)) * SEATS + robot
