"""Positions of MO-Beach as data and as text (SPEC §9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from momagames.contract import Codec, State, check_position, position_number, position_numbers
from momagames.errors import InvalidState, invalid_value, one_of
from momagames.games.beach import rules

KEYS = ("types", "sections", "n", "rng")
MOVES = ("left", "stay", "right")
PARAMETERS = ("agents", "capacity", "steps", "team", "fixed", "type_below", "section_below")


def save(state: State) -> dict[str, Any]:
    """§9 Return the position as JSON-serializable data, the form that `load` takes."""
    agents = int(state["agents"])
    return {
        "types": state["type"][:agents].tolist(),
        "sections": state["section"][:agents].tolist(),
        "n": int(state["ply"]),
        "rng": int(state["rng"]),
    }


def load(state: State, given: Mapping[str, Any]) -> None:
    """§9 Fill a state from the section of each agent and, if given, everything else. Raises InvalidState."""
    check_position(given, KEYS, needed="sections")
    agents = int(state["agents"])
    state["section"][:agents] = position_numbers(given, "sections", 0, int(state["sections"]) - 1, (agents,))
    if "types" in given or not state["fixed"]:
        check_position(given, KEYS, needed="types")
        types = position_numbers(given, "types", 0, int(state["types"]) - 1, (agents,))
        counted, wanted = (np.bincount(t, minlength=rules.MAX_TYPES) for t in (types, state["type"][:agents]))
        if state["fixed"] and (counted != wanted).any():
            expected = f"{wanted[: int(state['types'])].tolist()} agents of each type, the parameter type_counts"
            raise InvalidState(invalid_value("types", counted[: int(state["types"])].tolist(), expected))
        state["type"][:agents] = types
    state["ply"] = position_number(given, "n", 0, int(state["steps"]))
    state["over"] = state["ply"] == state["steps"]
    if "rng" in given:
        state["rng"] = np.uint64(position_number(given, "rng", 0, 2**64 - 1))
    np.add.at(state["share"], (state["section"][:agents], state["type"][:agents]), 1)
    state["crowd"] = state["share"].sum(axis=1)


def action_name(state: State, action: Any) -> str:
    """Return the name of an action."""
    return MOVES[int(np.ravel(action)[0])]


def parse_action(state: State, text: str) -> int:
    """Return the action of a text: its name, the beginning of it, or its number. Raises ValueError."""
    word = text.strip().lower()
    found = [k for k, name in enumerate(MOVES) if word == str(k) or (word and name.startswith(word))]
    if len(found) != 1:
        raise ValueError(f"{text!r} is not an action: type {one_of(MOVES)} (or 0 to 2)")
    return found[0]


CODEC = Codec(save, load, KEYS, parameters=PARAMETERS)
