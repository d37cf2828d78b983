"""Rules of MO-RoboticMail: start position, legality, step (SPEC §2, §3, §4)."""

import numpy as np

from momagames.games.robotmail.rules.rewards import credit_blocked, credit_charge, credit_energy, credit_outcome, credit_step
from momagames.games.robotmail.rules.state import (
    BACKWARD,
    BLUE,
    CHARGED,
    DELIVERED,
    DOCKED,
    ENTER_BELOW,
    FORWARD,
    FULL,
    GREEN,
    LEAVE_FROM,
    LEFT,
    MAX_STANDS,
    MAX_TURN,
    MOVED,
    NARROW,
    NOTHING,
    OUTSIDE,
    PICKED_UP,
    RED,
    RIGHT,
    SKIP,
    STAND,
    STOOD,
    WHITE,
    YELLOW,
    cell_at,
    cell_color,
    displayed_battery,
    neighbor,
    robot_cell,
)
from momagames.kernels.jit import kernel, noinline_kernel
from momagames.kernels.record import CUT_OFF, CUT_OFF_AND_DECIDED
from momagames.kernels.rng import draw

ONE, NO_ROBOT = np.uint64(1), np.uint8(0)
# §4.4 Energy of a move: while the battery holds more than LOW_BATTERY, and below
MOVE_ENERGY, LOW_MOVE_ENERGY, LOW_BATTERY = 0.2, 0.1, 2.0

# ---------------------------------------------------------------------------------------------------------------- start


@kernel
def generate(state):
    """§2 Place robots on white cells and mails on green ones, and start the first turn."""
    state["docked"] = 0
    state["winner"] = -1
    state["event"] = NOTHING
    state["clock"] = 0
    state["illegal"] = 0
    place_robots(state)
    for y in range(np.int64(state["height"])):
        for x in range(np.int64(state["width"])):
            cell = cell_at(state, x, y)
            if cell_color(state, cell) == GREEN:
                state["waiting"][cell] = draw_mail(state)
    state["left"] = draw_turn_length(state)


@noinline_kernel
def place_robots(state):
    """§2.1 Place each robot on a uniformly random free white cell."""
    state["robot"][:] = NO_ROBOT
    free = 0
    for y in range(np.int64(state["height"])):
        for x in range(np.int64(state["width"])):
            free += cell_color(state, cell_at(state, x, y)) == WHITE
    for robot in range(np.int64(state["players"]) * np.int64(state["team"])):
        rank = draw(state, free - robot)
        x, y = 0, 0
        while rank >= 0:
            cell = cell_at(state, x, y)
            if cell_color(state, cell) == WHITE and state["robot"][cell] == 0:
                if rank == 0:
                    place_robot(state, robot, x, y, cell)
                rank -= 1
            x += 1
            if x == np.int64(state["width"]):
                x, y = 0, y + 1
        state["mail"][robot] = 0
        state["battery"][robot] = FULL
        state["delivered"][robot] = 0
        state["stands"][robot] = 0


@kernel
def place_robot(state, robot, x, y, cell):
    """Place a robot on a cell (x, y)."""
    state["x"][robot] = x
    state["y"][robot] = y
    state["robot"][cell] = robot + 1


@kernel
def draw_mail(state):
    """§2.2 Return a uniformly random mail index."""
    return state["index"][draw(state, np.int64(state["indices"]))]


@kernel
def draw_turn_length(state):
    """§2.3 Return the number of steps of a turn."""
    return 1 + draw(state, MAX_TURN) if state["random_turns"] else 1


# ---------------------------------------------------------------------------------------------------------------- masks


@kernel
def legal(state, agent, mask):
    """§3 Write the mask of a robot, also out of turn; zeros when the game is over."""
    bits = 0 if state["over"] else legal_actions(state, agent)
    for action in range(RIGHT + 1):
        mask[action] = (bits >> action) & 1


