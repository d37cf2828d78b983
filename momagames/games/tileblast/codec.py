"""Positions of MO-TileBlast as data and as text (SPEC §9)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Codec, State, check_position, load_rng, parse_field, position_number
from momagames.errors import InvalidState, nearest, one_of
from momagames.games import board_codec
from momagames.games.tileblast import rules
from momagames.games.tileblast.rules.pieces import ATTRIBUTES, BIG, CODES, COLORS, COUNTS, COVERS, KINDS, TAKES, Kind
from momagames.games.tileblast.rules.state import ALL, CELLS, HEIGHT, PARAMETERS, WIDTH
from momagames.games.tileblast.view.text import symbol

COUNTERS = ("moves", "taps", "invalid_taps", "shuffles", "score", "draws")
KEYS = (*COUNTERS, "rng", "collected", "fed", "to_move", "pieces", "covers")
BOARD = ("kind", "anchor", "hp", "full", "color", "cover", "counters")
MAX_COUNT = 2**31 - 1


# --------------------------------------------------------------------------------------------------------------- data


def save(state: State) -> dict[str, Any]:
    """Return the position as JSON-able data, the form that `load` reads."""
    goals, feeds = int(state["goals"]), int(state["feeds"])
    anchors = [cell for cell in range(CELLS) if state["kind"][cell] and state["anchor"][cell] == cell]
    return {
        **{name: int(state[name]) for name in COUNTERS},
        "rng": int(state["rng"]),
        "collected": state["collected"][:goals].tolist(),
        "fed": state["fed"][:feeds].tolist(),
        "to_move": int(state["to_move"]),
        "pieces": [piece_entry(state, cell) for cell in anchors],
        "covers": [[int(c) % WIDTH, int(c) // WIDTH, COVERS[state["cover"][c]]] for c in np.flatnonzero(state["cover"])],
    }


def piece_entry(state: State, cell: int) -> list[Any]:
    """Return [x, y, kind, hp, max_hp, color]."""
    kind, color = KINDS[state["kind"][cell]], int(state["color"][cell])
    color_value: Any = COLORS[color - 1] if color else None
    if kind.attributes & COUNTS:
        counts = [int(state["counters"][cell]) >> 4 * k & 15 for k in range(len(COLORS))]
        color_value = {name: count for name, count in zip(COLORS, counts, strict=True) if count}
    return [cell % WIDTH, cell // WIDTH, kind.name, int(state["hp"][cell]), int(state["full"][cell]), color_value]


def load(state: State, given: Mapping[str, Any]) -> None:
    """§9 Fill a state from `pieces` and optional other keys.

    Raises   InvalidState, which names the wrong value and its place
    """
    check_position(given, KEYS, needed="pieces")
    for name in COUNTERS:
        state[name] = position_number(given, name, 0, MAX_COUNT)
    if int(state["moves"]) + int(state["invalid_taps"]) != int(state["taps"]):
        if "taps" in given:
            raise InvalidState(
                f"invalid taps={state['taps']}: expected moves={state['moves']} + invalid_taps={state['invalid_taps']}"
            )
        state["taps"] = state["moves"] + state["invalid_taps"]
    state["ply"] = state["taps"]
    load_rng(state, given)
    state["to_move"] = position_number(given, "to_move", 0, int(state["agents"]) - 1)
    load_list(state, given, "collected", int(state["goals"]), "goal_amount")
    load_list(state, given, "fed", int(state["feeds"]), "feed_total")
    for name in BOARD:
        state[name][:] = 0
    for entry in read_rows(given, "pieces", 6):
        load_piece(state, entry)
    for entry in read_rows(given, "covers", 3):
        load_cover(state, entry)
    state["abilities"] |= combine_attributes(state, "kind")
    states = np.array([state], dtype=state.dtype)
    rules.evaluate_position(states)
    for name in ("rest", "won", "dead", "over", "truncated"):
        state[name] = states[name][0]


def combine_attributes(state: State, *names: str) -> int:
    """Return the union of the attributes of the kinds in these arrays."""
    return int(np.bitwise_or.reduce(ATTRIBUTES[np.concatenate([state[name] for name in names])]))


def load_list(state: State, given: Mapping[str, Any], name: str, count: int, limit: str) -> None:
    """Read a whole number for each goal or feed, zeros by default."""
    values = parse_field(given.get(name, [0] * count), name)
    limits = [MAX_COUNT if most == ALL else int(most) for most in state[limit][:count]]
    if not isinstance(values, list) or len(values) != count:
        raise InvalidState(f"invalid {name}={values!r}: expected {count} whole numbers, in the level's order")
    for k, (value, most) in enumerate(zip(values, limits, strict=True)):
        state[name][k] = position_number({f"{name}[{k}]": value}, f"{name}[{k}]", 0, most)


def read_rows(given: Mapping[str, Any], name: str, width: int) -> list[list[Any]]:
    """Return a list of lists, empty by default."""
    entries = parse_field(given.get(name, []), name)
    if not isinstance(entries, (list, tuple)) or any(not isinstance(e, (list, tuple)) or len(e) != width for e in entries):
        raise InvalidState(f"invalid {name}={str(entries)[:60]}: expected a list of lists of {width} values, see SPEC §9")
    return [list(entry) for entry in entries]


def parse_cell_entry(entry: list[Any], name: str, state: State) -> int:
    """Return the cell of [x, y, ...]."""
    x, y = (
        position_number({f"{name} {axis}": v}, f"{name} {axis}", 0, top - 1)
        for axis, v, top in zip("xy", entry, (WIDTH, HEIGHT), strict=False)
    )
    if not state["active"][WIDTH * y + x]:
        raise InvalidState(f"invalid {name} {entry}: the cell ({x},{y}) is not active in this level")
    return WIDTH * y + x


def load_piece(state: State, entry: list[Any]) -> None:
    """Write one entry of `pieces`."""
    cell = parse_cell_entry(entry, "piece", state)
    if entry[2] not in CODES:
        raise InvalidState(
            f"invalid piece {entry}: invalid kind={entry[2]!r}: expected {one_of(CODES)}{nearest(str(entry[2]), CODES)}"
        )
    kind = KINDS[CODES[entry[2]]]
    full = position_number({"max_hp": entry[4]}, "max_hp", kind.low, kind.high)
    hp = position_number({"hp": entry[3]}, "hp", 1, full)
    cells = [cell, cell + 1, cell + WIDTH, cell + WIDTH + 1] if kind.attributes & BIG else [cell]
    if kind.attributes & BIG and (cell % WIDTH == WIDTH - 1 or cell // WIDTH == HEIGHT - 1):
        raise InvalidState(f"invalid piece {entry}: its 2 x 2 cells are not all on the board")
    for place in cells:
        if not state["active"][place] or state["kind"][place]:
            what = "holds another piece" if state["active"][place] else "is not active in this level"
            raise InvalidState(f"invalid piece {entry}: the cell ({place % WIDTH},{place // WIDTH}) {what}")
    state["kind"][cells], state["anchor"][cells] = CODES[entry[2]], cell
    state["hp"][cell], state["full"][cell] = hp, full
    state["color"][cell], state["counters"][cell] = parse_color(entry, kind, hp), parse_counters(entry, kind, hp)


def parse_color(entry: list[Any], kind: Kind, hp: int) -> int:
    """Return the code of a piece's color, 0 for none."""
    color, takes = entry[5], bool(kind.attributes & TAKES)
    if kind.color == "counters" or (color is None and (takes or kind.color == "none")):
        return 0
    if color not in COLORS or not (takes or kind.color == "one"):
        allowed = one_of(COLORS) if kind.color == "one" else f"None, {one_of(COLORS)}" if takes else "None"
        raise InvalidState(f"invalid piece {entry}: invalid color={color!r}: expected {allowed}{nearest(str(color), COLORS)}")
    return COLORS.index(color) + 1


