"""What agents see in MO-TileBlast (SPEC §7)."""

import numpy as np

from momagames.games.tileblast.rules.bitset import cells_with, write_bits
from momagames.games.tileblast.rules.goals import counter
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
from momagames.kernels.jit import kernel, local_array, noinline_kernel

# §7.3 Channels
CELL, COLOR, CLICKABLE, FIXED, GOAL, GROUP = 0, 1, 7, 8, 9, 23
UNCOLORED, BY_TAP, BY_NEIGHBOR, BY_POWER, DESTRUCTIBLE, LASTING = 19, 20, 21, 22, 24, 25
# §7.2 Places of (x, y, channel) in the shape, and the axes of that shape in the order of memory (None: as they come)
AXES: dict[str, tuple[tuple[int, ...], tuple[int, ...] | None]] = {
    "xyc": ((0, 1, 2), (2, 1, 0)),
    "yxc": ((1, 0, 2), (2, 0, 1)),
    "cyx": ((2, 1, 0), None),
}


def channels_of(code: int) -> list[int]:
    """§7.3 The channels that a kind is always in, colors and goals apart."""
    kind = KINDS[code]
    has = kind.attributes
    playable = code == BASIC or has & POWER
    own = {BASIC: 10, BOMB: 11, FLASK: 12, ROCKET_H: 13, ROCKET_V: 14}
    said = {
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
    return [channel for channel, there in said.items() if there]


LISTS = [channels_of(code) if code else [] for code in range(len(KINDS))]
COUNT = np.array([len(channels) for channels in LISTS], np.int64)
CHANNELS = np.array([channels + [0] * (max(map(len, LISTS)) - len(channels)) for channels in LISTS], np.int64)
# The same as bits, and with them that of the cell
BITS = np.array([1 | sum(1 << channel for channel in channels) for channels in LISTS], np.int64)
BOARD_WORDS, TINTS = CELLS // 8 + 1, len(COLORS) + 1


@kernel
def observe(state, agent, out):
    """§7 The board, and all fields where they are asked for. All agents see the same."""
    channels = np.int64(state["channels"])
    show_board(state, out, channels)
    size = CELLS * channels
    if out.shape[0] > size:
        out[size:] = 0
        if state["fields"]:
            numbers = out[(size + 7) // 8 * 8 :].view(np.int32)
            for goal in range(GOALS):
                numbers[goal] = state["rest"][goal]
            numbers[GOALS] = max(0, np.int64(state["limit"]) - np.int64(state["moves"]))


@noinline_kernel
def show_board(state, out, channels):
    """§7.3 Pieces of one hit point are bits of their channels, written plane by plane; others, and covers, are added then."""
    first, second = local_array(BOARD_WORDS).view(np.uint8), local_array(BOARD_WORDS).view(np.uint8)
    third, fourth = local_array(BOARD_WORDS).view(np.uint8), local_array(BOARD_WORDS).view(np.uint8)
    later, wanted = local_array(CELLS), local_array(TINTS)
    list_wanted(state, wanted)
    count = 0
    for y in range(HEIGHT):
        row = HEIGHT - 1 - y if state["upside_down"] else y
        for x in range(WIDTH):
            cell, spot = WIDTH * y + x, WIDTH * row + x
            kind, anchor = np.int64(state["kind"][cell]), np.int64(state["anchor"][cell])
            bits, extra = np.int64(state["active"][cell]), state["cover"][cell] != 0
            if kind:
                color = np.int64(state["color"][anchor])
                if state["hp"][anchor] == 1 and not ATTRIBUTES[kind] & COUNTS:
                    tint = UNCOLORED if ATTRIBUTES[kind] & TAKES else CELL
                    bits = BITS[kind] | (1 << (COLOR + color - 1 if color else tint)) | ((wanted[color] >> kind) & 1) << GOAL
                else:
                    extra = True
            if extra:
                later[count] = cell
                count += 1
            first[spot] = bits & 255
            second[spot] = (bits >> 8) & 255
            third[spot] = (bits >> 16) & 255
            fourth[spot] = bits >> 24
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
        add_to_cell(state, out, later[k], channels, wanted)


@kernel
def list_wanted(state, wanted):
    """For each color, 0 for none, the things (bits) that some goal with a rest collects in it. wanted int64[7]"""
    wanted[:] = 0
    for goal in range(np.int64(state["goals"])):
        if state["rest"][goal] > 0:
            asked = np.int64(state["goal_color"][goal])
            for color in range(TINTS):
                if asked in (0, color):
                    wanted[color] |= np.int64(state["goal_units"][goal])


@kernel
def add(out, channel, spot, value):
    out[CELLS * channel + spot] += np.uint8(value)


@noinline_kernel
def add_to_cell(state, out, cell, channels, wanted):
    """§7.3 What the plane by plane part has left out: a piece of several hit points, a cover."""
    spot = WIDTH * (HEIGHT - 1 - cell // WIDTH) + cell % WIDTH if state["upside_down"] else cell
    kind, anchor, cover = np.int64(state["kind"][cell]), np.int64(state["anchor"][cell]), np.int64(state["cover"][cell])
    hp, color = np.int64(state["hp"][anchor]), np.int64(state["color"][anchor])
    if kind and (hp != 1 or ATTRIBUTES[kind] & COUNTS):
        for k in range(COUNT[kind]):
            if CHANNELS[kind, k] < channels:
                add(out, CHANNELS[kind, k], spot, hp)
        if ATTRIBUTES[kind] & COUNTS:
            for tint in range(1, TINTS):
                add(out, COLOR + tint - 1, spot, counter(state, anchor, tint))
                add(out, GOAL, spot, counter(state, anchor, tint) * ((wanted[tint] >> kind) & 1))
        else:
            add(out, GOAL, spot, hp * ((wanted[color] >> kind) & 1))
            if color:
                add(out, COLOR + color - 1, spot, hp)
            elif ATTRIBUTES[kind] & TAKES:
                add(out, UNCOLORED, spot, hp)
    if cover:
        add(out, FIXED, spot, 1)
        add(out, GOAL, spot, (wanted[0] >> (UNIT_CAGE - 1 + cover)) & 1)
        if cover == CAGE:
            add(out, BY_NEIGHBOR, spot, 1)
            add(out, BY_POWER, spot, 1)
        else:
            add(out, BY_TAP, spot, 1)
        if channels > DESTRUCTIBLE:
            add(out, DESTRUCTIBLE, spot, 1)