@kernel
def legal_actions(state, robot):
    """§3 Return the legal actions of a robot, a bit for each."""
    bits, _ = legal_directions(state, robot)
    if can_stand(state, robot) or (bits == 0 and state["always_legal"]):  # §3.6
        bits |= 1 << STAND
    return bits


@kernel
def can_stand(state, robot):
    """§3.1 Return whether a robot may stand on its cell."""
    power, cell = displayed_battery(state["battery"][robot]), robot_cell(state, robot)
    ground, mail = np.int64(state["ground"][cell]), np.int64(state["mail"][robot])
    color = cell_color(state, cell)
    if ground & NARROW or (color == YELLOW and mail == 0) or (color == GREEN and mail != 0):
        return False
    if color == BLUE:
        if power >= LEAVE_FROM + 1:
            return False
    elif state["stands"][robot] >= MAX_STANDS:
        return False
    beside_charger = False
    for direction in range(FORWARD, RIGHT + 1):
        beside_charger |= cell_color(state, neighbor(state, cell, direction)) == BLUE
    return not beside_charger or power <= ENTER_BELOW


@kernel
def legal_directions(state, robot):
    """§3.2 Return the legal directions of a robot, a bit for each, and those that only another robot blocks."""
    power, cell = displayed_battery(state["battery"][robot]), robot_cell(state, robot)
    color, mail = cell_color(state, cell), np.int64(state["mail"][robot])
    free, blocked = 0, 0
    if power > 0 and (color != BLUE or power >= LEAVE_FROM):
        for direction in range(FORWARD, RIGHT + 1):
            to = neighbor(state, cell, direction)
            open = np.int64(can_enter(state, to, color, mail, power)) << direction
            if state["robot"][to]:
                blocked |= open
            else:
                free |= open
    return free, blocked


@kernel
def can_enter(state, to, color, mail, power):
    """§3.2 Return whether a robot with this mail and displayed battery may move from a cell of this color, ignoring robots."""
    ground = np.int64(state["ground"][to])
    there = cell_color(state, to)
    if there in (OUTSIDE, RED) or (there == GREEN and mail != 0) or (there == BLUE and power > ENTER_BELOW):
        return False
    if there == YELLOW and (mail == 0 or np.int64(state["target"][to]) != mail):
        return False
    return ground & NARROW == 0 or color == YELLOW or can_enter_narrow(state, to, mail)


@kernel
def can_enter_narrow(state, cell, mail):
    """§3.3 Return whether a robot with this mail may enter a narrow cell: the mail's number is beside the cell."""
    found = False
    for direction in range(FORWARD, RIGHT + 1):
        found |= np.int64(state["target"][neighbor(state, cell, direction)]) == mail
    return found and mail != 0


# ----------------------------------------------------------------------------------------------------------------- step


@kernel
def step(state, actions, reward):
    """§4 Play one step of the robot to move, with any action 0..4."""
    robot, action = np.int64(state["to_move"]), np.int64(actions[0, 0])
    reward[:] = 0
    free, blocked = legal_directions(state, robot)
    credit_blocked(state, robot, blocked, reward)  # §5.4
    if action != STAND and (free >> action) & 1:
        event = move_robot(state, robot, action, reward)  # §4.3
    elif action == STAND and can_stand(state, robot):
        event = stand(state, robot, reward)  # §4.2
    else:
        event = skip_step(state, robot, action)  # §4.1
    state["event"] = event
    credit_step(state, robot, event, reward)  # §5
    update_end(state, robot, reward)
    pass_turn(state)  # §4.9


@kernel
def skip_step(state, robot, action):
    """§4.1 Skip; the skip counts as illegal if the robot had a legal action."""
    bits = legal_actions(state, robot)
    state["illegal"] += bits != 0 and (bits >> action) & 1 == 0
    return SKIP


