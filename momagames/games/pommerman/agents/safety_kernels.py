# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-Pommerman: the actions after which an agent can survive, from what it sees alone.

The visible bombs and flames are played forward: fuses, rolling bombs, chain reactions, burning wood and falling rings. Then a
search backward over the same steps finds the cells from which some path avoids all fire. An action is safe if it leads to such
a cell. Other agents are assumed to stand still; with caution 2 each enemy nearby may also lay a bomb now, and may block its
cell and the cells beside it.

Sets of cells are rows of bits, int64[ROWS]; sets for each step s = 1..HORIZON follow each other, that of step s from
s * ROWS on:

fire      cells in flames at the end of the step
closed    cells that cannot be entered in the step: walls, wood, bombs, agents
solid     cells on which no agent can stand at the end of the step: walls and wood

Source: our own; survival filters are common among the agents of the Pommerman competitions, see Osogami and Takahashi,
"Real-time tree search with pessimistic scenarios", ACML 2019.
"""

import numpy as np

from momagames.games.pommerman.rules import due_ring_after
from momagames.games.pommerman.rules.moves import agent_cell, bomb_cell, cell_row, is_item
from momagames.games.pommerman.rules.observation import view_window
from momagames.games.pommerman.rules.state import (
    AGENT,
    BOMB,
    DOWN,
    FLAME_BITS,
    FLAME_STEPS,
    FLAMES,
    FUSE,
    LAY,
    LEFT,
    MAX_BOMBS,
    MAX_SIDE,
    RIGHT,
    RIGID,
    SEATS,
    STOP,
    UP,
    WOOD,
    neighbor,
    team_members,
)
from momagames.kernels.jit import kernel, local_array, noinline_kernel

ROWS = MAX_SIDE
HORIZON = FUSE + FLAME_STEPS - 1  # steps until every bomb has exploded and its flames are gone
SETS = (HORIZON + FLAME_STEPS + 1) * ROWS
BOMBS = MAX_BOMBS + SEATS
ENEMY_NEAR = 6  # rows and columns together
ALL_COLUMNS = (1 << MAX_SIDE) - 1
GONE = 0  # fuse of a bomb that has exploded


@noinline_kernel
def clear_unsafe_actions(state, agent, caution, mask):
    """Clear the actions in the mask after which the agent cannot survive; if none would remain, clear nothing.

    caution    1: other agents stand still, but may claim the cell that the agent steps onto; 2: enemies nearby may also lay
               bombs and block cells. Where that leaves no action, the level below is taken
    """
    if state["alive"][agent] == 0:
        return
    for level in range(caution, -1, -1):
        safe = find_safe_actions(state, agent, level)
        remaining = 0
        for action in range(LAY + 1):
            remaining |= (np.int64(mask[action] != 0) << action) & safe
        if remaining:
            for action in range(LAY + 1):
                mask[action] = np.int8((remaining >> action) & 1)
            return


@noinline_kernel
def find_safe_actions(state, agent, level):
    """Return the safe actions, a bit for each, on a level of caution, or on level 0: no other agent crosses its way."""
    fire, closed, solid = local_array(SETS), local_array(SETS), local_array(SETS)
    survivable = local_array(ROWS)
    size, cell = np.int64(state["size"]), agent_cell(state, agent)
    row, col = np.int64(state["row"][agent]), np.int64(state["col"][agent])
    safe, kicks, stays = 0, 0, 0
    for choice in range(LAY + 1):  # 0: stop or walk; 1..4: kick a bomb in this direction; LAY
        to = cell if choice in (STOP, LAY) else neighbor(cell, choice, row, col, size)
        if STOP < choice < LAY and (kicks >> choice) & 1 == 0:
            continue
        predict(state, agent, level, choice, fire, closed, solid)
        search_backward(fire, closed, solid, survivable)
        if choice != STOP:
            safe |= is_in_set(survivable, to, size) << choice
            continue
        stays = is_in_set(survivable, cell, size)
        safe = stays
        for direction in range(UP, RIGHT + 1):
            to = neighbor(cell, direction, row, col, size)
            chance = kick_chance(state, agent, to, direction) if to >= 0 else 0
            if chance:
                kicks |= np.int64(chance == 2 or stays != 0) << direction
            elif to < 0 or is_obstacle(np.int64(state["board"][to])):
                safe |= stays << direction
            elif is_in_set(survivable, to, size):
                may_stay = state["board"][to] >= AGENT or (level > 0 and is_contested(state, agent, to))
                safe |= (stays if may_stay else 1) << direction
    return safe


@kernel
def is_obstacle(code):
    """Return whether an agent that walks into a cell of this code stays where it is."""
    return code in (RIGID, WOOD, BOMB)


@kernel
def cell_col(cell, size):
    return cell - cell_row(cell, size) * size


@kernel
def is_in_set(rows, cell, size):
    """Return whether a cell is in a set, 0 or 1."""
    return (rows[cell_row(cell, size)] >> cell_col(cell, size)) & 1


@kernel
def kick_chance(state, agent, cell, direction):
    """Return whether the agent kicks a bomb on this cell: 0 no, 1 if a bomb or an agent behind it makes way, 2 yes."""
    if state["kick"][agent] == 0 or state["board"][cell] != BOMB:
        return 0
    size = np.int64(state["size"])
    behind = neighbor(cell, direction, cell_row(cell, size), cell_col(cell, size), size)
    if behind < 0:
        return 0
    if not is_in_view(view_window(state, agent), cell_row(behind, size), cell_col(behind, size)):
        return 1
    code = np.int64(state["board"][behind])
    if code in (RIGID, WOOD) or is_item(code):
        return 0
    return 1 if code == BOMB or code >= AGENT else 2


@kernel
def is_contested(state, agent, cell):
    """Return whether another live agent in sight may claim this cell as well, so that both stay where they are."""
    size, window, found = np.int64(state["size"]), view_window(state, agent), False
    row, col = cell_row(cell, size), cell_col(cell, size)
    for other in range(np.int64(state["seats"])):
        other_row, other_col = np.int64(state["row"][other]), np.int64(state["col"][other])
        is_near = abs(other_row - row) + abs(other_col - col) <= 1 and is_in_view(window, other_row, other_col)
        found |= other != agent and state["alive"][other] != 0 and is_near
    return found


@noinline_kernel
def predict(state, agent, level, choice, fire, closed, solid):
    """Play the visible bombs and flames forward after the agent's choice, and write the sets of each step."""
    cells, lives, strengths, directions = local_array(BOMBS), local_array(BOMBS), local_array(BOMBS), local_array(BOMBS)
    wood, rigid, items = local_array(ROWS), local_array(ROWS), local_array(ROWS)
    size = np.int64(state["size"])
    for place in range(SETS):
        fire[place] = 0
    agents, blocked = local_array(ROWS), local_array(ROWS)
    write_view_sets(state, agent, wood, rigid, items, fire)
    count = list_bombs(state, agent, cells, lives, strengths, directions)
    if choice == LAY and can_lay(state, agent, cells, count):
        count = add_bomb(state, agent, agent, cells, lives, strengths, directions, count)
    elif STOP < choice < LAY:
        kicked = neighbor(agent_cell(state, agent), choice, np.int64(state["row"][agent]), np.int64(state["col"][agent]), size)
        for bomb in range(count):
            if cells[bomb] == kicked:
                directions[bomb] = choice
    write_agents(state, agent, agents)
    for r in range(ROWS):
        blocked[r] = agents[r]
    if level > 1:
        count = add_enemies(state, agent, blocked, cells, lives, strengths, directions, count)
    for step in range(1, HORIZON + 1):
        drop_ring(state, step, rigid, wood, fire, cells, lives, count)
        roll_bombs(size, rigid, wood, items, agents, cells, lives, directions, count)
        for r in range(ROWS):
            solid[step * ROWS + r] = rigid[r] | wood[r]
            closed[step * ROWS + r] = rigid[r] | wood[r] | blocked[r]
        for bomb in range(count):
            if lives[bomb] != GONE:
                r = cell_row(cells[bomb], size)
                closed[step * ROWS + r] |= 1 << (cells[bomb] - r * size)
        explode(size, step, rigid, wood, items, fire, cells, lives, strengths, count)


