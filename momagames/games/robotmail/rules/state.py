"""The state record of MO-RoboticMail and its codes (SPEC §1).

Cell (x, y) of a layout of W columns is number (y + 1) * (W + 1) + x: a row lies above the board and one below it, and one
more column, so that every neighbor of a cell on the board is a cell.
"""

import numpy as np

from momagames.kernels.jit import kernel
from momagames.kernels.record import record

MAX_SIDE = 24
MAX_PLAYERS, MAX_TEAM = 6, 6  # players; robots of each
SEATS = MAX_PLAYERS * MAX_TEAM
CELLS = (MAX_SIDE + 2) * (MAX_SIDE + 1)
MAX_INDEX = 63  # mail indices

# §1.1 Colors of cells; `ground` has the code in its lowest bits, and NARROW for a narrow cell (§3.3)
OUTSIDE, WHITE, GRAY, GREEN, YELLOW, BLUE, RED = range(7)
COLOR_BITS, NARROW = 7, 8
# §1.2 Actions
STAND, FORWARD, BACKWARD, LEFT, RIGHT = range(5)
# §1.3 Events of an agent step
NOTHING, SKIP, STOOD, CHARGED, MOVED, PICKED_UP, DELIVERED, DOCKED = range(8)
EVENTS = ("none", "skip", "stand", "charge", "move", "pickup", "delivery", "dock")
# §1.4 Numbers of the original
FULL = 10.0  # units of a battery
MAX_STANDS = 5  # in a row, off a charger
ENTER_BELOW, LEAVE_FROM = 4, 8  # shown battery: at most this to enter a charger, at least that to leave it
MAX_TURN = 5

# §5 Objectives, in the order of `column`
OBJECTIVES = (
    *("delivery", "pickup", "dock", "step_cost"),
    *("time", "energy", "charge", "blocked", "blocking", "balance", "rivalry", "outcome"),
)
DELIVERY, PICKUP, DOCK, STEP_COST, TIME, ENERGY, CHARGE, BLOCKED, BLOCKING, BALANCE, RIVALRY, OUTCOME = range(len(OBJECTIVES))

state_dtype = record(
    SEATS,
    # the robots, player by player
    battery=("f8", (SEATS,)),  # inner battery, 0..10
    x=("u1", (SEATS,)),
    y=("u1", (SEATS,)),
    mail=("u1", (SEATS,)),  # index of what it carries; 0: nothing
    delivered=("u2", (SEATS,)),
    stands=("u2", (SEATS,)),  # in a row
    docked=("u8",),  # a bit for each robot that stands on a charger
    # the layout, and what is on it
    ground=("u1", (CELLS,)),
    target=("u1", (CELLS,)),  # number in the targets map
    waiting=("u1", (CELLS,)),  # index of the mail that lies on a green cell
    robot=("u1", (CELLS,)),  # the robot on this cell, counted from 1; 0: none
    width=("u1",),
    height=("u1",),
    indices=("u1",),  # number of mail indices
    index=("u1", (MAX_INDEX,)),  # the mail indices in ascending order (§2.2)
    # the game
    left=("u1",),  # steps left in the turn
    winner=("i1",),  # index of the player; -1: none
    event=("u1",),  # event of the last step (§1.3)
    clock=("i4",),  # moves
    illegal=("i4",),  # illegal actions that were played as skips (§3.5)
    # parameters (§8)
    players=("u1",),
    team=("u1",),  # robots of a player
    required=("u2",),
    max_step=("i4",),
    with_battery=("u1",),
    random_turns=("u1",),
    always_legal=("u1",),
    fields=("u1",),  # observations as fields (§7.2)
    column=("i1", (len(OBJECTIVES),)),  # index of an objective in the reward vector; -1: not selected
)

PARAMETERS = (
    "ground", "target", "width", "height", "indices", "index", "players", "team", "required", "max_step", "with_battery",
    "random_turns", "always_legal", "fields", "column",
)  # fmt: skip


def cell_number(width: int, x: int, y: int) -> int:
    """Return the number of a cell (interpreted code)."""
    return (y + 1) * (width + 1) + x


@kernel
def cell_at(state, x, y):
    """Return the number of a cell."""
    return (y + 1) * (np.int64(state["width"]) + 1) + x


@kernel
def robot_cell(state, robot):
    """Return the cell of a robot."""
    return cell_at(state, np.int64(state["x"][robot]), np.int64(state["y"][robot]))


@kernel
def neighbor(state, cell, direction):
    """Return the target cell of a move (FORWARD..RIGHT)."""
    pitch = np.int64(state["width"]) + 1
    if direction <= BACKWARD:
        return cell - pitch if direction == FORWARD else cell + pitch
    return cell - 1 if direction == LEFT else cell + 1


@kernel
def cell_color(state, cell):
    """Return the color code of a cell."""
    return np.int64(state["ground"][cell]) & COLOR_BITS


@kernel
def displayed_battery(battery):
    """§1.4 Return the displayed battery: whole units, rounded up."""
    whole = np.int64(battery)  # no call of a C library, which a GPU has not
    return whole + np.int64(battery > whole)
