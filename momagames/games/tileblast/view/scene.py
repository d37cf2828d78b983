"""What is said of a position of MO-TileBlast in words, in pictures and in text."""

from __future__ import annotations

from momagames.contract import State
from momagames.games.tileblast.rules.pieces import BASIC, CAGE, COLORS, KINDS, POWER, UNITS
from momagames.games.tileblast.rules.state import CELLS, WIDTH

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


def group(state: State, cell: int) -> set[int]:
    """The cells that a tap on this one bursts (SPEC §4.2) or joins (§4.3); none where no tap is valid."""
    wanted = kinship(state, cell)
    if not wanted or state["over"]:
        return set()
    found, border = {cell}, [cell]
    while border:
        for other in neighbors(border.pop()):
            if other not in found and kinship(state, other) == wanted:
                found.add(other)
                border.append(other)
    return found if wanted > len(COLORS) or len(found) > 1 else set()


def kinship(state: State, cell: int) -> int:
    """What joins tiles: the color of a free basic, a number above all colors for free power pieces, 0 for all else."""
    kind = int(state["kind"][cell])
    if state["cover"][cell] == CAGE:
        return 0
    if KINDS[kind].attributes & POWER:
        return len(COLORS) + 1
    return int(state["color"][cell]) if kind == BASIC else 0


def neighbors(cell: int) -> list[int]:
    """The cells beside, below and above one (SPEC §1.3)."""
    x = cell % WIDTH
    beside = [cell - 1] * (x > 0) + [cell + 1] * (x < WIDTH - 1)
    return beside + [other for other in (cell - WIDTH, cell + WIDTH) if 0 <= other < CELLS]
