"""Observation fields of MO-TileBlast (SPEC §7); rules/observation.py writes them."""

from __future__ import annotations

from momagames.contract import Field
from momagames.games.tileblast.rules.observation import AXES
from momagames.games.tileblast.rules.state import GOALS, HEIGHT, WIDTH


def build_fields(observation: str, channels: int, axes: str) -> tuple[Field, ...]:
    """§7.1, §7.2 Return the declared fields."""
    places, order = AXES[axes]
    shape = tuple((WIDTH, HEIGHT, channels)[place] for place in places)
    most = 255.0
    if observation == "board":
        return (Field("observation", shape, "uint8", 0, most, order=order),)
    large = float(2**31 - 1)
    return (
        Field("board", shape, "uint8", 0, most, order=order),
        Field("goals_remaining", (GOALS,), "int32", 0, large),
        Field("moves_left", (1,), "int32", 0, large),
    )
