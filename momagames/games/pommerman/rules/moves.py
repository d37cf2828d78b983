"""Moves of agents and rolling bombs (SPEC §4.2 to §4.7).

Each agent and each bomb first claims a cell. On a conflict it claims its own cell instead, until no claim changes. Then all
move at once.

want, rolls      int64: the cell that each agent and each bomb wants (agents by seat, bombs by their place in the list)
agents, bombs    uint8[CELLS]: how many of them claim a cell. A claim is never withdrawn (D1)
"""

import numpy as np

from momagames.games.pommerman.rules.state import (
    BOMBS,
    EXPLORE,
    EXTRA_BOMB,
    EXTRA_BOMBS,
    FUSE,
    ITEMS,
    KICK,
    KICK_ITEMS,
    KICKS,
    LAY,
    MAX_AMMO,
    MAX_BOMBS,
    MOVEMENT,
    PASSAGE,
    RANGE,
    RANGES,
    RIGID,
    SEATS,
    STOP,
    TEAM_BOMBS,
    USEFUL_ITEMS,
    WOOD,
    ahead,
    team_of,
)
from momagames.kernels.jit import kernel, local_array, noinline_kernel
from momagames.kernels.reward import credit

ONE = np.uint64(1)


@kernel
def cell_of(state, agent):
    return np.int64(state["row"][agent]) * np.int64(state["size"]) + np.int64(state["col"][agent])


@kernel
def bomb_cell(state, bomb):
    return np.int64(state["bomb_row"][bomb]) * np.int64(state["size"]) + np.int64(state["bomb_col"][bomb])


