"""Positions of MO-Pommerman as data and as text (SPEC §9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from momagames.contract import Codec, State, check_position, load_rng, parse_field, position_number, restore_record
from momagames.errors import InvalidState, one_of
from momagames.games import board_codec
from momagames.games.pommerman import rules
from momagames.games.pommerman.infos import RESULTS, build_infos
from momagames.games.pommerman.rules.state import (
    AGENT,
    BOMB,
    CELLS,
    EXTRA_BOMB,
    FLAME_BITS,
    FLAMES,
    FOG,
    FUSE,
    INCOMPLETE,
    KICK,
    MAX_AMMO,
    MAX_BOMBS,
    MAX_ORDERED,
    MAX_STRENGTH,
    NO_AGENT,
    PARAMETERS,
    PASSAGE,
    RADIO,
    RIGHT,
    VOCABULARY,
    WOOD,
    WORDS,
)

KEYS = (
    "board", "agents", "bombs", "flames", "items", "step_count", "messages", "flame_owners", "visited", "gone", "over", "rng",
)  # fmt: skip
AGENT_PARTS = ("alive", "row", "col", "ammo", "strength", "kick")
BOMB_PARTS = ("row", "col", "life", "strength", "owner", "direction")
HEX = "0123456789abcdef"


def copy_after_collapse(state: State) -> State:
    """§4.11 Return a copy of a position in which the ring that is due has fallen."""
    states = np.array([state], dtype=state.dtype)
    if state["falling"] >= 0:
        rules.collapse_due_ring(states)
    return states[0]


# --------------------------------------------------------------------------------------------------------------- data


def save(state: State) -> dict[str, Any]:
    """§9 Return the position as JSON-serializable data, the form that `load` takes. A ring that is due has fallen in it."""
    state = copy_after_collapse(state)
    size, seats = int(state["size"]), int(state["seats"])
    flames = list_flames(state)
    position: dict[str, Any] = {
        "board": "".join(HEX[int(code)] for code in state["board"][: size * size]),
        "agents": [[int(state[part][seat]) for part in AGENT_PARTS] for seat in range(seats)],
        "bombs": [[int(state[f"bomb_{part}"][bomb]) for part in BOMB_PARTS] for bomb in range(int(state["bombs"]))],
        "flames": [[cell // size, cell % size, life] for cell, life in flames],
        "items": [[int(c) // size, int(c) % size, int(state["hidden"][c])] for c in np.flatnonzero(state["hidden"])],
        "step_count": int(state["ply"]),
        "flame_owners": [int(state["fire"][cell]) >> 4 * life & 15 for cell, life in flames],
        "visited": [f"{sum(int(word) << 64 * k for k, word in enumerate(state['visited'][seat])):x}" for seat in range(seats)],
        "rng": int(state["rng"]),
    }
    if int(state["mode"]) == RADIO:
        position["messages"] = state["message"].tolist()
    if state["leave"]:
        position["gone"] = state["gone"][:seats].tolist()
    if state["over"]:
        position["over"] = build_infos(state)
    return position


def list_flames(state: State) -> list[tuple[int, int]]:
    """§9.2 Return cells and lives of the flames, oldest first; flames of a loaded position come first, in their given order."""
    lit = [(int(cell), life) for life in range(len(FLAME_BITS)) for cell in np.flatnonzero(state["fire"] & FLAME_BITS[life])]
    since = int(state["ply"]) - int(state["flame_ply"])
    loaded = [divmod(int(word), 4) for word in state["flame_order"][: int(state["flame_orders"])]]
    first = [(cell, life - since) for cell, life in loaded if (cell, life - since) in lit]
    return first + [flame for flame in lit if flame not in first]


def load(state: State, given: Mapping[str, Any]) -> None:
    """§9 Fill a state from `board`, `agents` and, if given, everything else; InvalidState says what is wrong and where."""
    check_position(given, KEYS, needed="board")
    for name in ("fire", "hidden", "result", "winners", "flame_orders"):
        state[name] = 0
    state["falling"] = -1
    state["ply"] = position_number(given, "step_count", 0, int(state["max_steps"]))
    load_rng(state, given)
    load_board(state, given["board"])
    load_agents(state, given)
    load_bombs(state, given)
    load_flames(state, given)
    load_items(state, given)
    load_messages(state, given)
    load_visited(state, given)
    load_gone(state, given)
    load_over(state, given)
    check_capacity(state)


def read_rows(given: Mapping[str, Any], name: str, width: int) -> list[list[int]]:
    """Return a list of rows of integers, empty if the key is missing. Raises InvalidState."""
    rows = parse_field(given.get(name, []), name)
    if not isinstance(rows, Sequence) and not isinstance(rows, np.ndarray):
        raise InvalidState(f"invalid {name}={rows!r}: expected a list of lists of {width} whole numbers")
    out = []
    for k, row in enumerate(rows):
        row = list(row) if isinstance(row, (list, tuple, np.ndarray)) else row
        if not isinstance(row, list) or len(row) != width or not all(is_integer(part) for part in row):
            raise InvalidState(f"invalid {name}[{k}]={row!r}: expected {width} whole numbers")
        out.append([int(part) for part in row])
    return out


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer or a boolean."""
    return isinstance(value, (int, np.integer, np.bool_))


