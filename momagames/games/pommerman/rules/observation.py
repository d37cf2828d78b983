"""Observations of MO-Pommerman (SPEC §7).

The matrices and planes are written one after the other. A block of 16 or 64 bytes may extend beyond its own field: the next
field overwrites the excess, and the buffer has spare bytes after the last one.
"""

from __future__ import annotations

import numpy as np

from momagames.games.pommerman.rules.state import (
    AGENT,
    DUEL,
    FFA,
    FLAME_BITS,
    FOG,
    KICK,
    MAX_SIDE,
    NO_AGENT,
    RADIO,
    RIGHT,
    RIGID,
    SEATS,
    WORDS,
)
from momagames.kernels.jit import copy_padded16, kernel, local_array, noinline_kernel, unpack_bits64, value_mask64, view_as

MAX_VIEW = MAX_SIDE - 1

# §7.4 The planes, in order: the codes from passage to kick item, agents, bombs, flames, and planes of one number
CODES = KICK + 1
OWN, MATE, ENEMIES, STRENGTH, LIFE, DIRECTION = range(CODES, CODES + 6)
FIRE = DIRECTION + RIGHT
AMMO, REACH, CAN_KICK, TIME, MESSAGE = range(FIRE + 1, FIRE + 6)

ALL_BITS, CLEAR = np.uint8(255), np.uint8(0)
SCRATCH = ((2 * MAX_VIEW + 1) ** 2 + 63) // 64 * 8  # words, for the largest matrix
EIGHT_TIMES = np.uint64(0x0101010101010101)
FULL_TIME = 255


@kernel
def observe(state, agent, out):
    """§7 Write the observation of `agent` as the bytes of its fields."""
    if state["planes"]:
        write_planes(state, agent, out)
    else:
        write_fields(state, agent, out)


@kernel
def view_window(state, agent):
    """§7.2 Return the visible part of the board of a dead or live agent, and its position in the observation.

    Returns (top, bottom, left, right, side, origin): the visible rows top .. bottom - 1 and columns left .. right - 1, the side
    of a matrix, and the index of board cell (0, 0) in a matrix, which may lie outside.
    """
    size, view = np.int64(state["size"]), np.int64(state["view"])
    if view == 0:
        return 0, size, 0, size, size, 0
    row, col = np.int64(state["row"][agent]), np.int64(state["col"][agent])
    top, bottom = max(row - view, 0), min(row + view + 1, size)
    left, right = max(col - view, 0), min(col + view + 1, size)
    if state["egocentric"]:
        side = 2 * view + 1
        return top, bottom, left, right, side, (view - row) * side + view - col
    return top, bottom, left, right, size, 0


@noinline_kernel
def write_fields(state, agent, out):
    """§7.3 Write the fields, each from a multiple of 8 bytes on."""
    window = view_window(state, agent)
    side = window[4]
    pitch = (side * side + 7) >> 3  # words from one matrix to the next
    words = view_as(out, np.uint64)
    write_board(state, window, words, out)
    for i in range(np.uint64(pitch), np.uint64(5 * pitch)):
        words[i] = 0
    for bomb in range(np.int64(state["bombs"])):
        cell = bomb_index(state, bomb, window)
        if cell >= 0:
            cell += 8 * pitch
            out[cell] = state["bomb_strength"][bomb]
            out[cell + 8 * pitch] = state["bomb_life"][bomb]
            out[cell + 16 * pitch] = state["bomb_direction"][bomb]
    write_flames(state, window, out, 32 * pitch)
    write_scalars(state, agent, words[5 * pitch :])


@kernel
def write_board(state, window, words, out):
    """§7.2 O2, O3 Write the visible board to the start of `out`, which is `words` as bytes."""
    size, side = np.int64(state["size"]), window[4]
    count = np.uint64((side * side + 7) >> 3)
    if state["view"] == 0:
        board = view_as(state["board"], np.uint64)
        for i in range(count):
            words[i] = board[i]
        return
    padding = np.uint8(RIGID if state["egocentric"] else FOG)
    for i in range(count):
        words[i] = EIGHT_TIMES * np.uint64(padding)
    write_rows(state["board"], size, window, padding, out, 0)


@kernel
def write_rows(cells, size, window, padding, out, start):
    """Copy the visible part of a board matrix to the one at out[start], row by row; right of it is `padding`."""
    top, bottom, left, right, side, origin = window
    for row in range(top, bottom):
        copy_padded16(cells, row * size + left, right - left, padding, out, start + origin + row * side + left)


@kernel
def bomb_index(state, bomb, window):
    """§7.2 O4 Return the index of a bomb in a matrix; -1: out of sight."""
    top, bottom, left, right, side, origin = window
    row, col = np.int64(state["bomb_row"][bomb]), np.int64(state["bomb_col"][bomb])
    return origin + row * side + col if top <= row < bottom and left <= col < right else -1


@noinline_kernel
def write_flames(state, window, out, start):
    """§7.2 O6 Write the life of the flames, from 1 on, to the zeroed matrix at out[start]."""
    if state["burning"] == 0:
        return
    size = np.int64(state["size"])
    if state["view"] == 0:
        write_flame_lives(state["fire"], 0, size * size, out[start:])
    else:
        lives = view_as(local_array(SCRATCH), np.uint8)
        write_flame_lives(state["fire"], window[0] * size, window[1] * size, lives)
        write_rows(lives, size, window, CLEAR, out, start)


