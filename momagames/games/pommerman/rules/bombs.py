"""Flames, explosions and deaths of MO-Pommerman (SPEC §4.1, §4.8, §4.9)."""

import numpy as np

from momagames.games.pommerman.rules.moves import agent_cell, bomb_cell, is_item
from momagames.games.pommerman.rules.rewards import credit_owners
from momagames.games.pommerman.rules.state import (
    AGENT,
    BOMB,
    CELL_BYTES,
    CELLS,
    DOWN,
    FLAME_BITS,
    FLAME_STEPS,
    FLAMES,
    ITEM_WASTE,
    KILLS,
    LEFT,
    MAX_AMMO,
    NEW_FLAME,
    RIGHT,
    RIGID,
    SEATS,
    SELF_KILL,
    TEAM_KILL,
    UP,
    WOOD,
    WOOD_BURNT,
    team_members,
)
from momagames.kernels.jit import kernel, local_array, noinline_kernel, view_as
from momagames.kernels.reward import has_objective

ALL_SEATS = (1 << SEATS) - 1
EXPLODED = 255  # life of a bomb that has exploded in this step
EXPIRING, REMAINING, REMAINING_OWNERS = np.uint16(FLAME_BITS[0]), np.uint16(FLAME_BITS[0] | FLAME_BITS[1]), np.uint16(0x00FF)
ONE, FOUR, EIGHT, NONE = np.uint16(1), np.uint16(4), np.uint16(8), np.uint16(0)


@kernel
def flame_owners(fire):
    """§5.2 Return the owners of all flames on a cell, a bit for each seat."""
    fire = np.int64(fire)
    return (fire | (fire >> 4) | (fire >> 8)) & 15


@kernel
def age_cell_flames(fire):
    """Return a cell's flames one step later, without those of life 0."""
    return ((fire >> FOUR) & REMAINING_OWNERS) | ((fire >> ONE) & REMAINING)