@kernel
def stand(state, robot, reward):
    """§4.2 Stand, and charge on a charger."""
    state["stands"][robot] += 1
    if cell_color(state, robot_cell(state, robot)) != BLUE:
        return STOOD
    charge_robot(state, robot, reward)
    return CHARGED


@kernel
def charge_robot(state, robot, reward):
    """§4.2, §4.6 Charge one unit, up to a full battery."""
    before = state["battery"][robot]
    after = min(before + 1.0, FULL)
    state["battery"][robot] = after
    credit_charge(state, robot, after - before, reward)


@kernel
def move_robot(state, robot, direction, reward):
    """§4.3 Move to the next cell and apply its effect."""
    x, y = np.int64(state["x"][robot]), np.int64(state["y"][robot])
    cell = cell_at(state, x, y)
    if cell_color(state, cell) == GREEN:
        state["waiting"][cell] = draw_mail(state)
    state["stands"][robot] = 0
    state["robot"][cell] = NO_ROBOT
    state["docked"] &= ~(ONE << np.uint64(robot))
    x += np.int64(direction == RIGHT) - np.int64(direction == LEFT)
    y += np.int64(direction == BACKWARD) - np.int64(direction == FORWARD)
    to = cell_at(state, x, y)
    place_robot(state, robot, x, y, to)
    if state["with_battery"]:
        spend_energy(state, robot, reward)  # §4.4
    event = arrive(state, robot, to)  # §4.5
    state["clock"] += 1
    if state["with_battery"]:
        charge_others(state, robot, reward)  # §4.6
    return event


@kernel
def spend_energy(state, robot, reward):
    """§4.4 Subtract the energy of a move."""
    before = state["battery"][robot]
    after = max(before - (MOVE_ENERGY if before > LOW_BATTERY else LOW_MOVE_ENERGY), 0.0)
    state["battery"][robot] = after
    credit_energy(state, robot, before - after, reward)


@kernel
def arrive(state, robot, cell):
    """§4.5 Take a mail, deliver one, or reach a charger."""
    color = cell_color(state, cell)
    if color == GREEN:
        state["mail"][robot] = state["waiting"][cell]
        return PICKED_UP
    if color == YELLOW:
        state["mail"][robot] = 0
        state["delivered"][robot] += 1
        return DELIVERED
    if color == BLUE:
        state["docked"] |= ONE << np.uint64(robot)
        return DOCKED
    return MOVED


@kernel
def charge_others(state, robot, reward):
    """§4.6 Charge all other robots that stand on chargers."""
    docked = state["docked"] & ~(ONE << np.uint64(robot))
    other = 0
    while docked:
        if docked & ONE:
            charge_robot(state, other, reward)
        docked >>= ONE
        other += 1


@kernel
def update_end(state, robot, reward):
    """§4.7, §4.8 Record whether the player has won, and whether the game is truncated."""
    state["ply"] += 1
    player = robot // np.int64(state["team"])
    won = count_deliveries(state, player) == np.int64(state["required"])
    cut = np.int64(state["ply"]) >= np.int64(state["max_step"])
    if won:
        state["winner"] = player
        credit_outcome(state, player, reward)  # §5.6
    state["over"] = won or cut
    if cut:
        state["truncated"] = CUT_OFF_AND_DECIDED if won else CUT_OFF


@kernel
def count_deliveries(state, player):
    """Return the number of mails delivered by the robots of a player."""
    team = np.int64(state["team"])
    mails = 0
    for robot in range(player * team, player * team + team):
        mails += np.int64(state["delivered"][robot])
    return mails


@kernel
def pass_turn(state):
    """§4.9 Pass the turn to the next robot when its steps are used up."""
    left = np.int64(state["left"]) - 1
    if left == 0:
        next_robot = np.int64(state["to_move"]) + 1
        state["to_move"] = 0 if next_robot == np.int64(state["players"]) * np.int64(state["team"]) else next_robot
        left = draw_turn_length(state)
    state["left"] = left
