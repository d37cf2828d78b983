"""Enumerations of the original package, by the names and values that its agents use (SPEC §1)."""

from __future__ import annotations

import sys
from enum import Enum
from typing import Any

MODULE = "pommerman.constants"  # of the original package


class Item(Enum):
    """§1.1 Codes of cells and agents."""

    Passage = 0
    Rigid = 1
    Wood = 2
    Bomb = 3
    Flames = 4
    Fog = 5
    ExtraBomb = 6
    IncrRange = 7
    Kick = 8
    AgentDummy = 9
    Agent0 = 10
    Agent1 = 11
    Agent2 = 12
    Agent3 = 13


class GameType(Enum):
    """§1.4 Kinds of game."""

    FFA = 1
    Team = 2
    TeamRadio = 3
    OneVsOne = 4


class Action(Enum):
    """§1.2 Moves."""

    Stop = 0
    Up = 1
    Down = 2
    Left = 3
    Right = 4
    Bomb = 5


class Result(Enum):
    """Results of a game, in the infos of a step."""

    Win = 0
    Loss = 1
    Tie = 2
    Incomplete = 3


def find_constants() -> Any:
    """Return the module with the enumerations: that of the original package if it is imported, otherwise this one.

    Members of different enumerations are never equal, so that agents which import the original package need its members.
    """
    return sys.modules.get(MODULE, sys.modules[__name__])
