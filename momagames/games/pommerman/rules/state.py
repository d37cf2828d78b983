"""The state record of MO-Pommerman and its codes (SPEC §1). Cells are numbered row by row: row * size + col."""

import numpy as np

from momagames.kernels.jit import kernel
from momagames.kernels.record import record

SEATS = 4
MAX_SIDE = 16
CELLS = MAX_SIDE * MAX_SIDE
CELL_BYTES = CELLS // 8  # length of an int64 array with a byte for each cell
MAX_BOMBS = 64  # bombs lying, ammunition and extra-bomb items together never grow (SPEC §9.3)
MAX_ORDERED = 32  # flames of a loaded position whose order is not that of play

# §1.1 Codes of cells
PASSAGE, RIGID, WOOD, BOMB, FLAMES, FOG, EXTRA_BOMB, RANGE, KICK, NO_AGENT, AGENT = range(11)
# §1.2 Actions, which are directions too
STOP, UP, DOWN, LEFT, RIGHT, LAY = range(6)
# §1.4 Kinds of game
FFA, TEAM, RADIO, DUEL = range(1, 5)
INCOMPLETE, WIN, TIE = range(3)
# §1.5 Numbers of the original
FUSE, FLAME_STEPS, MAX_AMMO, WORDS, VOCABULARY = 10, 3, 10, 2, 9
MAX_STRENGTH = 255  # blast strength of a loaded position: it has a byte (SPEC §9.1)

# §5 Objectives, in the order of `column`
OBJECTIVES = (
    "outcome",
    "outcome_original",
    "survival",
    "kills",
    "team_kill",
    "self_kill",
    "wood",
    "items",
    "extra_bombs",
    "ranges",
    "kick_items",
    "useful_items",
    "item_waste",
    "bombs",
    "team_bombs",
    "movement",
    "kicks",
    "comm",
    "comm_change",
    "explore",
    "speed",
    "mate_survival",
)
(
    OUTCOME, OUTCOME_ORIGINAL, SURVIVAL, KILLS, TEAM_KILL, SELF_KILL, WOOD_BURNT, ITEMS, EXTRA_BOMBS, RANGES, KICK_ITEMS,
    USEFUL_ITEMS, ITEM_WASTE, BOMBS, TEAM_BOMBS, MOVEMENT, KICKS, COMM, COMM_CHANGE, EXPLORE, SPEED, MATE_SURVIVAL,
) = range(len(OBJECTIVES))  # fmt: skip

# A cell's flames are one word `fire`: the owners (a bit for each seat) of the flame of life 0, of life 1 and of life 2, four
# bits each, and a bit for each of the three that says whether there is one. A cell has at most one flame of each life.
FLAME_BITS = (0x1000, 0x2000, 0x4000)
NEW_FLAME = np.uint16(FLAME_BITS[2])

state_dtype = record(
    SEATS,
    # the board: what cells show, the items hidden in them (0: none), their flames
    board=("u1", (CELLS,)),
    hidden=("u1", (CELLS,)),
    fire=("u2", (CELLS,)),
    burning=("u1",),  # most steps until the last flame is gone; 0: no flames
    # agents by seat
    alive=("u1", (SEATS,)),
    row=("u1", (SEATS,)),
    col=("u1", (SEATS,)),
    ammo=("u1", (SEATS,)),
    strength=("u1", (SEATS,)),
    kick=("u1", (SEATS,)),
    message=("u1", (SEATS, WORDS)),
    visited=("u8", (SEATS, CELLS // 64)),  # cells that an agent has been on, a bit each
    # bombs in the order of laying
    bombs=("u1",),
    bomb_row=("u1", (MAX_BOMBS,)),
    bomb_col=("u1", (MAX_BOMBS,)),
    bomb_life=("u1", (MAX_BOMBS,)),
    bomb_strength=("u1", (MAX_BOMBS,)),
    bomb_owner=("u1", (MAX_BOMBS,)),
    bomb_direction=("u1", (MAX_BOMBS,)),
    # the order of the flames of a loaded position, where it is not that of play: cell * 4 + life, for `save` alone
    flame_order=("u2", (MAX_ORDERED,)),
    flame_orders=("u1",),
    flame_ply=("i4",),  # ply of that position
    falling=("i1",),  # ring that falls before the next step (§4.11); -1: none
    result=("u1",),  # INCOMPLETE, WIN or TIE
    winners=("u1",),  # a bit for each seat
    # parameters (§8)
    mode=("u1",),
    seats=("u1",),
    size=("u1",),
    num_rigid=("u2",),
    num_wood=("u2",),
    num_items=("u2",),
    max_steps=("i4",),
    view=("u1",),  # how far an agent sees; 0: everything
    egocentric=("u1",),
    planes=("u1",),
    max_strength=("u1",),
    blast_strength=("u1",),
    first_collapse=("i4",),  # 0: no collapse
    leave=("u1",),
    split=("u1",),
    column=("i1", (len(OBJECTIVES),)),  # place of each objective in the reward vector; -1: not chosen
)

PARAMETERS = (
    "mode", "seats", "size", "num_rigid", "num_wood", "num_items", "max_steps", "view", "egocentric", "planes", "max_strength",
    "blast_strength", "first_collapse", "leave", "split", "column",
)  # fmt: skip


@kernel
def neighbor(cell, direction, row, col, size):
    """Return the neighbor of a cell in a direction 1..4; -1 beyond the border."""
    if direction == UP:
        return cell - size if row > 0 else -1
    if direction == DOWN:
        return cell + size if row < size - 1 else -1
    if direction == LEFT:
        return cell - 1 if col > 0 else -1
    return cell + 1 if col < size - 1 else -1


@kernel
def team_members(state, agent):
    """§1.6 Return the members of an agent's side, a bit for each seat: itself, and the opposite seat in team games."""
    mode = np.int64(state["mode"])
    return (0b0101 << (agent & 1)) if mode in (TEAM, RADIO) else 1 << agent
