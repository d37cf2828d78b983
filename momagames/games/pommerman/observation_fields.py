"""Fields of an observation of MO-Pommerman (SPEC §7); rules/observation.py writes them."""

from __future__ import annotations

from momagames.contract import Field
from momagames.games.pommerman.rules.observation import MESSAGE
from momagames.games.pommerman.rules.state import (
    AGENT,
    DUEL,
    FFA,
    FLAME_STEPS,
    FUSE,
    MAX_AMMO,
    MAX_STRENGTH,
    NO_AGENT,
    RADIO,
    RIGHT,
    SEATS,
    VOCABULARY,
    WORDS,
)


def build_fields(
    mode: int, size: int, seats: int, view: int, egocentric: bool, planes: bool, max_steps: int
) -> tuple[Field, ...]:
    """§7 Return the fields of an observation.

    mode    FFA, TEAM, RADIO or DUEL
    view    view distance of an agent; 0: unlimited
    """
    side = 2 * view + 1 if egocentric else size
    if planes:
        count = MESSAGE + (WORDS if mode == RADIO else 0)
        return (Field("observation", (count, side, side), "uint8", 0, 255),)
    matrix = (side, side)
    message = (Field("message", (WORDS,), "uint8", 0, VOCABULARY - 1),)
    return (
        Field("board", matrix, "uint8", 0, AGENT + SEATS - 1),
        Field("bomb_blast_strength", matrix, "uint8", 0, MAX_STRENGTH),
        Field("bomb_life", matrix, "uint8", 0, FUSE),
        Field("bomb_moving_direction", matrix, "uint8", 0, RIGHT),
        Field("flame_life", matrix, "uint8", 0, FLAME_STEPS),
        Field("alive", (seats,), "uint8", 0, 1),
        Field("position", (2,), "uint8", 0, size - 1),
        Field("ammo", (1,), "uint8", 0, MAX_AMMO),
        Field("blast_strength", (1,), "uint8", 0, MAX_STRENGTH),
        Field("can_kick", (1,), "uint8", 0, 1),
        Field("teammate", (1,), "uint8", NO_AGENT, AGENT + SEATS - 1),
        Field("enemies", (1 if mode == DUEL else SEATS - 1,), "uint8", NO_AGENT, AGENT + SEATS - 1),
        Field("game_type", (1,), "uint8", FFA, DUEL),
        Field("step_count", (1,), "int32", 0, max_steps),
        *(message if mode == RADIO else ()),
    )