@kernel
def write_flame_lives(fire, start, stop, lives):
    """§7.2 O6 Write the life of the youngest flame of each of these cells, from 1 on; 0: none."""
    for cell in range(np.uint64(start), np.uint64(stop)):
        flames = fire[cell]
        lives[cell] = (
            np.uint8(flames >= np.uint16(FLAME_BITS[0]))
            + np.uint8(flames >= np.uint16(FLAME_BITS[1]))
            + np.uint8(flames >= np.uint16(FLAME_BITS[2]))
        )


@kernel
def write_scalars(state, agent, words):
    """§7.3 Write the fields other than matrices: one word of 8 bytes for each."""
    mate, enemies = mate_and_enemies(state, agent)
    words[0] = pack_bytes(state["alive"], SEATS)
    words[1] = np.int64(state["row"][agent]) | (np.int64(state["col"][agent]) << 8)
    words[2] = state["ammo"][agent]
    words[3] = state["strength"][agent]
    words[4] = state["kick"][agent]
    words[5] = mate
    words[6] = enemies
    words[7] = state["mode"]
    words[8] = state["ply"]
    if state["mode"] == RADIO:
        words[9] = pack_bytes(state["message"][agent ^ 2], WORDS)


@kernel
def pack_bytes(bytes, count):
    """Return the first bytes of an array as a word."""
    word = 0
    for i in range(count):
        word |= np.int64(bytes[i]) << (8 * i)
    return word


@kernel
def mate_and_enemies(state, agent):
    """§7.3 O1 Return the codes of an agent's team mate (NO_AGENT if it has none) and of its enemies, one byte each."""
    mode = np.int64(state["mode"])
    if mode == DUEL:
        return NO_AGENT, AGENT + 1 - agent
    if mode == FFA:
        first, second, third = np.int64(agent < 1), 1 + np.int64(agent < 2), 2 + np.int64(agent < 3)
        return NO_AGENT, (AGENT + first) | ((AGENT + second) << 8) | ((AGENT + third) << 16)
    first = AGENT + 1 - (agent & 1)
    return AGENT + (agent ^ 2), first | ((first + 2) << 8) | (NO_AGENT << 16)


@noinline_kernel
def write_planes(state, agent, out):
    """§7.4 Write the planes."""
    window = view_window(state, agent)
    cells = window[4] * window[4]
    words = local_array(SCRATCH)
    board = view_as(words, np.uint8)
    write_board(state, window, view_as(words, np.uint64), board)
    for code in range(CODES):
        write_code_plane(board, code, out, code * cells, cells)
    write_agent_planes(state, agent, board, out, cells)
    out[STRENGTH * cells : (FIRE + 1) * cells] = 0
    for bomb in range(np.int64(state["bombs"])):
        cell = bomb_index(state, bomb, window)
        if cell >= 0:
            direction = np.int64(state["bomb_direction"][bomb])
            out[STRENGTH * cells + cell] = state["bomb_strength"][bomb]
            out[LIFE * cells + cell] = state["bomb_life"][bomb]
            if direction:
                out[(DIRECTION + direction - 1) * cells + cell] = 1
    write_flames(state, window, out, FIRE * cells)
    write_scalar_planes(state, agent, out, cells)


@kernel
def write_code_plane(board, code, out, start, cells):
    """§7.4 Write a plane that marks the cells with a code."""
    for place in range(0, cells, 64):
        unpack_bits64(value_mask64(board, place, ALL_BITS, np.uint8(code)), out, start + place)


@noinline_kernel
def write_agent_planes(state, agent, board, out, cells):
    """§7.4 Write the planes of the agent, of its mate and of its enemies, as far as they are visible."""
    mate = np.int64(mate_and_enemies(state, agent)[0])
    write_code_plane(board, AGENT + agent, out, OWN * cells, cells)
    out[MATE * cells : ENEMIES * cells] = 0
    if mate != NO_AGENT:
        write_code_plane(board, mate, out, MATE * cells, cells)
    for place in range(0, cells, 64):
        found = np.uint64(0)
        for code in range(AGENT, AGENT + SEATS):
            if code != AGENT + agent and code != mate:
                found |= value_mask64(board, place, ALL_BITS, np.uint8(code))
        unpack_bits64(found, out, ENEMIES * cells + place)


@noinline_kernel
def write_scalar_planes(state, agent, out, cells):
    """§7.4 Write the planes that hold one number each."""
    time = FULL_TIME * np.int64(state["ply"]) // np.int64(state["max_steps"])
    fill_plane(out, AMMO * cells, cells, state["ammo"][agent])
    fill_plane(out, REACH * cells, cells, state["strength"][agent])
    fill_plane(out, CAN_KICK * cells, cells, state["kick"][agent])
    fill_plane(out, TIME * cells, cells, np.uint8(time))
    if state["mode"] == RADIO:
        for word in range(WORDS):
            fill_plane(out, (MESSAGE + word) * cells, cells, state["message"][agent ^ 2, word])


@kernel
def fill_plane(out, start, count, value):
    """Write a plane of one value."""
    out[start : start + count] = value
