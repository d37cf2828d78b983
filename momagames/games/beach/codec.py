"""Positions of MO-Beach as data and as text (SPEC §9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from momagames.contract import Codec, State, check_position, load_rng, position_number, position_numbers
from momagames.contract.views import parse_named_action
from momagames.errors import InvalidState, invalid_value
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
    load_rng(state, given)
    np.add.at(state["share"], (state["section"][:agents], state["type"][:agents]), 1)
    state["crowd"] = state["share"].sum(axis=1)


def action_name(state: State, action: Any) -> str:
    """Return the name of an action."""
    return MOVES[int(np.ravel(action)[0])]


def parse_action(state: State, text: str) -> int:
    return parse_named_action(text, MOVES)


CODEC = Codec(save, load, KEYS, parameters=PARAMETERS)