@kernel
def row_of(cell, size):
    """Return the row of a cell, by a 32-bit division, which is much faster than a 64-bit one."""
    return np.int64(np.uint32(cell) // np.uint32(size))


@kernel
def is_item(code):
    return EXTRA_BOMB <= code <= KICK


@kernel
def intents(state, actions, want, reward):
    """§4.2 M1-M5 Write the cells that live agents want, in the order of their seats, and lay bombs."""
    size = np.int64(state["size"])
    for agent in range(np.int64(state["seats"])):
        cell = cell_of(state, agent)
        want[agent] = cell
        if state["alive"][agent] == 0:
            continue
        state["board"][cell] = PASSAGE  # M1
        action = np.int64(actions[agent, 0])
        if action == LAY:
            lay(state, agent, reward)
        elif action != STOP:
            to = ahead(cell, action, np.int64(state["row"][agent]), np.int64(state["col"][agent]), size)
            if to >= 0 and state["board"][to] != RIGID and state["board"][to] != WOOD:  # M4
                want[agent] = to


@noinline_kernel
def lay(state, agent, reward):
    """§4.2 B1-B4 Lay a bomb on the agent's cell if it has none and ammunition is left."""
    row, col, count = state["row"][agent], state["col"][agent], np.int64(state["bombs"])
    for bomb in range(count):
        if state["bomb_row"][bomb] == row and state["bomb_col"][bomb] == col:
            return
    if state["ammo"][agent] == 0:
        return
    state["ammo"][agent] -= 1
    state["bomb_row"][count] = row
    state["bomb_col"][count] = col
    state["bomb_life"][count] = FUSE
    state["bomb_strength"][count] = state["strength"][agent]
    state["bomb_owner"][count] = agent
    state["bomb_direction"][count] = STOP
    state["bombs"] = count + 1
    credit(state, reward, agent, BOMBS, -1)
    team = team_of(state, agent)
    for member in range(np.int64(state["seats"])):
        if (team >> member) & 1:
            credit(state, reward, member, TEAM_BOMBS, -1)


@kernel
def roll(state, rolls):
    """§4.3 B5 Write the cells that bombs want: the next one in their direction, unless wall, wood, item or border stop them."""
    size, board = np.int64(state["size"]), state["board"]
    for bomb in range(np.int64(state["bombs"])):
        cell = bomb_cell(state, bomb)
        board[cell] = PASSAGE
        rolls[bomb] = cell
        direction = np.int64(state["bomb_direction"][bomb])
        if direction != STOP:
            to = ahead(cell, direction, np.int64(state["bomb_row"][bomb]), np.int64(state["bomb_col"][bomb]), size)
            if to >= 0 and board[to] != RIGID and board[to] != WOOD and not is_item(np.int64(board[to])):
                rolls[bomb] = to


@kernel
def meet(state, want, rolls, kicker):
    """Return whether §4.4 to §4.6 apply: a bomb rolls, an agent walks into a bomb, or an agent wants the cell that another
    agent is on or wants.

    Set `kicker` (for each bomb the agent that kicks it) to -1.
    """
    seats = np.int64(state["seats"])
    met = False
    for agent in range(seats):
        here = cell_of(state, agent)
        for other in range(seats):  # dead agents "want" their own cells: at worst an unnecessary check
            met |= other != agent and (want[other] == here or want[other] == want[agent])
    for bomb in range(np.int64(state["bombs"])):
        cell = bomb_cell(state, bomb)
        kicker[bomb] = -1
        met |= rolls[bomb] != cell
        for agent in range(seats):
            met |= want[agent] == cell and cell_of(state, agent) != cell
    return met


@noinline_kernel
def crossings(state, want, rolls):
    """§4.4 X1, X2 Stop agents and bombs that would cross the same border of two cells, except an agent that meets a bomb."""
    seats = np.int64(state["seats"])
    first = local_array(SEATS)  # the cells that agents wanted before this phase
    for agent in range(seats):
        first[agent] = want[agent]
    for agent in range(seats):
        cell = cell_of(state, agent)
        for other in range(agent):
            if first[agent] != cell and first[agent] == cell_of(state, other) and first[other] == cell:
                want[agent] = cell
                want[other] = first[agent]
    bomb_crossings(state, first, rolls)


@noinline_kernel
def bomb_crossings(state, first, rolls):
    """§4.4 X2 Apply to bombs in the order of the list; `first` holds the cells that agents wanted."""
    recorded = local_array(MAX_BOMBS)  # the border that a bomb is the first to cross; else -1
    for bomb in range(np.int64(state["bombs"])):
        cell, to = bomb_cell(state, bomb), rolls[bomb]
        recorded[bomb] = -1
        if to == cell:
            continue
        crossed = False
        for agent in range(np.int64(state["seats"])):
            if state["alive"][agent]:
                here = cell_of(state, agent)
                crossed |= (here == cell and first[agent] == to) or (here == to and first[agent] == cell)
        if not crossed:
            for other in range(bomb):
                if recorded[other] == cell and bomb_cell(state, other) == to:
                    rolls[other] = to
                    crossed = True
        if crossed:
            rolls[bomb] = cell
        else:
            recorded[bomb] = to


@noinline_kernel
def conflicts(state, want, rolls, agents, bombs):
    """§4.5 D1 Resolve conflicts: agents and bombs that want a contested cell want their own, until nothing changes."""
    seats, count = np.int64(state["seats"]), np.int64(state["bombs"])
    for cell in range(agents.shape[0]):
        agents[cell] = 0
        bombs[cell] = 0
    for agent in range(seats):
        agents[want[agent]] += state["alive"][agent]
    for bomb in range(count):
        bombs[rolls[bomb]] += 1
    changed = True
    while changed:
        changed = False
        for agent in range(seats):
            cell, to = cell_of(state, agent), want[agent]
            if to != cell and (agents[to] > 1 or bombs[to] > 1):
                want[agent] = cell
                agents[cell] += 1
                changed = True
        for bomb in range(count):
            cell, to = bomb_cell(state, bomb), rolls[bomb]
            if to != cell and (bombs[to] > 1 or agents[to] > 1):
                rolls[bomb] = cell
                bombs[cell] += 1
                changed = True


@kernel
def wanted_by(state, want, cell):
    """Return the live agent that wants a cell, or -1."""
    for agent in range(np.int64(state["seats"])):
        if state["alive"][agent] and want[agent] == cell:
            return agent
    return -1


@noinline_kernel
def kicks(state, actions, want, rolls, agents, bombs, kicker):
    """§4.6 K1-K5 Resolve agents and bombs that want the same cell."""
    count = np.int64(state["bombs"])
    bomb_to, agent_back = local_array(MAX_BOMBS), local_array(SEATS)
    for agent in range(SEATS):
        agent_back[agent] = 0
    noted = False
    for bomb in range(count):
        bomb_to[bomb] = -1
        cell, to = bomb_cell(state, bomb), rolls[bomb]
        agent = wanted_by(state, want, to) if agents[to] else -1  # K1
        if agent < 0:
            continue
        if cell_of(state, agent) == to:  # K2
            if to != cell:
                bomb_to[bomb] = cell
        else:  # K3
            target = kick_target(state, agents, bombs, to, np.int64(actions[agent, 0])) if state["kick"][agent] else -1
            if target >= 0:
                bombs[to] = 0
                kicker[bomb] = agent
                state["bomb_direction"][bomb] = actions[agent, 0]
                bomb_to[bomb] = target
            else:
                bomb_to[bomb] = cell
                agent_back[agent] = 1
        noted |= bomb_to[bomb] >= 0
    if noted:
        for bomb in range(count):  # K5
            if bomb_to[bomb] >= 0:
                rolls[bomb] = bomb_to[bomb]
                bombs[bomb_to[bomb]] += 1
        for agent in range(np.int64(state["seats"])):
            if agent_back[agent]:
                want[agent] = cell_of(state, agent)
                agents[want[agent]] += 1
        late_conflicts(state, want, rolls, agents, bombs, kicker)


@noinline_kernel
def kick_target(state, agents, bombs, cell, direction):
    """§4.6 K3 Return the target cell of a kicked bomb, or -1: claimed cells, walls, wood and items block it, flames do not."""
    size = np.int64(state["size"])
    row = row_of(cell, size)
    to = ahead(cell, direction, row, cell - row * size, size)
    if to < 0 or agents[to] or bombs[to]:
        return -1
    code = np.int64(state["board"][to])
    return -1 if code in (RIGID, WOOD) or is_item(code) else to


@noinline_kernel
def late_conflicts(state, want, rolls, agents, bombs, kicker):
    """§4.6 K6 Undo kicks that fail, and send back the agents and bombs concerned."""
    count = np.int64(state["bombs"])
    changed = True
    while changed:
        changed = False
        for agent in range(np.int64(state["seats"])):
            cell, to = cell_of(state, agent), want[agent]
            if to != cell and (agents[to] > 1 or bombs[to] != 0):
                for bomb in range(count):
                    if kicker[bomb] == agent:
                        kicker[bomb] = -1
                        rolls[bomb] = bomb_cell(state, bomb)
                        bombs[rolls[bomb]] += 1
                want[agent] = cell
                agents[cell] += 1
                changed = True
        for bomb in range(count):
            cell, to = bomb_cell(state, bomb), rolls[bomb]
            if to == cell and kicker[bomb] < 0:
                continue
            if bombs[to] > 1 or agents[to] != 0:
                rolls[bomb] = cell
                bombs[cell] += 1
                if kicker[bomb] >= 0:
                    agent = kicker[bomb]
                    want[agent] = cell_of(state, agent)
                    agents[want[agent]] += 1
                    kicker[bomb] = -1
                changed = True


@kernel
def commit(state, want, rolls, kicker, reward):
    """§4.7 V1-V3 Move bombs and agents; agents take the items on their new cells."""
    size = np.int64(state["size"])
    for bomb in range(np.int64(state["bombs"])):
        if kicker[bomb] >= 0:
            credit(state, reward, kicker[bomb], KICKS, 1)
        elif rolls[bomb] == bomb_cell(state, bomb):
            state["bomb_direction"][bomb] = STOP
            continue
        row = row_of(rolls[bomb], size)
        state["bomb_row"][bomb] = row
        state["bomb_col"][bomb] = rolls[bomb] - row * size
    for agent in range(np.int64(state["seats"])):
        to = want[agent]
        if to != cell_of(state, agent):
            row = row_of(to, size)
            state["row"][agent] = row
            state["col"][agent] = to - row * size
            credit(state, reward, agent, MOVEMENT, -1)
            explore(state, agent, to, reward)
            if is_item(np.int64(state["board"][to])):
                take(state, agent, np.int64(state["board"][to]), reward)
                state["board"][to] = PASSAGE  # taken: nothing is left to burn


@noinline_kernel
def explore(state, agent, cell, reward):
    """§5 Credit a cell that the agent enters for the first time."""
    word, bit = cell >> 6, ONE << np.uint64(cell & 63)
    if state["visited"][agent, word] & bit == 0:
        state["visited"][agent, word] |= bit
        credit(state, reward, agent, EXPLORE, 1)


@noinline_kernel
def take(state, agent, item, reward):
    """§4.7 V2 Apply an item: one more bomb, a longer range, or the ability to kick, up to the limits."""
    useful = False
    if item == EXTRA_BOMB:
        useful = state["ammo"][agent] < MAX_AMMO
        state["ammo"][agent] = min(np.int64(state["ammo"][agent]) + 1, MAX_AMMO)
        credit(state, reward, agent, EXTRA_BOMBS, 1)
    elif item == RANGE:
        useful = state["strength"][agent] < state["max_strength"]
        state["strength"][agent] = min(np.int64(state["strength"][agent]) + 1, np.int64(state["max_strength"]))
        credit(state, reward, agent, RANGES, 1)
    else:
        useful = state["kick"][agent] == 0
        state["kick"][agent] = 1
        credit(state, reward, agent, KICK_ITEMS, 1)
    credit(state, reward, agent, ITEMS, 1)
    if useful:
        credit(state, reward, agent, USEFUL_ITEMS, 1)