def read_list(given: Mapping[str, Any], name: str, count: int, what: str, high: int) -> list[int]:
    """Return a list of `count` integers 0..high. Raises InvalidState."""
    values = parse_field(given[name], name)
    if not isinstance(values, (list, tuple, np.ndarray)) or len(values) != count:
        raise InvalidState(f"invalid {name}={values!r}: expected a list of {count} whole numbers, one for each {what}")
    for k, value in enumerate(values):
        if not is_integer(value) or not 0 <= value <= high:
            raise InvalidState(f"invalid {name}[{k}]={value!r}: expected 0..{high}")
    return [int(value) for value in values]


def check_range(name: str, part: str, value: int, low: int, high: int) -> int:
    """Return the value. Raises InvalidState for a value out of range."""
    if not low <= value <= high:
        raise InvalidState(f"{name}: invalid {part}={value}: expected {low}..{high}")
    return value


def check_cell(state: State, name: str, row: int, col: int) -> int:
    """Return the number of a cell on the board. Raises InvalidState."""
    size = int(state["size"])
    check_range(name, "row", row, 0, size - 1)
    check_range(name, "col", col, 0, size - 1)
    return row * size + col


def load_board(state: State, board: Any) -> None:
    """§9.1 Load the board: a hex digit for each cell, row by row, or a list of rows."""
    size = int(state["size"])
    rows = [board] if isinstance(board, str) else board
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, str) for row in rows):
        raise InvalidState(f"invalid board={board!r}: expected a text of {size * size} hex digits, or {size} rows of {size}")
    text = "".join(rows)
    if len(text) != size * size:
        raise InvalidState(f"board has {len(text)} cells; this game needs {size} x {size} = {size * size} hex digits")
    last = AGENT + int(state["seats"]) - 1
    state["board"] = PASSAGE
    for cell, digit in enumerate(text):
        code = HEX.find(digit.lower())
        if not 0 <= code <= last or code in (FOG, NO_AGENT):
            raise InvalidState(
                f"board row {cell // size}, column {cell % size}: invalid cell={digit!r}: expected 0-4, 6-8, a-{HEX[last]}"
            )
        state["board"][cell] = code


