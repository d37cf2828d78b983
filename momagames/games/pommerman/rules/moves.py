"""Moves of agents and rolling bombs (SPEC §4.2 to §4.7).

Each agent and each bomb first claims a target cell. On a conflict it claims its own cell instead, until no claim changes. Then
all move at once.

agent_targets    int64: the target cell of each agent, by seat
bomb_targets     int64: the target cell of each bomb, by its index in the list
agent_claims     uint8[CELLS]: number of agents that claim a cell. A claim is never withdrawn (D1)
bomb_claims      uint8[CELLS]: number of bombs that claim a cell
kickers          int64: the agent that kicks each bomb; -1: none
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
    neighbor,
    team_members,
)
from momagames.kernels.jit import kernel, local_array, noinline_kernel
from momagames.kernels.reward import credit

ONE = np.uint64(1)


@kernel
def agent_cell(state, agent):
    """Return the cell of an agent."""
    return np.int64(state["row"][agent]) * np.int64(state["size"]) + np.int64(state["col"][agent])


@kernel
def bomb_cell(state, bomb):
    """Return the cell of a bomb."""
    return np.int64(state["bomb_row"][bomb]) * np.int64(state["size"]) + np.int64(state["bomb_col"][bomb])


@kernel
def cell_row(cell, size):
    """Return the row of a cell, by a 32-bit division, which is much faster than a 64-bit one."""
    return np.int64(np.uint32(cell) // np.uint32(size))


@kernel
def is_item(code):
    """Return whether the code of a cell is that of an item."""
    return EXTRA_BOMB <= code <= KICK


@kernel
def propose_moves(state, actions, agent_targets, reward):
    """§4.2 M1-M5 Write the targets of live agents, in the order of their seats, and lay bombs."""
    size = np.int64(state["size"])
    for agent in range(np.int64(state["seats"])):
        cell = agent_cell(state, agent)
        agent_targets[agent] = cell
        if state["alive"][agent] == 0:
            continue
        state["board"][cell] = PASSAGE  # M1
        action = np.int64(actions[agent, 0])
        if action == LAY:
            lay_bomb(state, agent, reward)
        elif action != STOP:
            to = neighbor(cell, action, np.int64(state["row"][agent]), np.int64(state["col"][agent]), size)
            if to >= 0 and state["board"][to] != RIGID and state["board"][to] != WOOD:  # M4
                agent_targets[agent] = to


@noinline_kernel
def lay_bomb(state, agent, reward):
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
    team = team_members(state, agent)
    for member in range(np.int64(state["seats"])):
        if (team >> member) & 1:
            credit(state, reward, member, TEAM_BOMBS, -1)


@kernel
def propose_rolls(state, bomb_targets):
    """§4.3 B5 Write the targets of bombs: the next cell in their direction, unless a wall, wood, item or border stops them."""
    size, board = np.int64(state["size"]), state["board"]
    for bomb in range(np.int64(state["bombs"])):
        cell = bomb_cell(state, bomb)
        board[cell] = PASSAGE
        bomb_targets[bomb] = cell
        direction = np.int64(state["bomb_direction"][bomb])
        if direction != STOP:
            to = neighbor(cell, direction, np.int64(state["bomb_row"][bomb]), np.int64(state["bomb_col"][bomb]), size)
            if to >= 0 and board[to] != RIGID and board[to] != WOOD and not is_item(np.int64(board[to])):
                bomb_targets[bomb] = to


@kernel
def detect_encounters(state, agent_targets, bomb_targets, kickers):
    """Return whether §4.4 to §4.6 apply, and set all `kickers` to -1.

    They apply if a bomb rolls, an agent walks into a bomb, or the target of an agent is the cell or target of another one.
    """
    seats = np.int64(state["seats"])
    found = False
    for agent in range(seats):
        here = agent_cell(state, agent)
        for other in range(seats):  # dead agents target their own cells: at worst an unnecessary check
            found |= other != agent and (agent_targets[other] == here or agent_targets[other] == agent_targets[agent])
    for bomb in range(np.int64(state["bombs"])):
        cell = bomb_cell(state, bomb)
        kickers[bomb] = -1
        found |= bomb_targets[bomb] != cell
        for agent in range(seats):
            found |= agent_targets[agent] == cell and agent_cell(state, agent) != cell
    return found


@noinline_kernel
def resolve_crossings(state, agent_targets, bomb_targets):
    """§4.4 X1, X2 Stop agents and bombs that would cross the same border of two cells, except an agent that meets a bomb."""
    seats = np.int64(state["seats"])
    initial_targets = local_array(SEATS)  # before this phase
    for agent in range(seats):
        initial_targets[agent] = agent_targets[agent]
    for agent in range(seats):
        cell = agent_cell(state, agent)
        for other in range(agent):
            if (
                initial_targets[agent] != cell
                and initial_targets[agent] == agent_cell(state, other)
                and initial_targets[other] == cell
            ):
                agent_targets[agent] = cell
                agent_targets[other] = initial_targets[agent]
    resolve_bomb_crossings(state, initial_targets, bomb_targets)


@noinline_kernel
def resolve_bomb_crossings(state, initial_targets, bomb_targets):
    """§4.4 X2 Apply to bombs in the order of the list; `initial_targets` holds the targets of agents before §4.4."""
    crossing = local_array(MAX_BOMBS)  # target of a bomb that is the first to cross a border; else -1
    for bomb in range(np.int64(state["bombs"])):
        cell, to = bomb_cell(state, bomb), bomb_targets[bomb]
        crossing[bomb] = -1
        if to == cell:
            continue
        crossed = False
        for agent in range(np.int64(state["seats"])):
            if state["alive"][agent]:
                here = agent_cell(state, agent)
                crossed |= (here == cell and initial_targets[agent] == to) or (here == to and initial_targets[agent] == cell)
        if not crossed:
            for other in range(bomb):
                if crossing[other] == cell and bomb_cell(state, other) == to:
                    bomb_targets[other] = to
                    crossed = True
        if crossed:
            bomb_targets[bomb] = cell
        else:
            crossing[bomb] = to


@noinline_kernel
def resolve_conflicts(state, agent_targets, bomb_targets, agent_claims, bomb_claims):
    """§4.5 D1 Resolve conflicts: agents and bombs with a contested target target their own cell, until nothing changes."""
    seats, count = np.int64(state["seats"]), np.int64(state["bombs"])
    for cell in range(agent_claims.shape[0]):
        agent_claims[cell] = 0
        bomb_claims[cell] = 0
    for agent in range(seats):
        agent_claims[agent_targets[agent]] += state["alive"][agent]
    for bomb in range(count):
        bomb_claims[bomb_targets[bomb]] += 1
    changed = True
    while changed:
        changed = False
        for agent in range(seats):
            cell, to = agent_cell(state, agent), agent_targets[agent]
            if to != cell and (agent_claims[to] > 1 or bomb_claims[to] > 1):
                agent_targets[agent] = cell
                agent_claims[cell] += 1
                changed = True
        for bomb in range(count):
            cell, to = bomb_cell(state, bomb), bomb_targets[bomb]
            if to != cell and (bomb_claims[to] > 1 or agent_claims[to] > 1):
                bomb_targets[bomb] = cell
                bomb_claims[cell] += 1
                changed = True


@kernel
def find_claimant(state, agent_targets, cell):
    """Return the live agent whose target is a cell, or -1."""
    for agent in range(np.int64(state["seats"])):
        if state["alive"][agent] and agent_targets[agent] == cell:
            return agent
    return -1


@noinline_kernel
def resolve_kicks(state, actions, agent_targets, bomb_targets, agent_claims, bomb_claims, kickers):
    """§4.6 K1-K5 Resolve agents and bombs with the same target."""
    count = np.int64(state["bombs"])
    new_targets, blocked = local_array(MAX_BOMBS), local_array(SEATS)
    for agent in range(SEATS):
        blocked[agent] = 0
    has_changes = False
    for bomb in range(count):
        new_targets[bomb] = -1
        cell, to = bomb_cell(state, bomb), bomb_targets[bomb]
        agent = find_claimant(state, agent_targets, to) if agent_claims[to] else -1  # K1
        if agent < 0:
            continue
        if agent_cell(state, agent) == to:  # K2
            if to != cell:
                new_targets[bomb] = cell
        else:  # K3
            target = (
                kick_target(state, agent_claims, bomb_claims, to, np.int64(actions[agent, 0])) if state["kick"][agent] else -1
            )
            if target >= 0:
                bomb_claims[to] = 0
                kickers[bomb] = agent
                state["bomb_direction"][bomb] = actions[agent, 0]
                new_targets[bomb] = target
            else:
                new_targets[bomb] = cell
                blocked[agent] = 1
        has_changes |= new_targets[bomb] >= 0
    if has_changes:
        for bomb in range(count):  # K5
            if new_targets[bomb] >= 0:
                bomb_targets[bomb] = new_targets[bomb]
                bomb_claims[new_targets[bomb]] += 1
        for agent in range(np.int64(state["seats"])):
            if blocked[agent]:
                agent_targets[agent] = agent_cell(state, agent)
                agent_claims[agent_targets[agent]] += 1
        resolve_late_conflicts(state, agent_targets, bomb_targets, agent_claims, bomb_claims, kickers)


@noinline_kernel
def kick_target(state, agent_claims, bomb_claims, cell, direction):
    """§4.6 K3 Return the target cell of a kicked bomb, or -1: claimed cells, walls, wood and items block it, flames do not."""
    size = np.int64(state["size"])
    row = cell_row(cell, size)
    to = neighbor(cell, direction, row, cell - row * size, size)
    if to < 0 or agent_claims[to] or bomb_claims[to]:
        return -1
    code = np.int64(state["board"][to])
    return -1 if code in (RIGID, WOOD) or is_item(code) else to


@noinline_kernel
def resolve_late_conflicts(state, agent_targets, bomb_targets, agent_claims, bomb_claims, kickers):
    """§4.6 K6 Undo kicks that fail, and send back the agents and bombs concerned."""
    count = np.int64(state["bombs"])
    changed = True
    while changed:
        changed = False
        for agent in range(np.int64(state["seats"])):
            cell, to = agent_cell(state, agent), agent_targets[agent]
            if to != cell and (agent_claims[to] > 1 or bomb_claims[to] != 0):
                for bomb in range(count):
                    if kickers[bomb] == agent:
                        kickers[bomb] = -1
                        bomb_targets[bomb] = bomb_cell(state, bomb)
                        bomb_claims[bomb_targets[bomb]] += 1
                agent_targets[agent] = cell
                agent_claims[cell] += 1
                changed = True
        for bomb in range(count):
            cell, to = bomb_cell(state, bomb), bomb_targets[bomb]
            if to == cell and kickers[bomb] < 0:
                continue
            if bomb_claims[to] > 1 or agent_claims[to] != 0:
                bomb_targets[bomb] = cell
                bomb_claims[cell] += 1
                if kickers[bomb] >= 0:
                    agent = kickers[bomb]
                    agent_targets[agent] = agent_cell(state, agent)
                    agent_claims[agent_targets[agent]] += 1
                    kickers[bomb] = -1
                changed = True


@kernel
def apply_moves(state, agent_targets, bomb_targets, kickers, reward):
    """§4.7 V1-V3 Move bombs and agents; agents take the items on their new cells."""
    size = np.int64(state["size"])
    for bomb in range(np.int64(state["bombs"])):
        if kickers[bomb] >= 0:
            credit(state, reward, kickers[bomb], KICKS, 1)
        elif bomb_targets[bomb] == bomb_cell(state, bomb):
            state["bomb_direction"][bomb] = STOP
            continue
        row = cell_row(bomb_targets[bomb], size)
        state["bomb_row"][bomb] = row
        state["bomb_col"][bomb] = bomb_targets[bomb] - row * size
    for agent in range(np.int64(state["seats"])):
        to = agent_targets[agent]
        if to != agent_cell(state, agent):
            row = cell_row(to, size)
            state["row"][agent] = row
            state["col"][agent] = to - row * size
            credit(state, reward, agent, MOVEMENT, -1)
            credit_exploration(state, agent, to, reward)
            if is_item(np.int64(state["board"][to])):
                take_item(state, agent, np.int64(state["board"][to]), reward)
                state["board"][to] = PASSAGE  # taken: nothing is left to burn


@noinline_kernel
def credit_exploration(state, agent, cell, reward):
    """§5 Credit a cell that the agent enters for the first time."""
    word, bit = cell >> 6, ONE << np.uint64(cell & 63)
    if state["visited"][agent, word] & bit == 0:
        state["visited"][agent, word] |= bit
        credit(state, reward, agent, EXPLORE, 1)


@noinline_kernel
def take_item(state, agent, item, reward):
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
