"""Observations of MO-TileBlast (SPEC §7)."""

import numpy as np

from momagames.games.tileblast.rules.bitset import cells_with, write_bits
from momagames.games.tileblast.rules.goals import read_counter
from momagames.games.tileblast.rules.pieces import (
    ATTRIBUTES,
    BASIC,
    BEEHIVE,
    BLAST,
    BOMB,
    CAGE,
    COLORS,
    COUNTS,
    FALLS,
    FLASK,
    HEALS,
    KINDS,
    LASTS,
    NEAR,
    POWER,
    ROCKET_H,
    ROCKET_V,
    SPREADS,
    TAKES,
    UNIT_CAGE,
)
from momagames.games.tileblast.rules.state import CELLS, GOALS, HEIGHT, WIDTH
from momagames.kernels.jit import kernel, local_array, noinline_kernel, view_as

# §7.3 Channels
CELL, COLOR, CLICKABLE, FIXED, GOAL, GROUP = 0, 1, 7, 8, 9, 23
UNCOLORED, BY_TAP, BY_NEIGHBOR, BY_POWER, DESTRUCTIBLE, LASTING = 19, 20, 21, 22, 24, 25
# §7.2 Positions of (x, y, channel) in the shape, and the axes of that shape in memory order (None: C order)
AXES: dict[str, tuple[tuple[int, ...], tuple[int, ...] | None]] = {
    "xyc": ((0, 1, 2), (2, 1, 0)),
    "yxc": ((1, 0, 2), (2, 0, 1)),
    "cyx": ((2, 1, 0), None),
}


def list_constant_channels(code: int) -> list[int]:
    """§7.3 Return the channels of a kind that depend neither on its color nor on the goals."""
    kind = KINDS[code]
    has = kind.attributes
    playable = code == BASIC or has & POWER
    own = {BASIC: 10, BOMB: 11, FLASK: 12, ROCKET_H: 13, ROCKET_V: 14}
    memberships = {
        CLICKABLE: playable,
        FIXED: not playable,
        own.get(code, CELL): code in own,
        15: has & FALLS,
        16: has & SPREADS,
        17: has & HEALS,
        18: kind.spawn or code == BEEHIVE,
        BY_TAP: has & POWER,
        BY_NEIGHBOR: has & NEAR,
        BY_POWER: has & BLAST,
        GROUP: code == BASIC,
        DESTRUCTIBLE: not has & LASTS,
        LASTING: has & LASTS,
    }
    return [channel for channel, is_member in memberships.items() if is_member]


CHANNEL_LISTS = [list_constant_channels(code) if code else [] for code in range(len(KINDS))]
CHANNEL_COUNTS = np.array([len(channels) for channels in CHANNEL_LISTS], np.int64)
CHANNELS = np.array([channels + [0] * (max(map(len, CHANNEL_LISTS)) - len(channels)) for channels in CHANNEL_LISTS], np.int64)
# The same as bits, with the bit of channel CELL
CHANNEL_BITS = np.array([1 | sum(1 << channel for channel in channels) for channels in CHANNEL_LISTS], np.int64)
BOARD_WORDS, COLOR_CODES = CELLS // 8 + 1, len(COLORS) + 1


