# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-RoboticMail: the kernels of the policies "nearest", "astar" and "energy_saver", one robot each.

A robot knows the layout, the cells of all robots, which mails they carry, its own battery as it is shown, how often in a row
it has stood, and its mask: what its observation shows, and what it can remember. It does not know which mails lie on green
cells. "energy_saver" knows besides how many mails each robot of its team has delivered, which it could count by looking.
"""

import numpy as np

from momagames.games.robotmail.agents.routing_kernels import (
    FAR,
    apart,
    astar_step,
    ends_of,
    find_chargers,
    find_ways,
    go,
    is_plain,
    is_twin,
    legal_bits,
    mean_way,
    nearest_cell,
    power_of,
    takes,
    toward,
)
from momagames.games.robotmail.rules import total
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
    cell_of,
    color_of,
    neighbor,
)
from momagames.kernels.jit import kernel, local_array, noinline_kernel
from momagames.kernels.rng import advance, below

CLOSE = 2  # smallest distance, in moves, to an occupied target cell while waiting for it
NONE, BUSY = -1, -2  # instead of a cell
CROWD = 2  # "astar": robots around a green cell or a receiver that block it
# "energy_saver"
SPARE, PER_UNIT = 3, 5  # moves reserved for detours; moves per unit of battery
WAITS, ROUND = 2, 8  # steps
TAKEN, TWIN = 2.0, 1000.0  # moves that a cell counts more if a robot is there, and a charger beside another

wariness = np.dtype([("wary", "u1")])  # of "astar": the index of the mail with which it is wary, plus 1
# of "energy_saver": its character, for how many steps more it walks round others, and what it has found out about the layout:
# moves from each cell to the nearest charger, and from green cells to a receiver
notebook = np.dtype(
    [
        *[(name, "u1") for name in ("patience", "fair", "round", "ready")],
        ("to_charger", "i4", (CELLS,)),
        ("onward", "f4", (CELLS,)),
    ]
)


@kernel
def needs_charge(state, agent):
    """Return whether the battery is low enough to enter a charger."""
    return power_of(state, agent) <= ENTER_BELOW


@kernel
def errand(state, agent):
    """Return the color of the target of a robot with a full battery."""
    return YELLOW if state["mail"][agent] else GREEN


# ---------------------------------------------------------------------------------------------------------------- nearest


@kernel
def nearest(state, agent, mask, parts, memory, word, action):
    """Take the shortest path around the other robots; ties are broken at random.

    The target is a charger with a low battery, a receiver of its mail, or else a green cell. Without a path around the robots
    it ignores them until it is CLOSE. A robot that cannot move on stands; where it must not stand it moves at random.
    """
    bits, length = 0, FAR
    if needs_charge(state, agent):
        bits, length = approach(state, agent, BLUE)
    if length == FAR:
        bits, length = approach(state, agent, errand(state, agent))
    action[0], word = go(bits, legal_bits(mask), word)
    return word


@noinline_kernel
def approach(state, agent, color):
    """Return the directions to cells of a color, a bit for each, and the length of the path; FAR if there is none."""
    bits, length = toward(state, agent, color, False)
    if length == FAR:
        bits, length = toward(state, agent, color, True)
        if length <= CLOSE:
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
    goal = objective(state, agent)
    step = STAND
    if goal >= 0:
        step = astar_step(state, agent, goal, memory["wary"] == careful)
        if legal & (1 << STAND | 1 << step) == 0 and state["robot"][neighbor(state, cell_of(state, agent), step)] == 0:
            memory["wary"] = careful
            step = astar_step(state, agent, goal, True)
    action[0], word = go(1 << step, legal, word)
    return word


@noinline_kernel
def objective(state, agent):
    """Return the target cell; negative to stay."""
    start, mail, goal = cell_of(state, agent), np.int64(state["mail"][agent]), NONE
    if color_of(state, start) == BLUE and power_of(state, agent) < LEAVE_FROM:
        return NONE
    if needs_charge(state, agent):
        goal = destination(state, start, BLUE, mail)
    return destination(state, start, errand(state, agent), mail) if goal == NONE else goal


@noinline_kernel
def destination(state, start, color, mail):
    """The nearest cell of a color, or the nearest that is not blocked if that one is, and not beside the robot. NONE: there
    are no such cells; BUSY: all are blocked."""
    goal = nearest_cell(state, start, color, mail)
    if goal < 0 or apart(state, start, goal) == 1 or not is_blocked(state, goal, color):
        return goal
    low, high = ends_of(state)
    goal, least = BUSY, FAR
    for cell in range(low, high):
        if takes(state, cell, color, mail) and not is_blocked(state, cell, color) and apart(state, start, cell) < least:
            goal, least = cell, apart(state, start, cell)
    return goal


@kernel
def is_blocked(state, cell, color):
    """Return whether a robot stands on a cell and others wait for it: beside a charger exactly one robot, beside a green cell
    or a receiver exactly CROWD robots, counting only those without a mail, or with one."""
    waiting = 0
    for direction in range(FORWARD, RIGHT + 1):
        other = np.int64(state["robot"][neighbor(state, cell, direction)]) - 1
        if other >= 0:
            waiting += color == BLUE or (state["mail"][other] != 0) == (color == YELLOW)
    return state["robot"][cell] != 0 and waiting == (1 if color == BLUE else CROWD)


# ---------------------------------------------------------------------------------------------------------- energy saver


@kernel
def energy_saver(state, agent, mask, parts, memory, word, action):
    """Use few moves for each mail, many of them with at most two units of battery, where a move costs half.

    It goes to the green cell with the fewest moves to it and on to a receiver, in the mean. It waits WAITS steps for a robot in
    its way, and then at random waits on or walks around others for ROUND steps (one to a charger). Without a mail
    it rests if nearer mates deliver all missing mails. It charges while the battery might not last for its target and the path
    to a charger from there. With `patience` it stands that many steps in a row before it moves, where legal. A `fair` robot
    holds its mail while it has delivered more than a mate, and never rests in favor of nearer mates.
    """
    legal = legal_bits(mask)
    may_stand = legal & (1 << STAND)
    if may_stand and state["stands"][agent] < memory["patience"]:
        action[0] = STAND
        return word
    learn(state, memory)
    color = plan(state, agent, memory, may_stand)
    if color == BLUE and color_of(state, cell_of(state, agent)) == BLUE:
        bits = may_stand
    elif color != BLUE and (is_ahead(state, agent) if memory["fair"] else is_spare(state, agent)):
        bits = may_stand if may_stand else quiet_ways(state, agent)
    else:
        word = advance(word)
        if memory["round"] == 0 or color == BLUE:
            bits = course(state, agent, memory, color, True)
            waited = state["stands"][agent] >= WAITS and below(word, 2) == 1
            stuck = bits & legal == 0 and (may_stand == 0 or waited)
            memory["round"] = 0 if not stuck else 1 if color == BLUE else ROUND
        if memory["round"] > 0:
            bits = course(state, agent, memory, color, False)
            memory["round"] -= 1
    action[0], word = go(bits, legal, word)
    return word


@kernel
def sure_moves(power):
    """Return the minimal number of moves that a robot with this displayed battery can make."""
    return PER_UNIT * power + 4 if power > 2 else 10 if power == 2 else power


@noinline_kernel
def learn(state, memory):
    """Precompute the distances of the layout, once per game."""
    if memory["ready"]:
        return
    memory["ready"] = 1
    steps, queue = local_array(CELLS), local_array(CELLS)
    find_chargers(state, steps, queue)
    low, high = ends_of(state)
    for cell in range(low, high):
        memory["to_charger"][cell] = steps[cell]
        if color_of(state, cell) == GREEN:
            memory["onward"][cell] = mean_way(state, cell)


@noinline_kernel
def plan(state, agent, memory, may_stand):
    """The color where to go, or to stay: that of the errand, or a charger if the battery might not last for both; but not a
    charger that will not let it in when it arrives, or on which it may not stay."""
    color, power = errand(state, agent), power_of(state, agent)
    way = np.int64(memory["to_charger"][cell_of(state, agent)])
    too_soon = way < PER_UNIT * (power - ENTER_BELOW)
    if way == FAR or (too_soon and (way > 0 or may_stand == 0)):
        return color
    goal, length, _ = best_goal(state, agent, memory, color, True)
    enough = goal >= 0 and sure_moves(power) >= length + np.int64(memory["to_charger"][goal]) + SPARE
    return color if enough else BLUE


@noinline_kernel
def best_goal(state, agent, memory, color, through):
    """The cell of a color that costs fewest moves: how many there are to it, and the directions in which ways begin, a bit for
    each; NONE, FAR, 0 if there is none. A cell with a robot on it counts a little more, a twin charger much more.

    through   whether other robots are thought away
    """
    steps, first, queue = local_array(CELLS), local_array(CELLS), local_array(CELLS)
    power = min(power_of(state, agent), ENTER_BELOW) if color == BLUE else power_of(state, agent)
    found = find_ways(state, agent, power, through, steps, first, queue)
    goal, least = NONE, np.float64(FAR)
    for place in range(1, found):
        cell = queue[place]
        if color_of(state, cell) == color:
            value = steps[cell] + (TAKEN if state["robot"][cell] else 0.0)
            if color == GREEN:
                value += np.float64(memory["onward"][cell])
            elif color == BLUE and is_twin(state, cell):
                value += TWIN
            if value < least:
                goal, least = cell, value
    return (goal, steps[goal], first[goal]) if goal >= 0 else (NONE, FAR, 0)


@noinline_kernel
def course(state, agent, memory, color, through):
    """Return the directions toward a color, a bit for each; none if the robot waits for another one there."""
    goal, length, bits = best_goal(state, agent, memory, color, through)
    return 0 if goal == NONE or (state["robot"][goal] and length <= CLOSE) else bits


@noinline_kernel
def quiet_ways(state, agent):
    """Return the directions of free white and gray cells, a bit for each."""
    cell, bits = cell_of(state, agent), 0
    for direction in range(FORWARD, RIGHT + 1):
        bits |= np.int64(is_plain(state, neighbor(state, cell, direction))) << direction
    return bits


@noinline_kernel
def is_ahead(state, agent):
    """Return whether a robot has a mail, and has delivered more than a mate whose battery is not empty."""
    team, ahead = np.int64(state["team"]), False
    for mate in range(agent - agent % team, agent - agent % team + team):
        ahead |= power_of(state, mate) > 0 and np.int64(state["delivered"][mate]) < np.int64(state["delivered"][agent])
    return ahead and state["mail"][agent] != 0


@noinline_kernel
def is_spare(state, agent):
    """Return whether a robot has no mail, and mates with a mail or nearer to one deliver all that the player still needs."""
    team, sure = np.int64(state["team"]), 0
    for mate in range(agent - agent % team, agent - agent % team + team):
        if mate != agent and power_of(state, mate) > 0:
            sure += state["mail"][mate] != 0 or way_to_green(state, mate) < way_to_green(state, agent)
    return state["mail"][agent] == 0 and sure >= np.int64(state["required"]) - total(state, agent // team)


@noinline_kernel
def way_to_green(state, robot):
    """Return the Manhattan distance to the nearest green cell, with the robot's index as a tie-break."""
    start = cell_of(state, robot)
    goal = nearest_cell(state, start, GREEN, 0)
    return (FAR if goal < 0 else apart(state, start, goal)) * SEATS + robot
