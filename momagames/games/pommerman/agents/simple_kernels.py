# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""MO-Pommerman: the kernels of the policies "stationary", which stands still, and "simple", the scripted agent (SPEC §11).

The scripted agent follows the first of seven rules that applies. It knows the strength of bombs but not their time, never
kicks on purpose, sends no messages, and often dies in its own fire: it is a weak opponent.

Source: the scripted agent of the original environment, from a summary of its behavior; see Resnick et al., "Pommerman: a
multi-agent playground", 2018.
"""

import numpy as np

from momagames.games.pommerman.agents.perception_kernels import (
    can_hide,
    can_leave,
    find_nearest,
    is_in_blast_line,
    is_open,
    neighbor_or_self,
    search_paths,
    write_view,
)
from momagames.games.pommerman.rules.moves import agent_cell, cell_row
from momagames.games.pommerman.rules.state import (
    AGENT,
    CELL_BYTES,
    CELLS,
    DOWN,
    EXTRA_BOMB,
    FOG,
    KICK,
    LAY,
    LEFT,
    MAX_BOMBS,
    RANGE,
    RIGHT,
    SEATS,
    STOP,
    UP,
    WOOD,
    team_members,
)
from momagames.kernels.jit import kernel, local_array, view_as
from momagames.kernels.rng import advance, below

REMEMBERED = 6  # number of recently visited cells
ENEMY_NEAR, ITEM_NEAR, WOOD_NEAR, BESIDE = 3, 2, 2, 1
ITEM_CODES = (1 << EXTRA_BOMB) | (1 << RANGE) | (1 << KICK)
ALL_AROUND = 0b11110  # a bit for each direction
ESCAPE_ORDER = (RIGHT, LEFT, UP, DOWN)  # directions in the order of the search from a bomb

memory = np.dtype([("last", "u1"), ("next", "u1"), ("been", "u2", (REMEMBERED,))])  # cells counted from 1; 0: none


@kernel
def stand_still(state, agent, mask, parts, memory, word, action):
    """Stop, and send no message."""
    for part in range(parts.shape[0]):
        action[part] = STOP
    return word


@kernel
def act(state, agent, mask, parts, memory, word, action):
    """Act as the scripted agent."""
    for part in range(parts.shape[0]):
        action[part] = STOP
    board, bombs = view_as(local_array(CELL_BYTES), np.uint8), local_array(MAX_BOMBS)
    distance, first = view_as(local_array(CELL_BYTES), np.uint8), view_as(local_array(CELL_BYTES), np.uint8)
    queue = local_array(CELLS)
    size, cell = np.int64(state["size"]), agent_cell(state, agent)
    ammo, strength = np.int64(state["ammo"][agent]), np.int64(state["strength"][agent])
    enemies = ((1 << SEATS) - 1) & ~team_members(state, agent)
    count = write_view(state, agent, board, bombs)
    found, word = search_paths(board, size, cell, enemies, word, distance, first, queue)

    # 1: out of the range of bombs
    threats = threat_directions(bombs, count, size, cell, distance)
    if threats != 0:
        choices = safe_directions(board, bombs, count, size, cell, distance, enemies, threats)
        word = advance(word)
        action[0] = choose_action(choices, word)
        return word

    # 2, 3: to enemies
    enemy = find_nearest(board, distance, queue, found, enemies << AGENT, ENEMY_NEAR)
    armed = ammo > 0 and can_leave(board, size, distance, queue, found, strength)
    if enemy >= 0:
        if distance[enemy] == BESIDE and armed:
            action[0] = LAY
            return word
        word = advance(word)
        if first[enemy] != memory["last"] or below(word, 2) == 0:
            memory["last"] = first[enemy]
            action[0] = first[enemy]
            return word

    # 4: to items
    item = find_nearest(board, distance, queue, found, ITEM_CODES, ITEM_NEAR)
    if item >= 0:
        action[0] = first[item]
        return word

    # 5, 6: to wood
    wood = find_nearest(board, distance, queue, found, 1 << WOOD, WOOD_NEAR)
    if wood >= 0:
        if distance[wood] == BESIDE:
            action[0] = LAY if armed else STOP
            return word
        if not is_in_blast_line(bombs, count, neighbor_or_self(cell, np.int64(first[wood]), size), size):
            action[0] = first[wood]
            return word

    # 7: anywhere
    word = advance(word)
    action[0] = choose_action(wandering_directions(board, bombs, count, size, cell, enemies, memory), word)
    place = np.int64(memory["next"]) % REMEMBERED  # a memory from a file may hold any number
    memory["been"][place] = cell + 1
    memory["next"] = (place + 1) % REMEMBERED
    return word


@kernel
def choose_action(bits, word):
    """Return a random action among the set bits; Stop if none is set."""
    number = 0
    for action in range(LAY):
        number += (bits >> action) & 1
    if number == 0:
        return STOP
    rank = below(word, number)
    for action in range(LAY):
        if (bits >> action) & 1:
            if rank == 0:
                return action
            rank -= 1
    return STOP


@kernel
def threat_directions(bombs, count, size, cell, distance):
    """Return the directions to bombs that can reach the agent, a bit for each; all four if it stands on a bomb."""
    row = cell_row(cell, size)
    col = cell - row * size
    bits = 0
    for bomb in range(count):
        bits |= bomb_threats(bombs[bomb], size, cell, row, col, distance)
    return bits


@kernel
def bomb_threats(bomb, size, cell, row, col, distance):
    """Return the directions of one bomb. A bomb without a path of at most its strength is no threat."""
    place, strength = bomb >> 8, bomb & 255
    if np.int64(distance[place]) > strength:
        return 0
    if place == cell:
        return ALL_AROUND
    there = cell_row(place, size)
    if there == row:
        return 1 << (RIGHT if place > cell else LEFT)
    if place - there * size == col:
        return 1 << (DOWN if place > cell else UP)
    return 0


@kernel
def safe_directions(board, bombs, count, size, cell, distance, enemies, threats):
    """Return the directions away from bombs, a bit for each (Stop: none)."""
    if threats == ALL_AROUND:
        return escape_direction(board, bombs, count, size, cell, distance, enemies)
    safe, inside = 0, 0
    for direction in range(UP, RIGHT + 1):
        to = neighbor_or_self(cell, direction, size)
        if to >= 0:
            inside |= 1 << direction
            free = is_open(np.int64(board[to]), enemies) or board[to] == FOG
            if (threats >> direction) & 1 == 0 and free:
                safe |= 1 << direction
    if safe == 0:
        safe = threats & inside
    return safe if safe else 1 << STOP


@kernel
def escape_direction(board, bombs, count, size, cell, distance, enemies):
    """Return the first direction in which the agent escapes the range of the bombs around it.

    It tries the directions to the first bomb of the board first; a bomb on its own cell counts for all that are left.
    """
    row = cell_row(cell, size)
    col = cell - row * size
    for bomb in range(count):
        threats = bomb_threats(bombs[bomb], size, cell, row, col, distance)
        for direction in ESCAPE_ORDER:
            to = neighbor_or_self(cell, direction, size)
            if (threats >> direction) & 1 and to >= 0 and is_open(np.int64(board[to]), enemies):
                reach = max_threat_strength(bombs, count, size, cell, row, col, distance, direction)
                if can_hide(board, size, to, cell, enemies, reach):
                    return 1 << direction
    return 1 << STOP


@kernel
def max_threat_strength(bombs, count, size, cell, row, col, distance, direction):
    """Return the greatest strength of the bombs that threaten the agent from a direction."""
    strength = 0
    for bomb in range(count):
        if (bomb_threats(bombs[bomb], size, cell, row, col, distance) >> direction) & 1:
            strength = max(strength, bombs[bomb] & 255)
    return strength


@kernel
def wandering_directions(board, bombs, count, size, cell, enemies, memory):
    """Return the directions without a target: not in line with bombs; unvisited cells and moves are preferred."""
    safe, new = 0, 0
    for direction in range(LAY):
        to = neighbor_or_self(cell, direction, size)
        if to >= 0 and is_open(np.int64(board[to]), enemies) and not is_in_blast_line(bombs, count, to, size):
            safe |= 1 << direction
            if not is_remembered(memory, to):
                new |= 1 << direction
    choices = new if new else safe
    moves = choices & ~(1 << STOP)
    return moves if moves else choices


@kernel
def is_remembered(memory, cell):
    """Return whether the agent has been on a cell recently."""
    known = False
    for place in range(REMEMBERED):
        known |= np.int64(memory["been"][place]) == cell + 1
    return known
