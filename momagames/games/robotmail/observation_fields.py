"""Fields of an observation of MO-RoboticMail (SPEC §7); rules/observation.py writes them."""

from __future__ import annotations

from momagames.contract import Field
from momagames.games.robotmail.rules.observation import PLANES
from momagames.games.robotmail.rules.state import (
    MAX_INDEX,
    MAX_TURN,
)


def build_fields(
    kind: str, size: tuple[int, int], robots: tuple[int, int], battery: bool, required: int, steps: int
) -> tuple[Field, ...]:
    """§7 Return the fields of an observation.

    kind     "vector" or "dict"
    size     height and width
    robots   players, and robots of each
    """
    (height, width), (players, team) = size, robots
    vector = Field("observation", ((4 if battery else 3) * players * team,), "float32", 0, 1)
    if kind == "vector":
        return (vector,)
    return (
        vector,
        Field("layout", (height, width, PLANES), "int8", 0, 1),
        Field("targets", (height, width), "uint8", 0, MAX_INDEX),
        Field("mails", (height, width), "uint8", 0, MAX_INDEX),
        Field("delivered", (players,), "int32", 0, required),
        Field("steps", (3,), "int32", 0, max(steps, MAX_TURN)),
    )
