"""Text view of MO-TileBlast."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.contract import Line, State
from momagames.games.tileblast.rules.pieces import BASIC, CODES, COLORS, COUNTS, COVERS, KINDS
from momagames.games.tileblast.rules.state import CELLS, HEIGHT, WIDTH
from momagames.games.tileblast.view.color_marks import HEX_CODES as INK_CODES
from momagames.games.tileblast.view.color_marks import INKS
from momagames.games.tileblast.view.scene import ending_text, goal_name, progress_text
from momagames.render import shapes

LETTERS = dict(zip(CODES, "?-|*FRDCSPM@TK&GBIXWvVH^EU", strict=True))
COVER_SIGNS = " #~"  # by cover code
CELL_WIDTH = 5  # characters of a cell, with the space before it
LEGEND_COLUMNS = 6  # entries per line of the legend


def format_text(state: State, last: Any = None, groups: bool = True, cell: int = -1) -> list[Line]:
    """Return a position as text: the board, moves, goals and the legend.

    last           the last tapped cell, which is in brackets
    groups, cell   unused here
    """
    tapped = -1 if last is None else int(last)
    lines: list[Line] = []
    for y in reversed(range(HEIGHT)):
        line: Line = [(f"{y} ", "dim")]
        for place in range(WIDTH * y, WIDTH * (y + 1)):
            edge = "[" if place == tapped else "]" if place == tapped + 1 and place % WIDTH else " "
            line += [(edge, ""), (symbol(state, place), style(state, place))]
        lines.append([*line, ("]" if tapped == WIDTH * (y + 1) - 1 else "", "")])
    lines.append([("  " + "".join(f" {x:<{CELL_WIDTH - 1}}" for x in range(WIDTH)).rstrip(), "dim")])
    lines += [[], [(f"{progress_text(state)}, score {int(state['score'])}  ", "dim"), (ending_text(state), "bold")]]
    lines += [goal_line(state, k) for k in range(int(state["goals"]))]
    return [*lines, *counter_lines(state), *legend_lines(state)]


def symbol(state: State, cell: int) -> str:
    """Return a cell in four characters: its letter (of the color for basics), color and hit points, and cover last."""
    if not state["active"][cell]:
        return " " * (CELL_WIDTH - 1)
    kind, anchor = int(state["kind"][cell]), int(state["anchor"][cell])
    text = "."
    if kind:
        color = " rbyopk"[int(state["color"][anchor])].strip()
        letter = color if kind == BASIC else LETTERS[KINDS[kind].name] + color
        text = letter + (str(int(state["hp"][anchor])) if KINDS[kind].high > 1 else "")
    return text.ljust(CELL_WIDTH - 2) + COVER_SIGNS[state["cover"][cell]]


def style(state: State, cell: int) -> str:
    """Return the style of a cell: a piece with a color has it as background."""
    kind = int(state["kind"][cell])
    color = int(state["color"][state["anchor"][cell]]) if kind else 0
    if color:
        return f"bold {'#ffffff' if shapes.is_dark(INKS[color]) else '#000000'} on {INK_CODES[color]}"
    return "bold" if kind else "dim"


def goal_line(state: State, k: int) -> Line:
    """Return the line of a goal: its name and its remaining units."""
    rest, color = int(state["rest"][k]), int(state["goal_color"][k])
    return [
        (goal_name(state, k), f"bold {INK_CODES[color]}" if color else "bold"),
        (f"  {rest} left" if rest else "  reached", ""),
    ]


def counter_lines(state: State) -> list[Line]:
    """Return a line for each piece that counts by color."""
    lines: list[Line] = []
    for cell in range(CELLS):
        kind = KINDS[state["kind"][cell]]
        if kind.attributes & COUNTS and state["anchor"][cell] == cell:
            counts = [(k, int(state["counters"][cell]) >> 4 * k & 15) for k in range(len(COLORS))]
            parts = [(f"  {COLORS[k]} {count}", f"bold {INK_CODES[k + 1]}") for k, count in counts if count]
            lines.append([(f"{kind.name} ({cell % WIDTH},{cell // WIDTH})", ""), *parts])
    return lines


def legend_lines(state: State) -> list[Line]:
    """Return the legend of the letters on the board."""
    kinds = [KINDS[code].name for code in np.unique(state["kind"][state["active"] > 0]) if code > BASIC]
    names = [f"{LETTERS[name]} {name}" for name in kinds]
    names += [f"{COVER_SIGNS[cover]} {COVERS[cover]}" for cover in np.unique(state["cover"]) if cover]
    return [[("  ".join(names[k : k + LEGEND_COLUMNS]), "dim")] for k in range(0, len(names), LEGEND_COLUMNS)]