@kernel
def is_in_view(window, row, col):
    return window[0] <= row < window[1] and window[2] <= col < window[3]


@kernel
def write_view_sets(state, agent, wood, rigid, items, fire):
    """Write walls, wood and items in sight, and the flames in sight to the steps in which they burn."""
    size, window = np.int64(state["size"]), view_window(state, agent)
    for row in range(ROWS):
        wood[row], items[row] = 0, 0
        rigid[row] = ALL_COLUMNS & ~((1 << size) - 1) if row < size else ALL_COLUMNS
    for row in range(window[0], window[1]):
        for col in range(window[2], window[3]):
            cell = row * size + col
            code, bit = np.int64(state["board"][cell]), 1 << col
            if code == RIGID:
                rigid[row] |= bit
            elif code == WOOD:
                wood[row] |= bit
            elif is_item(code):
                items[row] |= bit
            elif code == FLAMES:
                flames = np.int64(state["fire"][cell])
                for life in range(1, FLAME_STEPS):
                    if flames & FLAME_BITS[life]:
                        for step in range(1, life + 1):
                            fire[step * ROWS + row] |= bit


@kernel
def list_bombs(state, agent, cells, lives, strengths, directions):
    """Write the bombs in sight; return their number."""
    window, count = view_window(state, agent), 0
    for bomb in range(np.int64(state["bombs"])):
        if is_in_view(window, np.int64(state["bomb_row"][bomb]), np.int64(state["bomb_col"][bomb])):
            cells[count] = bomb_cell(state, bomb)
            lives[count] = np.int64(state["bomb_life"][bomb])
            strengths[count] = np.int64(state["bomb_strength"][bomb])
            directions[count] = np.int64(state["bomb_direction"][bomb])
            count += 1
    return count