def load_agents(state: State, given: Mapping[str, Any]) -> None:
    """§9.1 Load [alive, row, col, ammo, strength, kick] of each agent. Live agents stand where the board shows them."""
    seats, size = int(state["seats"]), int(state["size"])
    if "agents" not in given:
        raise InvalidState(f"a position needs 'agents', [alive, row, col, ammo, strength, kick] of each of {seats} agents")
    rows = read_rows(given, "agents", len(AGENT_PARTS))
    if len(rows) != seats:
        raise InvalidState(f"agents lists {len(rows)}; this game has {seats}")
    for seat, row in enumerate(rows):
        name = f"agents[{seat}]"
        cell = check_cell(state, name, row[1], row[2])
        for part, value, low, high in zip(
            AGENT_PARTS, row, (0, 0, 0, 0, 1, 0), (1, size, size, MAX_AMMO, MAX_STRENGTH, 1), strict=True
        ):
            state[part][seat] = check_range(name, part, value, low, high)
        code = [int(c) for c in np.flatnonzero(state["board"] == AGENT + seat)]
        if code != ([cell] if row[0] else []):
            where = ", ".join(f"({c // size}, {c % size})" for c in code) or "nowhere"
            stands = f"lives on ({row[1]}, {row[2]})" if row[0] else "is dead"
            raise InvalidState(f"agent_{seat} {stands}, but the board shows it at: {where}")


def load_bombs(state: State, given: Mapping[str, Any]) -> None:
    """§9.1 Load [row, col, life, strength, owner, direction] of each bomb, in the order of laying."""
    rows = read_rows(given, "bombs", len(BOMB_PARTS))
    if len(rows) > MAX_BOMBS:
        raise InvalidState(f"bombs lists {len(rows)}; a position holds at most {MAX_BOMBS}")
    occupied: set[int] = set()
    for bomb, row in enumerate(rows):
        name = f"bombs[{bomb}]"
        cell = check_cell(state, name, row[0], row[1])
        if cell in occupied:
            raise InvalidState(f"{name}: there is another bomb on row {row[0]}, column {row[1]}")
        code = int(state["board"][cell])
        if code not in (BOMB, FLAMES) and code < AGENT:
            raise InvalidState(f"{name}: the board shows {code} on row {row[0]}, column {row[1]}; a bomb (3) or an agent fits")
        occupied.add(cell)
        limits = ((0, CELLS), (0, CELLS), (1, FUSE), (1, MAX_STRENGTH), (0, int(state["seats"]) - 1), (0, RIGHT))
        for part, value, (low, high) in zip(BOMB_PARTS, row, limits, strict=True):
            state[f"bomb_{part}"][bomb] = check_range(name, part, value, low, high)
    state["bombs"] = len(rows)
    check_listed(state, BOMB, occupied, "a bomb", "bombs")


def check_listed(state: State, code: int, listed: set[int], what: str, where: str) -> None:
    """§9.1 Raise InvalidState if the board shows a bomb or flame that its list lacks."""
    size = int(state["size"])
    for cell in np.flatnonzero(state["board"] == code).tolist():
        if cell not in listed:
            raise InvalidState(
                f"board row {cell // size}, column {cell % size} shows {what} ({code}) that {where} does not list"
            )


