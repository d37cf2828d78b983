"""Positions of MO-GemMining as data and as text (SPEC §9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from momagames.contract import Codec, State, check_position, load_rng, parse_field, position_numbers, read_number_list
from momagames.errors import InvalidState, invalid_value
from momagames.games.gem_mining import rules

KEYS = ("workers", "connectivity", "probabilities", "mines", "workers_at_mine", "gems", "rng")
PARAMETERS = ("own_workers", "own_reach", "own_chance", "agents", "mines", "types", "most", "bonus", "first", "sampled")
INSTANCE = ("workers", "reach", "chance")


def limit_instance(agents: int, mines: int, types: int, most: Any) -> dict[str, tuple[Any, Any, tuple[int, ...], str]]:
    """Return for each array of an instance range, shape and meaning, as `read_number_list` takes them.

    most   mines of each village
    """
    space = "" if np.ndim(most) == 0 else ", of its action space: set the parameter connectivity"
    return {
        "workers": (0, rules.MAX_WORKERS, (agents,), "the workers of each agent"),
        "connectivity": (1, most, (agents,), f"the mines of each agent{space}"),
        "probabilities": (0.0, 1.0, (mines, types), "a row for each of num_agents + max_connectivity - 1 mines"),
    }


def save(state: State) -> dict[str, Any]:
    """§9 Return the position as JSON-serializable data, the form that `load` takes."""
    agents, mines, types = int(state["agents"]), int(state["mines"]), int(state["types"])
    return {
        "workers": state["workers"][:agents].tolist(),
        "connectivity": state["reach"][:agents].tolist(),
        "probabilities": state["chance"][:mines, :types].tolist(),
        "mines": state["mine"][:agents].tolist() if state["mine"][0] != rules.UNKNOWN else None,
        "workers_at_mine": state["arrived"][:mines].tolist(),
        "gems": [[kind for kind in range(types) if bits >> kind & 1] for bits in state["gems"][:mines].tolist()],
        "rng": int(state["rng"]),
    }


def load(state: State, given: Mapping[str, Any]) -> None:
    """§9 Fill a state from what is given; the rest is that of the parameters. Raises InvalidState."""
    check_position(given, KEYS, needed=next((key for key in KEYS if key in given), "workers"))
    agents, mines, types = int(state["agents"]), int(state["mines"]), int(state["types"])
    limits = limit_instance(agents, mines, types, state["own_reach"][:agents].astype(int))
    for (key, limit), name in zip(limits.items(), INSTANCE, strict=True):
        if key in given:
            array = position_numbers(given, key, *limit)
            state[name][tuple(map(slice, array.shape))] = array
    state["given"] = any(not np.array_equal(state[name], state[f"own_{name}"]) for name in INSTANCE)
    state["mine"] = rules.UNKNOWN
    chosen = parse_field(given.get("mines"), "mines") if given.get("mines") is not None else None
    if chosen is not None:
        first = np.arange(agents)
        last = first + state["reach"][:agents].astype(int) - 1
        chosen = read_number_list(chosen, "mines", first, last, (agents,), "the mine that each agent chose")
        state["mine"][:agents] = chosen
        np.add.at(state["arrived"], chosen, state["workers"][:agents])
        state["ply"] = state["over"] = 1
    arrived = state["arrived"][:mines].tolist()
    if "workers_at_mine" in given and parse_field(given["workers_at_mine"], "workers_at_mine") != arrived:
        raise InvalidState(invalid_value("workers_at_mine", given["workers_at_mine"], f"{arrived}, which follows from mines"))
    if "gems" in given:
        open_mines = arrived if state["sampled"] else [0] * mines
        state["gems"][:mines] = read_gems(parse_field(given["gems"], "gems"), types, open_mines)
    load_rng(state, given)


def read_gems(given: Any, types: int, arrived: list[int]) -> list[int]:
    """Return the types of each mine as bits. Raises InvalidState."""
    expected = f"for each of {len(arrived)} mines the types in 0..{types - 1} of its gems, none where no workers are"
    rows: list[Any] = given if isinstance(given, list) and len(given) == len(arrived) else [None]
    for row, workers in zip(rows, arrived, strict=False):
        if not isinstance(row, list) or not all(type(kind) is int and 0 <= kind < types for kind in row):
            raise InvalidState(invalid_value("gems", given, expected))
        if row != sorted({*row}) or (row and not workers):
            raise InvalidState(invalid_value("gems", given, expected))
    return [sum(1 << kind for kind in row) for row in rows]


def action_name(state: State, action: Any) -> str:
    """Return the name of an action: how many mines ahead of its own one a village sends its workers."""
    return f"+{int(np.ravel(action)[0])}"


def parse_action(state: State, text: str) -> int:
    """Return the action of a text such as "+2" or "2". Raises ValueError."""
    word = text.strip().removeprefix("+")
    if not word.isdecimal() or not word.isascii() or len(word) > 3:
        raise ValueError(f"{text!r} is not an action: type +0 for the first mine of the village, +1 for the next one, ...")
    return int(word)


CODEC = Codec(save, load, KEYS, parameters=PARAMETERS)
