"""Texts and tile groups that pictures and the text view share."""

from __future__ import annotations

from momagames.contract import State
from momagames.games.tileblast.rules.pieces import BASIC, CAGE, COLORS, KINDS, POWER, UNITS
from momagames.games.tileblast.rules.state import CELLS, WIDTH

UNIT_NAMES = {bits: name for name, bits in UNITS.items()}


def goal_name(state: State, k: int) -> str:
    """Return the name of a goal in level files, such as "pot.red"."""
    color = int(state["goal_color"][k])
    return UNIT_NAMES[int(state["goal_units"][k])] + (f".{COLORS[color - 1]}" if color else "")


def progress_text(state: State) -> str:
    """Return the moves left, or the moves made in games without a limit."""
    limit, moves = int(state["limit"]), int(state["moves"])
    if not state["strict_moves"]:
        return f"{moves} {'move' if moves == 1 else 'moves'} of {limit}"
    left = max(0, limit - moves)
    return f"{left} {'move' if left == 1 else 'moves'} left"


def ending_text(state: State) -> str:
    """Return the result of a finished game, "" before."""
    if state["won"] or state["truncated"] or not state["over"]:
        return "WON" if state["won"] else "CUT OFF" if state["truncated"] else ""
    return "LOST, no tap left" if state["dead"] else "LOST"


def result_text(state: State) -> str:
    """Return the result of a finished game, "" if it was cut off."""
    return "" if state["truncated"] and not state["won"] else ending_text(state).lower()


def tap_cells(state: State, cell: int) -> set[int]:
    """Return the cells that a tap on a cell bursts (SPEC §4.2) or joins (§4.3); none if the tap is invalid."""
    key = join_key(state, cell)
    if not key or state["over"]:
        return set()
    found, border = {cell}, [cell]
    while border:
        for other in neighbors(border.pop()):
            if other not in found and join_key(state, other) == key:
                found.add(other)
                border.append(other)
    return found if key > len(COLORS) or len(found) > 1 else set()


def join_key(state: State, cell: int) -> int:
    """Return the color of a free basic, a number above all colors for free power pieces, 0 for all else."""
    kind = int(state["kind"][cell])
    if state["cover"][cell] == CAGE:
        return 0
    if KINDS[kind].attributes & POWER:
        return len(COLORS) + 1
    return int(state["color"][cell]) if kind == BASIC else 0


def neighbors(cell: int) -> list[int]:
    """Return the cells beside, below and above a cell (SPEC §1.3)."""
    x = cell % WIDTH
    beside = [cell - 1] * (x > 0) + [cell + 1] * (x < WIDTH - 1)
    return beside + [other for other in (cell - WIDTH, cell + WIDTH) if 0 <= other < CELLS]