def load_flames(state: State, given: Mapping[str, Any]) -> None:
    """§9.2 Load [row, col, life] of each flame, and in `flame_owners` the bits of the seats whose bombs lit it."""
    rows = read_rows(given, "flames", 3)
    all_seats = 2 ** int(state["seats"]) - 1
    given_owners = "flame_owners" in given
    owners = read_list(given, "flame_owners", len(rows), "flame", all_seats) if given_owners else [0] * len(rows)
    order = []
    for k, (row, col, life) in enumerate(rows):
        name = f"flames[{k}]"
        cell = check_cell(state, name, row, col)
        check_range(name, "life", life, 0, len(FLAME_BITS) - 1)
        if int(state["fire"][cell]) & FLAME_BITS[life]:
            raise InvalidState(f"{name}: there is another flame of life {life} on row {row}, column {col}")
        if state["board"][cell] != FLAMES:
            raise InvalidState(f"{name}: the board shows no flames (4) on row {row}, column {col}")
        state["fire"][cell] |= FLAME_BITS[life] | owners[k] << 4 * life
        order.append(4 * cell + life)
    check_listed(state, FLAMES, {word // 4 for word in order}, "flames", "flames")
    state["burning"] = max((life + 1 for _, _, life in rows), default=0)
    state["flame_ply"] = state["ply"]
    unordered = count_unordered(order)
    if unordered > MAX_ORDERED:
        raise InvalidState(f"the first {unordered} flames are in no order: list them oldest (life 0) first and row by row")
    state["flame_order"][:unordered] = order[:unordered]
    state["flame_orders"] = unordered


def count_unordered(order: list[int]) -> int:
    """§9.2 Return the number of flames (words 4 * cell + life) to list first so that the others follow in order of play."""
    ages = [(word % 4, word // 4) for word in order]
    return max((k + 1 for k in range(len(ages) - 1) if ages[k] > ages[k + 1]), default=0)


def load_items(state: State, given: Mapping[str, Any]) -> None:
    """§9.1 Load [row, col, value] of hidden items."""
    for k, (row, col, item) in enumerate(read_rows(given, "items", 3)):
        cell = check_cell(state, f"items[{k}]", row, col)
        if state["board"][cell] not in (WOOD, FLAMES):
            raise InvalidState(f"items[{k}]: no wood (2) and no flames (4) on row {row}, column {col} could hide it")
        if state["hidden"][cell]:
            raise InvalidState(f"items[{k}]: there is another item on row {row}, column {col}")
        state["hidden"][cell] = check_range(f"items[{k}]", "value", item, EXTRA_BOMB, KICK)


def load_messages(state: State, given: Mapping[str, Any]) -> None:
    """§9.1 Load the last message of each agent, two words."""
    state["message"] = 0
    rows = read_rows(given, "messages", WORDS)
    if rows and len(rows) != int(state["seats"]):
        raise InvalidState(f"messages lists {len(rows)}; this game has {int(state['seats'])} agents")
    for seat, row in enumerate(rows):
        for k, word in enumerate(row):
            state["message"][seat, k] = check_range(f"messages[{seat}]", "word", word, 0, VOCABULARY - 1)
    if state["message"].any() and state["mode"] != RADIO:
        raise InvalidState(
            f"invalid messages={given.get('messages')!r}: expected no words in a game without radio; omit the key"
        )


def load_visited(state: State, given: Mapping[str, Any]) -> None:
    """§9.1 Load the visited cells of each agent, as hex numbers with a bit for each cell; by default its own cell."""
    size, seats = int(state["size"]), int(state["seats"])
    words = parse_field(given.get("visited"), "visited")
    if words is None:
        words = [f"{1 << int(state['row'][seat]) * size + int(state['col'][seat]):x}" for seat in range(seats)]
    if not isinstance(words, (list, tuple)) or len(words) != seats:
        raise InvalidState(f"invalid visited={words!r}: expected a list of {seats} hex numbers, one for each agent")
    state["visited"] = 0
    for seat, word in enumerate(words):
        try:
            bits = int(word, 16)
        except (TypeError, ValueError):
            bits = -1
        if not 0 <= bits < 1 << size * size:
            raise InvalidState(
                f"invalid visited[{seat}]={word!r}: expected a hex number with a bit for each of {size * size} cells"
            )
        for k in range(CELLS // 64):
            state["visited"][seat, k] = np.uint64(bits >> 64 * k & 2**64 - 1)


def load_gone(state: State, given: Mapping[str, Any]) -> None:
    """§9.1 Load the agents that have left the game; by default all dead agents if dead agents leave."""
    seats, leave = int(state["seats"]), bool(state["leave"])
    dead = state["alive"][:seats] == 0
    state["gone"] = 0
    if "gone" not in given:
        state["gone"][:seats] = dead & leave
        return
    for seat, gone in enumerate(read_list(given, "gone", seats, "agent", 1)):
        if gone and not leave:
            raise InvalidState(
                f"invalid gone[{seat}]=1: expected 0, since dead agents stay in this game (dead='stay'); omit 'gone'"
            )
        if gone and not dead[seat]:
            raise InvalidState(f"gone[{seat}]=1, but agent_{seat} lives")
        state["gone"][seat] = gone


def load_over(state: State, given: Mapping[str, Any]) -> None:
    """§9.5 Load the end of the game from `over`; without it, from the position if time is up."""
    live = {seat for seat in range(int(state["seats"])) if state["alive"][seat]}
    time_is_up = bool(state["ply"] == state["max_steps"])
    if "over" not in given:
        if time_is_up:
            end_game(state, live)
        return
    result, winners = parse_end(given["over"], int(state["seats"]))
    if result == INCOMPLETE and not winners and not time_is_up:
        state["over"] = 1  # ended by a forfeit
        return
    survivors = live if time_is_up else winners  # before that a ring may have fallen on winners since (§4.11 W4)
    end_game(state, survivors)
    if live - survivors or (int(state["result"]), int(state["winners"])) != (result, sum(1 << seat for seat in winners)):
        alive = ", ".join(f"agent_{seat}" for seat in sorted(live)) or "none"
        raise InvalidState(
            f"over={given['over']!r}: the game cannot have ended like this; alive after {int(state['ply'])} of "
            f"{int(state['max_steps'])} steps: {alive}"
        )


def parse_end(end: Any, seats: int) -> tuple[int, set[int]]:
    """Return the result and the seats of the winners from {"result": ..., "winners": [names]}."""
    end = parse_field(end, "over")
    names = [f"agent_{seat}" for seat in range(seats)]
    if (
        not isinstance(end, Mapping)
        or set(end) != {"result", "winners"}
        or end["result"] not in RESULTS
        or not isinstance(end["winners"], (list, tuple))
        or not all(name in names for name in end["winners"])
    ):
        needed = f"{{'result': {one_of(RESULTS)}, 'winners': [...]}} with names of {names[0]} to {names[-1]}"
        raise InvalidState(f"invalid over={end!r}: expected {needed}")
    return RESULTS.index(end["result"]), {names.index(name) for name in end["winners"]}


def end_game(state: State, survivors: set[int]) -> None:
    """§6.1 Turn a position into the end of a game with these survivors."""
    states = np.array([state], dtype=state.dtype)
    states["alive"][0] = [seat in survivors for seat in range(len(state["alive"]))]
    rules.evaluate_position(states)
    for name in ("over", "truncated", "result", "winners"):
        state[name] = states[name][0]


def check_capacity(state: State) -> None:
    """§9.3 Raise InvalidState if more bombs could be laid than a position holds."""
    extra = int((state["board"] == EXTRA_BOMB).sum() + (state["hidden"] == EXTRA_BOMB).sum())
    most = int(state["bombs"]) + int(state["ammo"].sum()) + extra
    if most > MAX_BOMBS:
        raise InvalidState(f"bombs, ammunition and extra-bomb items come to {most}; a position holds at most {MAX_BOMBS} bombs")


# --------------------------------------------------------------------------------------------------------------- text


def show(state: State) -> str:
    """Return the position as text: a line for each key, then the board."""
    position = save(state)
    size = int(state["size"])
    board = position.pop("board")
    return "\n".join([*board_codec.format_items(position), *(board[k : k + size] for k in range(0, size * size, size))])


def read(text: str) -> dict[str, Any]:
    """Return the dict form of the text that `show` writes."""
    position, board = board_codec.parse_items(text)
    return {**position, "board": "".join(board)}


# ------------------------------------------------------------------------------------------------------------ records


def restore(state: State, record: State) -> None:
    """Fill a state from a record that may be forged; a ring that is due falls."""
    falling, before = record["falling"], record.copy()
    before["falling"] = -1
    restore_record(CODEC, state, before)
    if falling >= 0:
        states = np.array([state], dtype=state.dtype)
        states["falling"] = falling
        if not rules.collapse_due_ring(states):
            raise InvalidState(f"invalid falling={falling}: expected the ring that is due after {state['ply']} steps, or -1")
        for name in record.dtype.names:
            state[name] = states[name][0]


# `burning` may be too large after a wall fell on the last flame, with which the rules play the same.
TRANSIENT = (*(f"bomb_{part}" for part in BOMB_PARTS), "flame_ply", "flame_order", "flame_orders", "burning")
CODEC = Codec(save, load, KEYS, show, read, PARAMETERS, TRANSIENT, restore)
