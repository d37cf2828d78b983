"""Pieces of MO-TileBlast as data (SPEC §1.1): one row per kind. The rules read attributes, not names.

Only groups and the effects of power pieces name kinds (§4.2, §4.3, §4.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

COLORS = ("red", "blue", "yellow", "orange", "purple", "pink")  # §1.4; codes 1..6 in states, 0 is no color
# Bits of the attributes
FALLS, NEAR, SAME, BLAST, POWER, PER_HIT, HEALS, SPREADS, DROP, LASTS, TAKES, COUNTS, BIG = (1 << k for k in range(13))
SPAWN_BUBBLE, SPAWN_DANDELION, SPAWN_AROUND = 1, 2, 3


@dataclass(frozen=True)
class Kind:
    """One kind of piece.

    low, high, usual   hit points that a level may give, and the default
    attributes         bits: FALLS; NEAR a match beside it hurts it, SAME only one of its own color; BLAST power effects hurt
                       it; POWER piece; PER_HIT each lost hit point is a unit; HEALS; SPREADS; DROP leaves at the bottom;
                       LASTS; TAKES a color when first hit; COUNTS hit points by color; BIG, 2 x 2 cells
    color              color of a piece at the start: "one", "counters" (of each color), or "none"
    spawn              what a hit makes at the end of the turn (SPAWN_...), or 0
    unit               its name in goals, "" for kinds that cannot be collected
    """

    name: str
    low: int
    high: int
    usual: int
    attributes: int
    color: Literal["none", "one", "counters"] = "none"
    spawn: int = 0
    unit: str = "kind"


KINDS = (
    Kind("", 0, 0, 0, 0, unit=""),  # an empty cell
    Kind("basic", 1, 1, 1, FALLS | BLAST, "one"),
    Kind("rocket_h", 1, 1, 1, FALLS | BLAST | POWER),
    Kind("rocket_v", 1, 1, 1, FALLS | BLAST | POWER),
    Kind("bomb", 1, 1, 1, FALLS | BLAST | POWER),
    Kind("flask", 1, 1, 1, FALLS | BLAST | POWER, "one"),
    Kind("rock", 1, 5, 1, NEAR | BLAST),
    Kind("dandelion", 1, 1, 1, FALLS | NEAR | BLAST),
    Kind("chestnut", 2, 2, 2, FALLS | NEAR | BLAST),
    Kind("sunflower", 1, 4, 3, FALLS | NEAR | BLAST),
    Kind("pot", 1, 3, 1, FALLS | NEAR | SAME | BLAST, "one"),
    Kind("mushroom", 1, 1, 1, NEAR | SAME | BLAST, "one"),
    Kind("snail", 1, 1, 1, FALLS | BLAST),
    Kind("stump", 1, 1, 1, BLAST),
    Kind("basket", 3, 3, 3, BLAST | BIG),
    Kind("bush", 1, 10, 10, NEAR | BLAST | BIG | PER_HIT),
    Kind("gnomes", 1, 10, 0, NEAR | BLAST | BIG | PER_HIT | COUNTS, "counters"),
    Kind("butterfly", 2, 2, 2, FALLS | NEAR | BLAST | TAKES),
    Kind("polaroid", 2, 2, 2, FALLS | NEAR | BLAST | HEALS),
    Kind("chest", 2, 2, 2, NEAR | BLAST | HEALS),
    Kind("weed", 1, 1, 1, NEAR | BLAST | SPREADS),
    Kind("seedbag", 1, 1, 1, FALLS | DROP),
    Kind("seedbox", 1, 1, 1, FALLS | DROP | BIG),
    Kind("beehive", 1, 1, 1, NEAR | BLAST | LASTS, unit="bee"),
    Kind("sprinkler", 1, 1, 1, NEAR | BLAST | LASTS, spawn=SPAWN_BUBBLE, unit=""),
    Kind("dispenser", 1, 1, 1, NEAR | BLAST | LASTS, spawn=SPAWN_DANDELION, unit=""),
    Kind("bucket", 1, 1, 1, FALLS | NEAR | BLAST, spawn=SPAWN_AROUND),
)
CODES = {kind.name: code for code, kind in enumerate(KINDS) if code}
BASIC, ROCKET_H, ROCKET_V, BOMB, FLASK = (CODES[name] for name in ("basic", "rocket_h", "rocket_v", "bomb", "flask"))
DANDELION, WEED, BEEHIVE = (CODES[name] for name in ("dandelion", "weed", "beehive"))
COVERS = ("", "cage", "bubble")
CAGE, BUBBLE = 1, 2
# Unit bits of covers follow those of kinds (§6.1)
UNIT_CAGE, UNIT_BUBBLE = len(KINDS) - 1 + CAGE, len(KINDS) - 1 + BUBBLE

# Arrays for kernels, by code
ATTRIBUTES = np.array([kind.attributes for kind in KINDS], np.int64)
SPAWNS = np.array([kind.spawn for kind in KINDS], np.int64)
# Units of goals: name -> bits of the kinds and covers that give one
UNITS = {
    **{(kind.name if kind.unit == "kind" else kind.unit): 1 << code for code, kind in enumerate(KINDS) if kind.unit},
    "cage": 1 << UNIT_CAGE,
    "bubble": 1 << UNIT_BUBBLE,
    "rocket": 1 << ROCKET_H | 1 << ROCKET_V,
    "power": sum(1 << code for code, kind in enumerate(KINDS) if kind.attributes & POWER),
}
# Units that a goal may restrict to a color
COLORED = tuple(kind.name for kind in KINDS if kind.color != "none" or kind.attributes & TAKES)