@kernel
def can_lay(state, agent, cells, count):
    """Return whether the agent has ammunition and no bomb under it."""
    free, here = state["ammo"][agent] != 0, agent_cell(state, agent)
    for bomb in range(count):
        free &= cells[bomb] != here
    return free


@kernel
def add_bomb(state, agent, layer, cells, lives, strengths, directions, count):
    """Add a bomb that is laid now, with the agent's own strength: that of others is hidden."""
    cells[count] = agent_cell(state, layer)
    lives[count] = FUSE
    strengths[count] = np.int64(state["strength"][agent])
    directions[count] = STOP
    return count + 1


@kernel
def add_enemies(state, agent, blocked, cells, lives, strengths, directions, count):
    """Let each enemy nearby lay a bomb, and block its cell and the cells beside it."""
    size, window = np.int64(state["size"]), view_window(state, agent)
    team = team_members(state, agent)
    for other in range(np.int64(state["seats"])):
        row, col = np.int64(state["row"][other]), np.int64(state["col"][other])
        apart = abs(row - np.int64(state["row"][agent])) + abs(col - np.int64(state["col"][agent]))
        is_enemy = state["alive"][other] != 0 and (team >> other) & 1 == 0
        if is_enemy and apart <= ENEMY_NEAR and is_in_view(window, row, col):
            count = add_bomb(state, agent, other, cells, lives, strengths, directions, count)
            bit = 1 << col
            blocked[row] |= (bit | (bit << 1) | (bit >> 1)) & ALL_COLUMNS
            if row > 0:
                blocked[row - 1] |= bit
            if row < size - 1:
                blocked[row + 1] |= bit
    return count


@kernel
def write_agents(state, agent, agents):
    """Write the cells of other live agents in sight."""
    window = view_window(state, agent)
    for row in range(ROWS):
        agents[row] = 0
    for other in range(np.int64(state["seats"])):
        row, col = np.int64(state["row"][other]), np.int64(state["col"][other])
        if other != agent and state["alive"][other] and is_in_view(window, row, col):
            agents[row] |= 1 << col