@kernel
def age_flames(state, reward):
    """§4.1 F1-F5 Age flames; a cell then shows its remaining flames, its hidden item, or a passage."""
    if state["burning"] == 0:
        return
    state["burning"] -= 1
    if has_objective(state, ITEM_WASTE):
        credit_lost_items(state, reward)
    board, hidden, fire = state["board"], state["hidden"], state["fire"]
    words = view_as(fire, np.uint64)  # four cells at a time: most have no flames
    for word in range((np.int64(state["size"]) * np.int64(state["size"]) + 3) // 4):
        if words[word]:
            for cell in range(4 * word, 4 * word + 4):
                flames = fire[cell]
                remaining = age_cell_flames(flames)
                fire[cell] = remaining
                if flames & EXPIRING:
                    board[cell] = hidden[cell]
                    hidden[cell] = 0
                if remaining:
                    board[cell] = FLAMES


@noinline_kernel
def credit_lost_items(state, reward):
    """§4.1 F5 Charge the owners of younger flames for an item that appears under them and is lost."""
    for cell in range(np.int64(state["size"]) * np.int64(state["size"])):
        flames = state["fire"][cell]
        if flames & EXPIRING and age_cell_flames(flames) and state["hidden"][cell]:
            credit_owners(state, reward, flame_owners(age_cell_flames(flames)), ALL_SEATS, ITEM_WASTE, -1)


@noinline_kernel
def explode_bombs(state, reward):
    """§4.8 B6-B10 and §4.9 F6 Tick bombs; bombs that run out, roll into flames or lie in a blast explode together."""
    exploding = tick_bombs(state)
    if exploding == 0:
        return
    covered, blast = local_array(CELLS), view_as(local_array(CELL_BYTES), np.uint8)
    for cell in range(CELLS):
        blast[cell] = 0
    count = np.int64(state["bombs"])
    cells = 0
    while exploding:  # B7
        for bomb in range(count):
            if state["bomb_life"][bomb] == 0:
                state["bomb_life"][bomb] = EXPLODED
                cells = spread_blast(state, bomb, blast, covered, cells)
                refund_ammo(state, np.int64(state["bomb_owner"][bomb]))
        exploding = 0
        for bomb in range(count):
            if state["bomb_life"][bomb] != EXPLODED and blast[bomb_cell(state, bomb)]:
                state["bomb_life"][bomb] = 0
                exploding += 1
    remove_bombs(state, EXPLODED)
    ignite_cells(state, blast, covered, cells, reward)


@kernel
def tick_bombs(state):
    """§4.8 B6 Shorten fuses, to 0 for a bomb that has rolled into flames. Return the number of bombs that explode now."""
    exploding = 0
    for bomb in range(np.int64(state["bombs"])):
        life = np.int64(state["bomb_life"][bomb]) - 1
        if state["board"][bomb_cell(state, bomb)] == FLAMES:
            life = 0
        state["bomb_life"][bomb] = life
        exploding += life == 0
    return exploding


@kernel
def refund_ammo(state, owner):
    """§4.8 B10 Return the ammunition of an exploded bomb to its owner, up to the limit."""
    if state["ammo"][owner] < MAX_AMMO:
        state["ammo"][owner] += 1


@noinline_kernel
def remove_bombs(state, life):
    """Remove the bombs of this life from the list; the others keep their order."""
    remaining = 0
    for bomb in range(np.int64(state["bombs"])):
        if state["bomb_life"][bomb] != life:
            if remaining < bomb:
                state["bomb_row"][remaining] = state["bomb_row"][bomb]
                state["bomb_col"][remaining] = state["bomb_col"][bomb]
                state["bomb_life"][remaining] = state["bomb_life"][bomb]
                state["bomb_strength"][remaining] = state["bomb_strength"][bomb]
                state["bomb_owner"][remaining] = state["bomb_owner"][bomb]
                state["bomb_direction"][remaining] = state["bomb_direction"][bomb]
            remaining += 1
    state["bombs"] = remaining


@noinline_kernel
def spread_blast(state, bomb, blast, covered, cells):
    """§4.8 B8, B9 Set the owner's bit on every cell of a blast. New cells go to `covered`; return its new length."""
    size, cell = np.int64(state["size"]), bomb_cell(state, bomb)
    row, col = np.int64(state["bomb_row"][bomb]), np.int64(state["bomb_col"][bomb])
    reach = np.int64(state["bomb_strength"][bomb]) - 1
    bit = 1 << np.int64(state["bomb_owner"][bomb])
    cells = cover_cell(cell, bit, blast, covered, cells)
    for direction in (UP, DOWN, LEFT, RIGHT):
        stride = (0, -size, size, -1, 1)[direction]
        border = (0, row, size - 1 - row, col, size - 1 - col)[direction]
        to = cell
        for _ in range(min(reach, border)):
            to += stride
            code = state["board"][to]
            if code == RIGID:
                break
            cells = cover_cell(to, bit, blast, covered, cells)
            if code == WOOD:
                break
    return cells


@kernel
def cover_cell(cell, bit, blast, covered, cells):
    """Add one cell to a blast."""
    if blast[cell] == 0:
        covered[cells] = cell
        cells += 1
    blast[cell] |= bit
    return cells


@noinline_kernel
def ignite_cells(state, blast, covered, cells, reward):
    """§4.9 F6 Light flames on the covered cells; wood and items there burn."""
    for k in range(cells):
        cell = covered[k]
        code, owners = np.int64(state["board"][cell]), np.int64(blast[cell])
        if code == WOOD:
            credit_owners(state, reward, owners, ALL_SEATS, WOOD_BURNT, 1)
        elif is_item(code):
            credit_owners(state, reward, owners, ALL_SEATS, ITEM_WASTE, -1)
        state["fire"][cell] |= NEW_FLAME | (np.uint16(owners) << EIGHT)
    state["burning"] = FLAME_STEPS


@kernel
def update_board(state):
    """§4.9 F6, F8 Write bombs to the board, and all flames over them."""
    board, fire = state["board"], state["fire"]
    for bomb in range(np.int64(state["bombs"])):
        board[bomb_cell(state, bomb)] = BOMB
    if state["burning"]:
        words = view_as(fire, np.uint64)
        for word in range((np.int64(state["size"]) * np.int64(state["size"]) + 3) // 4):
            if words[word]:
                for cell in range(4 * word, 4 * word + 4):
                    board[cell] = FLAMES if fire[cell] else board[cell]


@kernel
def kill_agents(state, reward):
    """§4.9 F7 Kill all agents in flames at once, and write the others to the board."""
    for agent in range(np.int64(state["seats"])):
        if state["alive"][agent]:
            cell = agent_cell(state, agent)
            if state["board"][cell] == FLAMES:
                state["alive"][agent] = 0
                credit_death(state, agent, flame_owners(state["fire"][cell]), reward)
            else:
                state["board"][cell] = AGENT + agent


@noinline_kernel
def credit_death(state, victim, owners, reward):
    """§5 Credit a death by fire to enemies; charge the team mate and the victim."""
    team = team_members(state, victim)
    own = 1 << victim
    credit_owners(state, reward, owners, ALL_SEATS & ~team, KILLS, 1)
    credit_owners(state, reward, owners, team & ~own, TEAM_KILL, -1)
    credit_owners(state, reward, owners, own, SELF_KILL, -1)
