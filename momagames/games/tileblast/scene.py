"""What is said of a position of MO-TileBlast in words, in pictures and in text."""

from __future__ import annotations

from momagames.contract import State
from momagames.games.tileblast.catalogue import COLORS, UNITS

NAMES = {bits: name for name, bits in UNITS.items()}


def goal_name(state: State, k: int) -> str:
    """What a goal collects, as level files say it: "pot.red"."""
    color = int(state["goal_color"][k])
    return NAMES[int(state["goal_units"][k])] + (f".{COLORS[color - 1]}" if color else "")


def progress(state: State) -> str:
    """How far the game is: moves left, or made where they are not limited."""
    limit, moves = int(state["limit"]), int(state["moves"])
    if not state["strict_moves"]:
        return f"{moves} {'move' if moves == 1 else 'moves'} of {limit}"
    left = max(0, limit - moves)
    return f"{left} {'move' if left == 1 else 'moves'} left"


def ending(state: State) -> str:
    """How the game ended; "" while it goes on."""
    if state["won"] or state["truncated"] or not state["over"]:
        return "WON" if state["won"] else "CUT OFF" if state["truncated"] else ""
    return "LOST, no tap left" if state["dead"] else "LOST"
