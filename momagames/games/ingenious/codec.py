"""Positions of MO-Ingenious as data and as text (SPEC §9), and placements as text."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Codec, State, check_position, parse_field, position_number, position_numbers, read_number_list
from momagames.errors import InvalidState, invalid_value
from momagames.games import board_codec
from momagames.games.ingenious import rules

AGENTS = tuple(f"agent_{i}" for i in range(rules.MAX_AGENTS))
KEYS = ("board", "racks", "scores", "bag", "next_agent", "mover", "first_round", "upcoming", "ply", "rng")
DIRECTIONS = ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1))
MOST_SCORE, MOST_OF_KIND = 9999, 200
Place = tuple[int, int]  # q and r of a cell


class Geometry(NamedTuple):
    """Cells of a board in their order, their places in the array of a state int64[n], and the pairs (x, y) of §3.1."""

    cells: tuple[Place, ...]
    places: NDArray[np.int64]
    pairs: tuple[tuple[Place, Place], ...]
    corners: tuple[Place, ...]


@functools.cache
def find_geometry(radius: int) -> Geometry:
    """Return the geometry of the board of a radius N."""
    side = range(-radius, radius + 1)
    cells = tuple((q, r) for q in side for r in side if abs(q + r) <= radius)
    places = np.array([rules.MIDDLE + q * rules.ROW + r for q, r in cells])
    steps = [((q, r), (q + dq, r + dr)) for q, r in cells for dq, dr in DIRECTIONS]
    on_board = frozenset(cells)
    pairs = tuple((x, y) for x, y in steps if y in on_board)
    return Geometry(cells, places, pairs, tuple((radius * q, radius * r) for q, r in DIRECTIONS))


def geometry_of(state: State) -> Geometry:
    return find_geometry(int(state["radius"]))


def list_kinds(colors: int) -> list[tuple[int, int]]:
    """§1.2 Return the kinds of tiles in order."""
    return [(a, b) for a in range(1, colors + 1) for b in range(a, colors + 1)]


def read_tiles(given: Any, name: str, colors: int, most: int) -> list[int]:
    """Return tiles [a, b] as numbers 8a + b, without empty slots at the end. Raises InvalidState."""
    expected = f"at most {most} tiles [a, b] of colors a <= b in 1..{colors}"
    tiles = read_number_list(parse_field(given, name), name, 0, colors, ((0, rules.MOST_TILES), 2), expected).tolist()
    while tiles and tiles[-1] == [0, 0]:
        tiles.pop()
    if len(tiles) > most or not {*map(tuple, tiles)} <= {*list_kinds(colors)}:
        raise InvalidState(invalid_value(name, given, expected))
    return [8 * a + b for a, b in tiles]


def read_list(given: Any, name: str, size: int) -> list[Any]:
    """Return a list of this length. Raises InvalidState."""
    value = parse_field(given, name)
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != size:
        raise InvalidState(invalid_value(name, given, f"a list with an entry for each of {size} agents"))
    return list(value)


def read_board(state: State, given: Any) -> NDArray[np.int64]:
    """Return the color of each cell, int64[n]. Raises InvalidState."""
    geometry, colors = geometry_of(state), int(state["colors"])
    if isinstance(given, str) or (isinstance(given, (list, tuple)) and any(isinstance(row, str) for row in given)):
        digits = "".join("".join(map(str, given)).split())
        given = [int(one) if one.isascii() and one.isdigit() else one for one in digits]
    board = read_number_list(given, "board", 0, rules.MAX_COLORS, (len(geometry.cells),))
    for cell, color in zip(geometry.cells, board.tolist(), strict=True):
        if cell in geometry.corners and color != geometry.corners.index(cell) + 1:
            expected = f"{geometry.corners.index(cell) + 1}, the color of this corner (§2.1)"
            raise InvalidState(invalid_value(f"board cell {cell}", color, expected))
        if cell not in geometry.corners and color > colors:
            raise InvalidState(invalid_value(f"board cell {cell}", color, f"0 (empty), or a color in 1..{colors}"))
    return board


def read_mover(given: Mapping[str, Any], agents: int) -> int:
    mover = given.get("next_agent", given.get("mover", 0))
    if mover in AGENTS[:agents]:
        return AGENTS.index(mover)
    names = ", ".join(AGENTS[:agents])
    try:
        return position_number({"mover": mover}, "mover", 0, agents - 1)
    except InvalidState:
        raise InvalidState(invalid_value("next_agent", mover, f"one of {names}, or its index")) from None


def load(state: State, given: Mapping[str, Any]) -> None:
    """§9 Fill a state from a position."""
    check_position(given, KEYS, needed="board")
    check_position(given, KEYS, needed="racks")
    agents, colors, teams, rack_size = (int(state[name]) for name in ("agents", "colors", "teams", "rack_size"))
    geometry, kinds = geometry_of(state), list_kinds(colors)
    board = read_board(state, given["board"])
    racks = [read_tiles(rack, "racks", colors, rack_size) for rack in read_list(given["racks"], "racks", agents)]
    filled = {"scores": [[0] * colors] * agents, **given}
    rows = position_numbers(filled, "scores", 0, MOST_SCORE, (agents, colors)).tolist()
    if any(row != rows[agent % teams] for agent, row in enumerate(rows)):
        raise InvalidState(invalid_value("scores", rows, "equal scores of the agents of a team (§1.3)"))
    held = [tile for rack in racks for tile in rack]
    full = [max(0, int(state["full_bag"][int(a == b)]) - held.count(8 * a + b)) for a, b in kinds]
    bag = position_numbers({"bag": full, **given}, "bag", 0, MOST_OF_KIND, (len(kinds),)).tolist()
    upcoming = read_tiles(given.get("upcoming", []), "upcoming", colors, rules.MOST_TILES)
    for (a, b), count in zip(kinds, bag, strict=True):
        if upcoming.count(8 * a + b) > count:
            raise InvalidState(f"upcoming has more tiles [{a}, {b}] than the bag, which has {count}")
    mover = read_mover(given, agents)
    placed = (np.count_nonzero(board) - rules.CORNERS) // 2
    state["board"][geometry.places] = board
    state["empty"] = 0
    np.bitwise_or.at(
        state["empty"],
        geometry.places // rules.ROW,
        np.where(board == 0, 1 << (geometry.places % rules.ROW), 0).astype(np.uint32),
    )
    for agent in range(agents):
        state["racks"][agent, : len(racks[agent])] = racks[agent]
        state["scores"][agent % teams, :colors] = rows[agent]
    state["bag"][tuple((np.array(kinds) - 1).T)] = bag
    state["tiles_left"], state["ordered"] = sum(bag), len(upcoming)
    state["upcoming"][: len(upcoming)] = upcoming
    board_codec.load_header(state, {"ply": placed, **given}, mover, rules.ROW**2)
    first_round = parse_field(given.get("first_round", placed == mover), "first_round")
    if first_round not in (True, False, 0, 1):
        raise InvalidState(invalid_value("first_round", first_round, "True or False"))
    has_room = any(not state["board"][[rules.MIDDLE + q * rules.ROW + r for q, r in pair]].any() for pair in geometry.pairs)
    state["over"] = not has_room or not held
    if not state["over"] and not racks[mover]:
        raise InvalidState(f"racks: {AGENTS[mover]}, the agent to move, has no tile")
    state["first_round"] = bool(first_round) and not state["over"]
    state["used"] = 0
    find_used_corner = getattr(rules.find_used_corner, "py_func", rules.find_used_corner)
    for cell, place, color in zip(geometry.cells, geometry.places.tolist(), board.tolist(), strict=True):
        if state["first_round"] and color and cell not in geometry.corners:
            state["used"] |= find_used_corner(state, place)


def unpack_rack(state: State, agent: int) -> list[list[int]]:
    """Return the tiles of an agent by slot; empty slots are [0, 0]."""
    return [[int(tile) >> 3, int(tile) & 7] for tile in state["racks"][agent, : int(state["rack_size"])]]


def save(state: State) -> dict[str, Any]:
    """Return the position as JSON-serializable data, the form that `load` takes."""
    agents, colors, teams = (int(state[name]) for name in ("agents", "colors", "teams"))
    mover, ordered = int(state["to_move"]), max(0, int(state["ordered"]))
    return {
        "board": "".join(map(str, state["board"][geometry_of(state).places].tolist())),
        "racks": [unpack_rack(state, agent) for agent in range(agents)],
        "scores": [state["scores"][agent % teams, :colors].tolist() for agent in range(agents)],
        "bag": [int(state["bag"][a - 1, b - 1]) for a, b in list_kinds(colors)],
        "upcoming": [[int(tile) >> 3, int(tile) & 7] for tile in state["upcoming"][:ordered]],
        "next_agent": AGENTS[mover] if 0 <= mover < agents else mover,
        "first_round": bool(state["first_round"]),
        "ply": int(state["ply"]),
        "rng": int(state["rng"]),
    }


def format_rows(state: State) -> list[list[int]]:
    """Return the colors of the rows of the board, q from -N on."""
    geometry = geometry_of(state)
    colors = state["board"][geometry.places].tolist()
    return [
        [color for (q, _), color in zip(geometry.cells, colors, strict=True) if q == row]
        for row in range(-int(state["radius"]), int(state["radius"]) + 1)
    ]


def show(state: State) -> str:
    """Return the position as text: lines of items, then the rows of the board."""
    position = save(state)
    rows = format_rows(state)
    del position["board"]
    lines = [" " * (len(rows) - len(row)) + " ".join(map(str, row)) for row in rows]
    return "\n".join([*board_codec.format_items(position), *lines])


def read(text: str) -> dict[str, Any]:
    """Return the dict form of the text that `show` writes."""
    position, digits = board_codec.parse_items(text)
    return {**position, "board": digits}


CODEC = Codec(save, load, KEYS, show, read, rules.PARAMETERS)


def format_placement(state: State, action: Any) -> str:
    """Return a placement as text, such as "5(0,-1)2(0,0)@1": the colors, each with its cell, and the slot."""
    pair, slot = divmod(int(action), int(state["rack_size"]))
    (x, y), (a, b) = geometry_of(state).pairs[pair], unpack_rack(state, int(state["to_move"]))[slot]
    return f"{a}({x[0]},{x[1]}){b}({y[0]},{y[1]})@{slot}"


def parse_placement(state: State, text: str) -> int:
    """Return the action of a placement as text, the colors in any order, the slot only if needed; or of its number.

    Raises ValueError
    """
    numbers = [int(number) for number in re.findall(r"-?\d{1,9}", text)]
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) not in (6, 7):
        raise ValueError(f"{text!r} is not a placement: expected colors with their cells, such as '5(0,-1)2(0,0)'")
    a, q, r, b, other_q, other_r, *slots = numbers
    pairs, rack, rack_size = geometry_of(state).pairs, unpack_rack(state, int(state["to_move"])), int(state["rack_size"])
    for tile, pair in (([a, b], ((q, r), (other_q, other_r))), ([b, a], ((other_q, other_r), (q, r)))):
        if tile in rack and pair in pairs:
            slot = slots[0] if slots and slots[0] < rack_size and rack[slots[0]] == tile else rack.index(tile)
            return pairs.index(pair) * rack_size + slot
    tiles = ", ".join(f"{a}{b}" for a, b in rack)
    raise ValueError(f"{text!r}: expected a tile of the rack ({tiles}) on two neighboring cells of the board")
