"""Positions in the JSON form of the original package: an object in which each value is itself a JSON text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from momagames.contract import Game, State
from momagames.errors import InvalidFile
from momagames.files.json_data import parse_json, read_json
from momagames.games.pommerman.codec import HEX, save

AGENT_KEYS = ("agent_id", "is_alive", "position", "ammo", "blast_strength", "can_kick")
BOMB_KEYS = ("bomber_id", "position", "life", "blast_strength", "moving_direction")


def read_game_state(path: Path, game: Game) -> dict[str, Any]:
    """Return the position of a file as data that this game loads.

    Raises InvalidFile for another form, InvalidState for an impossible position
    """
    given = read_json(path)
    try:
        data = {name: parse_json(given[name], f"{path}: {name}") for name in ("board", "agents", "bombs", "flames", "items")}
        agents = sorted(data["agents"], key=lambda one: int(one["agent_id"]))
        position: dict[str, Any] = {
            "board": "".join(HEX[int(code)] for row in data["board"] for code in row),
            "agents": [
                [int(one["is_alive"]), *one["position"], one["ammo"], one["blast_strength"], int(one["can_kick"])]
                for one in agents
            ],
            "bombs": [
                [*one["position"], one["life"], one["blast_strength"], one["bomber_id"], one["moving_direction"] or 0]
                for one in data["bombs"]
            ],
            "flames": [[*one["position"], one["life"]] for one in data["flames"]],
            "items": [[*place, item] for place, item in data["items"]],
            "step_count": int(parse_json(given["step_count"], f"{path}: step_count")),
        }
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{path}: not a position of the original: {type(error).__name__}: {error}") from None
    game.codec.load(game.make_state()[0], position)
    return position


def format_game_state(game: Game, state: State, actions: Any) -> dict[str, str]:
    """Return a position in the original's form.

    actions    int64[A, P], of the last step, or None
    """
    position, size = save(state), int(state["size"])
    codes = [HEX.index(digit) for digit in position["board"]]
    data = {
        "board_size": size,
        "step_count": position["step_count"],
        "board": [codes[row * size : (row + 1) * size] for row in range(size)],
        "agents": [
            dict(zip(AGENT_KEYS, (seat, bool(alive), [row, col], ammo, strength, bool(kick)), strict=True))
            for seat, (alive, row, col, ammo, strength, kick) in enumerate(position["agents"])
        ],
        "bombs": [
            dict(zip(BOMB_KEYS, (owner, [row, col], life, strength, direction or None), strict=True))
            for row, col, life, strength, owner, direction in position["bombs"]
        ],
        "flames": [{"position": [row, col], "life": life} for row, col, life in position["flames"]],
        "items": [[[row, col], item] for row, col, item in position["items"]],
        "intended_actions": [] if actions is None else actions[:, 0].tolist(),
    }
    return {name: json.dumps(value) for name, value in data.items()}
