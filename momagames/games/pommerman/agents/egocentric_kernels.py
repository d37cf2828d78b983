# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-Pommerman: the egocentric view for learners, from what an agent observes alone.

Planes show the cells at most RADIUS rows and columns from the agent. Beyond the board there are rigid walls; cells in the fog
are marked. Numbers are large where it matters: a blast now, a cell beside the agent. What is absent is zero.
"""

import numpy as np

from momagames.games.pommerman.agents.perception_kernels import FAR, find_nearest, search_paths, write_view
from momagames.games.pommerman.agents.safety_kernels import HORIZON, ROWS, SETS, is_in_view, predict
from momagames.games.pommerman.rules.moves import agent_cell, bomb_cell, is_item
from momagames.games.pommerman.rules.observation import view_window
from momagames.games.pommerman.rules.state import (
    AGENT,
    CELL_BYTES,
    CELLS,
    EXTRA_BOMB,
    FLAME_BITS,
    FLAME_STEPS,
    FLAMES,
    FOG,
    FUSE,
    KICK,
    MAX_BOMBS,
    RADIO,
    RANGE,
    RIGHT,
    RIGID,
    SEATS,
    STOP,
    UP,
    WOOD,
    WORDS,
    team_members,
)
from momagames.kernels.jit import kernel, local_array, noinline_kernel, view_as

RADIUS = 4
SIDE = 2 * RADIUS + 1
PLANES = ("rigid", "wood", "item", "enemy", "mate", "fog", "bomb_life", "time_to_blast", "flame", "distance")
SCALARS = (
    "ammo", "blast_strength", "can_kick", "can_lay", "time", "row", "column", "enemies",
    *(f"{name}_{what}" for name in ("enemy_0", "enemy_1", "enemy_2", "mate") for what in ("alive", "seen", "down", "right")),
    *(f"{name}_{what}" for name in ("enemy", "item") for what in ("path", "up", "down", "left", "right")),
    *(f"word_{word}" for word in range(WORDS)),
)  # fmt: skip

(RIGID_PLANE, WOOD_PLANE, ITEM_PLANE, ENEMY_PLANE, MATE_PLANE, FOG_PLANE, LIFE_PLANE, BLAST_PLANE, FLAME_PLANE,
 DISTANCE_PLANE) = range(0, len(PLANES) * SIDE * SIDE, SIDE * SIDE)  # fmt: skip
OTHERS, PATHS, MESSAGE = 8, 24, 34  # first scalars of other agents, of paths, and of the message
MATE_SLOT = 3
ITEM_CODES = (1 << EXTRA_BOMB) | (1 << RANGE) | (1 << KICK)
SIXTEENTH, ONE, ZERO = np.float32(1 / 16), np.float32(1), np.float32(0)
TIME_UNITS = 256


@noinline_kernel
def write_egocentric_view(state, agent, planes, scalars):
    """Write the view of an agent, see `contract.LearningSupport`."""
    board, bombs = view_as(local_array(CELL_BYTES), np.uint8), local_array(MAX_BOMBS)
    distance, first = view_as(local_array(CELL_BYTES), np.uint8), view_as(local_array(CELL_BYTES), np.uint8)
    queue = local_array(CELLS)
    size, cell = np.int64(state["size"]), agent_cell(state, agent)
    team = team_members(state, agent)
    enemies = ((1 << SEATS) - 1) & ~team
    for place in range(planes.shape[0]):
        planes[place] = ZERO
    for place in range(scalars.shape[0]):
        scalars[place] = ZERO
    write_view(state, agent, board, bombs)
    found, _ = search_paths(board, size, cell, enemies, np.uint64(0), distance, first, queue)
    write_cells(state, agent, board, distance, enemies, planes)
    write_blasts(state, agent, planes)
    write_own_scalars(state, agent, scalars)
    write_other_agents(state, agent, team, scalars)
    enemy = find_nearest(board, distance, queue, found, enemies << AGENT, FAR)
    write_path(enemy, distance, first, scalars, PATHS)
    item = find_nearest(board, distance, queue, found, ITEM_CODES, FAR)
    write_path(item, distance, first, scalars, PATHS + 1 + RIGHT)
    for word in range(WORDS if state["mode"] == RADIO else 0):
        scalars[MESSAGE + word] = SIXTEENTH * np.float32(state["message"][agent ^ 2, word])


@kernel
def write_cells(state, agent, board, distance, enemies, planes):
    """Write what the cells show, and how near they are by a path."""
    size = np.int64(state["size"])
    top, left = np.int64(state["row"][agent]) - RADIUS, np.int64(state["col"][agent]) - RADIUS
    for i in range(SIDE):
        for j in range(SIDE):
            place, row, col = i * SIDE + j, top + i, left + j
            if row < 0 or row >= size or col < 0 or col >= size:
                planes[RIGID_PLANE + place] = ONE
                continue
            cell = row * size + col
            code = np.int64(board[cell])
            if distance[cell] != FAR:
                planes[DISTANCE_PLANE + place] = SIXTEENTH * np.float32(16 - np.int64(distance[cell]))
            if code == RIGID:
                planes[RIGID_PLANE + place] = ONE
            elif code == WOOD:
                planes[WOOD_PLANE + place] = ONE
            elif code == FOG:
                planes[FOG_PLANE + place] = ONE
            elif is_item(code):
                planes[ITEM_PLANE + place] = ONE
            elif code == FLAMES:
                flames = np.int64(state["fire"][cell])
                for life in range(FLAME_STEPS):
                    if flames & FLAME_BITS[life]:
                        planes[FLAME_PLANE + place] = SIXTEENTH * np.float32(4 * (life + 1))
            elif code >= AGENT and code != AGENT + agent:
                is_enemy = (enemies >> (code - AGENT)) & 1
                planes[(ENEMY_PLANE if is_enemy else MATE_PLANE) + place] = ONE


@kernel
def write_blasts(state, agent, planes):
    """Write the bombs in sight, and for each cell how soon it burns if all agents stand still."""
    fire, closed, solid = local_array(SETS), local_array(SETS), local_array(SETS)
    size, window = np.int64(state["size"]), view_window(state, agent)
    top, left = np.int64(state["row"][agent]) - RADIUS, np.int64(state["col"][agent]) - RADIUS
    in_sight = 0
    for bomb in range(np.int64(state["bombs"])):
        row, col = np.int64(state["bomb_row"][bomb]), np.int64(state["bomb_col"][bomb])
        if is_in_view(window, row, col):
            in_sight += 1
            if top <= row < top + SIDE and left <= col < left + SIDE:
                life = np.float32(1 + FUSE - min(np.int64(state["bomb_life"][bomb]), FUSE))
                planes[LIFE_PLANE + (row - top) * SIDE + col - left] = SIXTEENTH * life
    if in_sight == 0:
        return  # flames alone are in their own plane
    predict(state, agent, 1, STOP, fire, closed, solid)
    for row in range(max(top, 0), min(top + SIDE, size)):
        for step in range(HORIZON, 0, -1):
            bits = fire[step * ROWS + row]
            if bits:
                for col in range(max(left, 0), min(left + SIDE, size)):
                    if (bits >> col) & 1:
                        planes[BLAST_PLANE + (row - top) * SIDE + col - left] = SIXTEENTH * np.float32(16 - step)


@kernel
def write_own_scalars(state, agent, scalars):
    """Write the agent's equipment, whether it can lay a bomb, the time, and its position."""
    cell, is_free = agent_cell(state, agent), True
    for bomb in range(np.int64(state["bombs"])):
        is_free &= bomb_cell(state, bomb) != cell
    scalars[0] = SIXTEENTH * np.float32(min(np.int64(state["ammo"][agent]), 16))
    scalars[1] = SIXTEENTH * np.float32(min(np.int64(state["strength"][agent]), 16))
    scalars[2] = np.float32(state["kick"][agent] != 0)
    scalars[3] = np.float32(is_free and state["ammo"][agent] != 0)
    units = min(np.int64(state["ply"]) * TIME_UNITS // np.int64(state["max_steps"]), TIME_UNITS)
    scalars[4] = np.float32(units) * np.float32(1 / TIME_UNITS)
    scalars[5] = SIXTEENTH * np.float32(state["row"][agent])
    scalars[6] = SIXTEENTH * np.float32(state["col"][agent])


@kernel
def write_other_agents(state, agent, team, scalars):
    """Write for each other agent, in the order of seats after its own, whether it lives and where it is if in sight."""
    window, slot, seats = view_window(state, agent), 0, np.int64(state["seats"])
    for offset in range(1, seats):
        other = agent + offset - (seats if agent + offset >= seats else 0)
        is_mate = (team >> other) & 1
        start = OTHERS + 4 * (MATE_SLOT if is_mate else slot)
        slot += 1 - is_mate
        if state["alive"][other] == 0:
            continue
        scalars[start] = ONE
        if not is_mate:
            scalars[7] += np.float32(4) * SIXTEENTH
        row, col = np.int64(state["row"][other]), np.int64(state["col"][other])
        if is_in_view(window, row, col):
            scalars[start + 1] = ONE
            scalars[start + 2] = SIXTEENTH * np.float32(row - np.int64(state["row"][agent]))
            scalars[start + 3] = SIXTEENTH * np.float32(col - np.int64(state["col"][agent]))


@kernel
def write_path(target, distance, first, scalars, start):
    """Write how near a cell is by the shortest path and the direction of its first step; zeros without a path."""
    if target >= 0:
        scalars[start] = SIXTEENTH * np.float32(16 - np.int64(distance[target]))
        if first[target] >= UP:
            scalars[start + np.int64(first[target])] = ONE