@kernel
def observe(state, agent, out):
    """§7 Write the board, and all fields if the game observes them. All agents observe the same."""
    channels = np.int64(state["channels"])
    write_board(state, out, channels)
    size = CELLS * channels
    if out.shape[0] > size:
        out[size:] = 0
        if state["fields"]:
            numbers = view_as(out[(size + 7) // 8 * 8 :], np.int32)
            for goal in range(GOALS):
                numbers[goal] = state["rest"][goal]
            numbers[GOALS] = max(0, np.int64(state["limit"]) - np.int64(state["moves"]))


@noinline_kernel
def write_board(state, out, channels):
    """§7.3 Write the board plane by plane. Pieces of one hit point are bits of their channels; other pieces and covers
    are added afterwards.
    """
    first, second = view_as(local_array(BOARD_WORDS), np.uint8), view_as(local_array(BOARD_WORDS), np.uint8)
    third, fourth = view_as(local_array(BOARD_WORDS), np.uint8), view_as(local_array(BOARD_WORDS), np.uint8)
    deferred, goal_units = local_array(CELLS), local_array(COLOR_CODES)
    write_goal_units(state, goal_units)
    count = 0
    for y in range(HEIGHT):
        row = HEIGHT - 1 - y if state["upside_down"] else y
        for x in range(WIDTH):
            cell, target = WIDTH * y + x, WIDTH * row + x
            kind, anchor = np.int64(state["kind"][cell]), np.int64(state["anchor"][cell])
            bits, extra = np.int64(state["active"][cell]), state["cover"][cell] != 0
            if kind:
                color = np.int64(state["color"][anchor])
                if state["hp"][anchor] == 1 and not ATTRIBUTES[kind] & COUNTS:
                    channel = UNCOLORED if ATTRIBUTES[kind] & TAKES else CELL
                    bits = (
                        CHANNEL_BITS[kind]
                        | (1 << (COLOR + color - 1 if color else channel))
                        | ((goal_units[color] >> kind) & 1) << GOAL
                    )
                else:
                    extra = True
            if extra:
                deferred[count] = cell
                count += 1
            first[target] = bits & 255
            second[target] = (bits >> 8) & 255
            third[target] = (bits >> 16) & 255
            fourth[target] = bits >> 24
    for k in range(8):
        low, high = cells_with(first, 1 << k, 1 << k)
        write_bits(low, high, out, CELLS * k)
        low, high = cells_with(second, 1 << k, 1 << k)
        write_bits(low, high, out, CELLS * (8 + k))
        low, high = cells_with(third, 1 << k, 1 << k)
        write_bits(low, high, out, CELLS * (16 + k))
        if 24 + k < channels:
            low, high = cells_with(fourth, 1 << k, 1 << k)
            write_bits(low, high, out, CELLS * (24 + k))
    for k in range(count):
        add_to_cell(state, out, deferred[k], channels, goal_units)


@kernel
def write_goal_units(state, goal_units):
    """Write for each color (0: none) the unit bits that unreached goals collect. goal_units int64[7]"""
    goal_units[:] = 0
    for goal in range(np.int64(state["goals"])):
        if state["rest"][goal] > 0:
            goal_color = np.int64(state["goal_color"][goal])
            for color in range(COLOR_CODES):
                if goal_color in (0, color):
                    goal_units[color] |= np.int64(state["goal_units"][goal])


@kernel
def add_value(out, channel, target, value):
    """Add a value to one cell of a channel."""
    out[CELLS * channel + target] += np.uint8(value)


@noinline_kernel
def add_to_cell(state, out, cell, channels, goal_units):
    """§7.3 Add what the planes leave out: a piece of several hit points, a cover."""
    target = WIDTH * (HEIGHT - 1 - cell // WIDTH) + cell % WIDTH if state["upside_down"] else cell
    kind, anchor, cover = np.int64(state["kind"][cell]), np.int64(state["anchor"][cell]), np.int64(state["cover"][cell])
    hp, color = np.int64(state["hp"][anchor]), np.int64(state["color"][anchor])
    if kind and (hp != 1 or ATTRIBUTES[kind] & COUNTS):
        for k in range(CHANNEL_COUNTS[kind]):
            if CHANNELS[kind, k] < channels:
                add_value(out, CHANNELS[kind, k], target, hp)
        if ATTRIBUTES[kind] & COUNTS:
            for own_color in range(1, COLOR_CODES):
                add_value(out, COLOR + own_color - 1, target, read_counter(state, anchor, own_color))
                add_value(out, GOAL, target, read_counter(state, anchor, own_color) * ((goal_units[own_color] >> kind) & 1))
        else:
            add_value(out, GOAL, target, hp * ((goal_units[color] >> kind) & 1))
            if color:
                add_value(out, COLOR + color - 1, target, hp)
            elif ATTRIBUTES[kind] & TAKES:
                add_value(out, UNCOLORED, target, hp)
    if cover:
        add_value(out, FIXED, target, 1)
        add_value(out, GOAL, target, (goal_units[0] >> (UNIT_CAGE - 1 + cover)) & 1)
        if cover == CAGE:
            add_value(out, BY_NEIGHBOR, target, 1)
            add_value(out, BY_POWER, target, 1)
        else:
            add_value(out, BY_TAP, target, 1)
        if channels > DESTRUCTIBLE:
            add_value(out, DESTRUCTIBLE, target, 1)
