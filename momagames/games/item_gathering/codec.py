"""Positions of MO-ItemGathering as data and as text (SPEC §9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Codec, State, check_position, load_rng, position_number, position_numbers
from momagames.contract.views import parse_named_action
from momagames.errors import InvalidState, invalid_value, one_of
from momagames.games.item_gathering import rules
from momagames.kernels.record import CUT_OFF, CUT_OFF_AND_DECIDED

KEYS = ("agents", "items", "n", "rng")
MOVES = ("stay", "up", "down", "left", "right")
PARAMETERS = ("map", "height", "width", "agents", "types", "steps", "random", "team", "central", "chance", "column")


def unpack_items(state: State) -> NDArray[np.int64]:
    """Return the types of the items on the cells, int64[H, W]; 0 for none."""
    height, width = int(state["height"]), int(state["width"])
    return np.asarray(state["item"][: height * width].reshape(height, width), np.int64)


def locate_agents(state: State) -> list[tuple[int, int]]:
    """Return row and column of each agent."""
    width = int(state["width"])
    return [(int(cell) // width, int(cell) % width) for cell in state["cell"][: int(state["agents"])]]


def save(state: State) -> dict[str, Any]:
    """§9 Return the position as JSON-serializable data, the form that `load` takes."""
    items = unpack_items(state)
    return {
        "agents": [list(place) for place in locate_agents(state)],
        "items": [[int(y), int(x), int(items[y, x]) - 1] for y, x in np.argwhere(items)],
        "n": int(state["ply"]),
        "rng": int(state["rng"]),
    }


def load(state: State, given: Mapping[str, Any]) -> None:
    """§9 Fill a state from cells of agents, items and, if given, everything else. Raises InvalidState."""
    for name in ("agents", "items"):
        check_position(given, KEYS, needed=name)
    count, types, height, width = (int(state[name]) for name in ("agents", "types", "height", "width"))
    available = np.bincount(state["map"][state["map"] > 0], minlength=rules.MAX_TYPES + 1)
    agents = position_numbers(given, "agents", 0, np.array([height, width]) - 1, (count, 2), "[row, column] of each agent")
    if len(set(map(tuple, agents.tolist()))) != count:
        raise InvalidState(invalid_value("agents", given["agents"], f"[row, column] of {count} agents, on different cells"))
    most, note = np.array([height, width, types]) - 1, "[row, column, type - 1] of each item"
    items = position_numbers(given, "items", 0, most, ((0, height * width), 3), note)
    cells = items[:, 0] * width + items[:, 1]
    if len(set(cells.tolist())) != len(cells):
        raise InvalidState(invalid_value("items", given["items"], "at most one item on a cell"))
    counted = np.bincount(items[:, 2] + 1, minlength=len(available))
    if (counted > available).any():
        expected = f"at most {available[1 : types + 1].tolist()} items by type, those of the map"
        raise InvalidState(invalid_value("items", counted[1 : types + 1].tolist(), expected))
    state["item"] = 0
    state["item"][cells] = items[:, 2] + 1
    state["left"] = len(items)
    state["cell"][:count] = agents[:, 0] * width + agents[:, 1]
    state["ply"] = position_number(given, "n", 0, int(state["steps"]))
    is_last = state["ply"] == state["steps"]
    state["over"] = is_last or not len(items)
    state["truncated"] = (CUT_OFF if len(items) else CUT_OFF_AND_DECIDED) if is_last else 0
    load_rng(state, given)


def split_action(state: State, action: Any) -> list[int]:
    """Return the action of each agent on the map from that of one agent, or of the one that moves all (§3.1)."""
    number = int(np.ravel(action)[0])
    return [number // rules.MOVES**i % rules.MOVES for i in range(int(state["agents"]))] if state["central"] else [number]


def action_name(state: State, action: Any) -> str:
    """Return the name of an action; of a joint one, the name for each agent."""
    return " ".join(MOVES[move] for move in split_action(state, action))


def parse_action(state: State, text: str) -> int:
    """Return the action of a text: its name, the beginning of it, or its number, for each agent. Raises ValueError."""
    words = text.lower().replace(",", " ").split()
    if not state["central"]:
        return parse_named_action(text, MOVES)
    if len(words) != int(state["agents"]):
        raise ValueError(f"{text!r} is not an action: type one for each agent, {one_of(MOVES)} (or 0 to 4)")
    return sum(parse_named_action(word, MOVES) * rules.MOVES**i for i, word in enumerate(words))


CODEC = Codec(save, load, KEYS, parameters=PARAMETERS)
