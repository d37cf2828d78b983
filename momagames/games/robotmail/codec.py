"""Positions of MO-RoboticMail as data and as text (SPEC §9), and actions as text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Codec, State, check_position, load_rng, position_number
from momagames.errors import InvalidState, nearest, one_of
from momagames.games import board_codec
from momagames.games.robotmail.rules.state import (
    BLUE,
    COLOR_BITS,
    EVENTS,
    FULL,
    GREEN,
    MAX_TURN,
    PARAMETERS,
    RED,
    YELLOW,
    cell_number,
)
from momagames.kernels.record import CUT_OFF, CUT_OFF_AND_DECIDED

KEYS = ("robots", "mails", "left", "n", "clock", "next", "winner", "event", "illegal", "rng")
PARTS = ("x", "y", "mail", "inner battery", "shown battery", "delivered", "stands")
MAX_LOADED_STANDS = 65_535
ACTIONS = ("stand", "forward", "backward", "left", "right")
OTHER_WORDS = {"ahead": 1, "up": 1, "down": 2}


# ----------------------------------------------------------------------------------------------------------------- data


def green_cells(state: State) -> list[int]:
    """Return the numbers of the green cells, row by row."""
    return [int(cell) for cell in np.flatnonzero(state["ground"] & COLOR_BITS == GREEN)]


def count_robots(state: State) -> int:
    """Return the number of robots of all players."""
    return int(state["players"]) * int(state["team"])


def save(state: State) -> dict[str, Any]:
    """§9.1 Return the position as JSON-serializable data, the form that `load` takes."""
    winner = int(state["winner"])
    return {
        "robots": [robot_row(state, robot) for robot in range(count_robots(state))],
        "mails": [int(state["waiting"][cell]) for cell in green_cells(state)],
        "left": int(state["left"]),
        "n": int(state["ply"]),
        "clock": int(state["clock"]),
        "next": int(state["to_move"]),
        "winner": None if winner < 0 else winner,
        "event": EVENTS[int(state["event"])],
        "illegal": int(state["illegal"]),
        "rng": int(state["rng"]),
    }


def robot_row(state: State, robot: int) -> list[Any]:
    """§9.1 Return the entry of a robot, see PARTS."""
    battery = float(state["battery"][robot])
    x, y, mail, delivered, stands = (int(state[part][robot]) for part in ("x", "y", "mail", "delivered", "stands"))
    return [x, y, mail, battery, math.ceil(battery), delivered, stands]


def load(state: State, given: Mapping[str, Any]) -> None:
    """§9 Fill a state from `robots`, `mails` and, if given, everything else; InvalidState says what is wrong and where."""
    check_position(given, KEYS, needed="robots")
    random_turns = bool(state["random_turns"])
    state["ply"] = position_number(given, "n", 0, int(state["max_step"]))
    state["clock"] = position_number(given, "clock", 0, int(state["ply"]))
    state["illegal"] = position_number(given, "illegal", 0, int(state["ply"]))
    state["left"] = position_number(given, "left", 1, MAX_TURN if random_turns else 1)
    load_rng(state, given)
    load_event(state, given.get("event", EVENTS[0]))
    load_mails(state, given)
    load_robots(state, given["robots"])
    state["to_move"] = position_number(given, "next", 0, count_robots(state) - 1)
    load_winner(state, given.get("winner"))


def load_event(state: State, event: Any) -> None:
    """§9.1 Load the event of the last step."""
    if event not in EVENTS:
        raise InvalidState(f"invalid event={event!r}: expected {one_of(EVENTS)}{nearest(event, EVENTS)}")
    state["event"] = EVENTS.index(event)


def load_mails(state: State, given: Mapping[str, Any]) -> None:
    """§9.1 Load the index of the mail on each green cell, row by row."""
    cells, mails = green_cells(state), given.get("mails")
    if mails is None:
        raise InvalidState(
            f"a position needs 'mails', the index of the mail on each of the {len(cells)} green cells, row by row"
        )
    if not isinstance(mails, (Sequence, np.ndarray)) or isinstance(mails, str) or len(mails) != len(cells):
        raise InvalidState(
            f"invalid mails={mails!r}: expected a list of {len(cells)} mail indices, one for each green cell, row by row"
        )
    for k, (cell, mail) in enumerate(zip(cells, mails, strict=True)):
        state["waiting"][cell] = check_mail(state, f"invalid mails[{k}]", mail)


def check_mail(state: State, prefix: str, mail: Any) -> int:
    """Return a mail index of the layout. Raises InvalidState for other values; its message begins with `prefix`."""
    known = state["index"][: int(state["indices"])].tolist()
    if not is_integer(mail) or mail not in known:
        raise InvalidState(f"{prefix}={mail!r}: expected {one_of(known)}, the mail indices of this layout")
    return int(mail)


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer and no boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether a value is a number and no boolean."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def load_robots(state: State, robots: Any) -> None:
    """§9.1 Load an entry for each robot."""
    count = count_robots(state)
    if not isinstance(robots, (Sequence, np.ndarray)) or isinstance(robots, str) or len(robots) != count:
        listed = f"{len(robots)} of them" if hasattr(robots, "__len__") and not isinstance(robots, str) else repr(robots)
        raise InvalidState(f"invalid robots: expected a list of {count} rows [{', '.join(PARTS)}]; given: {listed}")
    state["robot"][:] = 0
    state["docked"] = 0
    for robot, parts in enumerate(robots):
        if not isinstance(parts, (Sequence, np.ndarray)) or isinstance(parts, str) or len(parts) != len(PARTS):
            raise InvalidState(f"invalid robots[{robot}]={parts!r}: expected {len(PARTS)} numbers [{', '.join(PARTS)}]")
        load_robot(state, robot, dict(zip(PARTS, parts, strict=True)))


def load_robot(state: State, robot: int, parts: Mapping[str, Any]) -> None:
    """§9.2 Load a robot on a cell where it can stand, with a possible mail."""
    limits = {"x": int(state["width"]) - 1, "y": int(state["height"]) - 1, "delivered": int(state["required"])}
    for part, high in {**limits, "stands": MAX_LOADED_STANDS}.items():
        value = parts[part]
        if not is_integer(value) or not 0 <= value <= high:
            raise InvalidState(f"robots[{robot}]: invalid {part}={value!r}: expected an integer in 0..{high}")
        state[part][robot] = value
    load_battery(state, robot, parts)
    x, y, mail = int(parts["x"]), int(parts["y"]), parts["mail"]
    if not is_integer(mail) or mail != 0:
        mail = check_mail(state, f"robots[{robot}]: invalid mail", mail)
    state["mail"][robot] = mail
    place = f"robots[{robot}]: cell ({x},{y})"
    cell = cell_number(int(state["width"]), x, y)
    color, other = int(state["ground"][cell]) & COLOR_BITS, int(state["robot"][cell])
    if color == RED:
        raise InvalidState(f"{place} is red: expected a cell that robots can enter")
    if other:
        raise InvalidState(f"{place} is occupied by robots[{other - 1}]: expected a free cell")
    if color == YELLOW and mail:
        raise InvalidState(f"robots[{robot}]: invalid mail={mail}: expected 0, delivered on the yellow cell ({x},{y})")
    if color == GREEN and mail != int(state["waiting"][cell]):
        waiting = int(state["waiting"][cell])
        raise InvalidState(f"robots[{robot}]: invalid mail={mail}: expected {waiting}, picked up on the green cell ({x},{y})")
    state["robot"][cell] = robot + 1
    if color == BLUE:
        state["docked"] |= np.uint64(1 << robot)


def load_battery(state: State, robot: int, parts: Mapping[str, Any]) -> None:
    """§9.2 Load the inner battery, which determines the shown one."""
    battery, displayed = parts["inner battery"], parts["shown battery"]
    low, allowed = (0.0, f"a number in 0..{FULL:g}") if state["with_battery"] else (FULL, f"{FULL:g} in games without battery")
    if not is_number(battery) or not low <= battery <= FULL:
        raise InvalidState(f"robots[{robot}]: invalid inner battery={battery!r}: expected {allowed}")
    if not is_number(displayed) or math.ceil(battery) != displayed:
        raise InvalidState(
            f"robots[{robot}]: invalid shown battery={displayed!r}: expected {math.ceil(battery)}, {battery} rounded up"
        )
    state["battery"][robot] = battery


def load_winner(state: State, winner: Any) -> None:
    """§9.2 Load the winner, which must have delivered all required mails, and the end of the game."""
    players, team, required = int(state["players"]), int(state["team"]), int(state["required"])
    if winner is not None and not (is_integer(winner) and 0 <= winner < players):
        raise InvalidState(f"invalid winner={winner!r}: expected None, or the index of a player, 0..{players - 1}")
    for player in range(players):
        mails = int(state["delivered"][player * team : (player + 1) * team].sum())
        if mails > required or (mails == required) != (player == winner):
            wins = "only the winner has" if winner is not None else "without a winner no player has"
            raise InvalidState(f"winner={winner!r}, and player {player} has delivered {mails}; {wins} delivered {required}")
    truncated = int(state["ply"]) >= int(state["max_step"])
    state["winner"] = -1 if winner is None else winner
    state["over"] = truncated or winner is not None
    state["truncated"] = 0 if not truncated else CUT_OFF if winner is None else CUT_OFF_AND_DECIDED


# ----------------------------------------------------------------------------------------------------------------- text


def show(state: State) -> str:
    """§9.1 Return the position as text: a line for each key."""
    return "\n".join(board_codec.format_items(save(state)))


def read(text: str) -> dict[str, Any]:
    """Return the dict form of the text that `show` writes."""
    position, rest = board_codec.parse_items(text)
    if rest:
        raise InvalidState(f"{rest[0]!r} cannot be read: expected lines name=value with the names {one_of(KEYS)}")
    return position


CODEC = Codec(save, load, KEYS, show, read, PARAMETERS)


def action_name(state: State, action: Any) -> str:
    """Return the name of an action."""
    return ACTIONS[int(action)]


def parse_action(state: State, text: str) -> int:
    """Return the action of a text: 'forward', 'up', 'l', ... or its number. Raises ValueError."""
    word = text.strip().lower()
    words = {**{name: k for k, name in enumerate(ACTIONS)}, **OTHER_WORDS}
    found = {k for name, k in words.items() if word and name.startswith(word)} or {k for k in range(5) if word == str(k)}
    if len(found) != 1:
        raise ValueError(f"{text!r} is not an action: type {one_of(ACTIONS)} (or 0 to {len(ACTIONS) - 1})")
    return found.pop()


def describe_legal_actions(state: State, action: Any, mask: NDArray[np.int8]) -> str:
    """Return the legal actions as text."""
    named = [f"{k} {name}" for k, name in enumerate(ACTIONS) if mask[k]]
    return f"actions are 0..{len(ACTIONS) - 1}; legal now: {', '.join(named) or 'none, any action is a skip'}"