def parse_counters(entry: list[Any], kind: Kind, hp: int) -> int:
    """Return the packed counters of a piece that counts by color."""
    if kind.color != "counters":
        return 0
    counts = entry[5]
    if (
        not isinstance(counts, Mapping)
        or not set(counts) <= set(COLORS)
        or any(type(n) is not int or n < 0 for n in counts.values())
    ):
        raise InvalidState(f"invalid piece {entry}: expected a whole number for each color, such as {{'red': 2}}")
    if sum(counts.values()) != hp:
        raise InvalidState(f"invalid piece {entry}: expected counters with the sum hp={hp}, not {sum(counts.values())}")
    return sum(int(count) << 4 * COLORS.index(name) for name, count in counts.items())


def load_cover(state: State, entry: list[Any]) -> None:
    """Write one entry of `covers`."""
    cell = parse_cell_entry(entry, "cover", state)
    if entry[2] not in COVERS[1:]:
        raise InvalidState(f"invalid cover {entry}: invalid cover={entry[2]!r}: expected {one_of(COVERS[1:])}")
    if state["cover"][cell]:
        raise InvalidState(f"invalid cover {entry}: the cell ({cell % WIDTH},{cell // WIDTH}) already has a cover")
    kind = KINDS[state["kind"][cell]]
    if entry[2] == "cage" and (not kind.name or kind.attributes & BIG):
        raise InvalidState(f"invalid cover {entry}: expected a piece of size 1 in a cage")
    state["cover"][cell] = COVERS.index(entry[2])


# --------------------------------------------------------------------------------------------------------------- text


def show(state: State) -> str:
    """Return the position as text: a drawing of the board in lines that begin with #, then a line per key of the dict form."""
    cells = [[symbol(state, WIDTH * y + x) for x in range(WIDTH)] for y in reversed(range(HEIGHT))]
    board = ["# " + " ".join(row).rstrip() for row in cells]
    return "\n".join(board + [f"{name}: {json.dumps(value)}" for name, value in save(state).items()])


def read(text: str) -> dict[str, Any]:
    """Return the dict form from the text of `show`."""
    position: dict[str, Any] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, colon, value = line.partition(":")
            if not colon:
                raise InvalidState(f"invalid line {line[:40]!r}: expected 'key: value' or a comment that begins with #")
            position[name.strip()] = parse_field(value.strip(), name.strip())
    return position


# Results of the last tap, and the attributes that `load` finds anew
TRANSIENT = ("abilities", "valid", "cluster", "created", "used", "combo", "hits", "gained", "cleared")
CODEC = Codec(save, load, KEYS, show, read, PARAMETERS, TRANSIENT)


# ------------------------------------------------------------------------------------------------------------- actions


def action_name(state: State, action: Any) -> str:
    """Return column and row of the cell as (x,y), from 0 at the lower left."""
    return board_codec.format_cell(int(action), WIDTH)


def parse_action(state: State, text: str) -> int:
    """Read 'x y', 'x,y' or the number of the action."""
    return board_codec.parse_cell(text, WIDTH)


def nearest_legal(state: State, action: Any, mask: NDArray[np.int8]) -> str:
    """Return the valid taps nearest to an action, for error messages."""
    return board_codec.format_nearest_cells(int(action), mask, WIDTH)