@kernel
def drop_ring(state, step, rigid, wood, fire, cells, lives, count):
    """Turn a ring that falls before this step into walls: who is there at the end of the step before dies."""
    ring = due_ring_after(state, np.int64(state["ply"]) + step - 1)
    if ring < 0:
        return
    size = np.int64(state["size"])
    last = size - 1 - ring
    inner = ((1 << (last + 1)) - 1) & ~((1 << ring) - 1)
    for row in range(ring, last + 1):
        bits = inner if row in (ring, last) else (1 << ring) | (1 << last)
        rigid[row] |= bits
        wood[row] &= ~bits
        fire[(step - 1) * ROWS + row] |= bits
        for bomb in range(count):
            if cell_row(cells[bomb], size) == row and (bits >> (cells[bomb] - row * size)) & 1:
                lives[bomb] = GONE


@kernel
def roll_bombs(size, rigid, wood, items, agents, cells, lives, directions, count):
    """Move rolling bombs by a cell; walls, wood, items, agents and other bombs stop them."""
    for bomb in range(count):
        if lives[bomb] != GONE and directions[bomb] != STOP:
            row = cell_row(cells[bomb], size)
            to = neighbor(cells[bomb], directions[bomb], row, cells[bomb] - row * size, size)
            stops = to < 0
            if not stops:
                row = cell_row(to, size)
                stops = ((rigid[row] | wood[row] | items[row] | agents[row]) >> (to - row * size)) & 1 != 0
                for other in range(count):
                    stops |= lives[other] != GONE and cells[other] == to
            if stops:
                directions[bomb] = STOP
            else:
                cells[bomb] = to


@noinline_kernel
def explode(size, step, rigid, wood, items, fire, cells, lives, strengths, count):
    """Shorten fuses; bombs whose time has come, or that lie in flames, explode, and others in their blasts with them."""
    burnt = local_array(ROWS)
    for row in range(ROWS):
        burnt[row] = 0
    exploding = True
    for bomb in range(count):
        if lives[bomb] > 1:
            lives[bomb] -= 1
        elif lives[bomb] == 1:
            lives[bomb] = -1  # explodes
    while exploding:
        exploding = False
        for bomb in range(count):
            row = cell_row(cells[bomb], size)
            col = cells[bomb] - row * size
            if lives[bomb] == -1 or (lives[bomb] > 0 and (fire[step * ROWS + row] >> col) & 1):
                lives[bomb] = GONE
                exploding = True
                burn(fire, step, row, 1 << col, items)
                for direction in range(UP, RIGHT + 1):
                    r, c = row, col
                    for _ in range(strengths[bomb] - 1):
                        r += np.int64(direction == DOWN) - np.int64(direction == UP)
                        c += np.int64(direction == RIGHT) - np.int64(direction == LEFT)
                        if r < 0 or r >= size or c < 0 or c >= size or (rigid[r] >> c) & 1:
                            break
                        burn(fire, step, r, 1 << c, items)
                        if (wood[r] >> c) & 1:
                            burnt[r] |= 1 << c
                            break
    for row in range(ROWS):
        wood[row] &= ~burnt[row]


@kernel
def burn(fire, step, row, bit, items):
    """Light flames on a cell for the next steps."""
    items[row] &= ~bit
    for later in range(FLAME_STEPS):
        fire[(step + later) * ROWS + row] |= bit


@noinline_kernel
def search_backward(fire, closed, solid, survivable):
    """Write the cells on which an agent at the end of step 1 can survive to the horizon."""
    enter = local_array(ROWS)
    last = HORIZON * ROWS
    for row in range(ROWS):
        survivable[row] = ALL_COLUMNS & ~(fire[last + row] | solid[last + row])
    for step in range(HORIZON - 1, 0, -1):
        for row in range(ROWS):
            enter[row] = survivable[row] & ~closed[(step + 1) * ROWS + row]
        for row in range(ROWS):
            above = enter[row - 1] if row > 0 else 0
            below = enter[row + 1] if row < ROWS - 1 else 0
            reached = survivable[row] | (enter[row] << 1) | (enter[row] >> 1) | above | below
            survivable[row] = reached & ALL_COLUMNS & ~(fire[step * ROWS + row] | solid[step * ROWS + row])
