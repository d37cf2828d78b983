"""Texts and pictures of MO-ItemGathering: a meadow with the items and the agents."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from momagames.contract import Cell, Cells, Line, Slide, State
from momagames.games.item_gathering import rules
from momagames.games.item_gathering.codec import locate_agents, split_action, unpack_items
from momagames.render import canvas, shapes
from momagames.render.text import grid

EDGE = 24  # pixels left of the board and above it, for coordinates
LEGEND, LEGEND_ROW = 96, 26  # pixels of an entry of the legend
GROUNDS = canvas.color("#dfe7cf"), canvas.color("#e7edda")
BODY, RIM = canvas.color("#3b2f63"), canvas.color("#f7f5ff")
LETTERS = "ABCDEFGHIJKLMNOP"  # of the agents in texts
AGENT_STYLE = "bold #ffffff on #3b2f63"
# Tips and bases of the mark on the rim that shows where an agent wanted to go, by action
MARKS = {
    rules.UP: ((0.5, 0.02), (0.39, 0.14), (0.61, 0.14)),
    rules.DOWN: ((0.5, 0.98), (0.39, 0.86), (0.61, 0.86)),
    rules.LEFT: ((0.02, 0.5), (0.14, 0.39), (0.14, 0.61)),
    rules.RIGHT: ((0.98, 0.5), (0.86, 0.39), (0.86, 0.61)),
}


def describe_result(state: State) -> str:
    """Describe the end of an episode."""
    left = int(state["left"])
    return f"{left} {'item' if left == 1 else 'items'} left" if left else "all items taken"


def count_items(state: State) -> list[tuple[int, int]]:
    """Return the types of items of the game, and how many of each are left."""
    counts = np.bincount(state["item"], minlength=rules.MAX_TYPES + 1)
    return [(kind, int(counts[kind])) for kind in range(1, 1 + int(state["types"]))]


def draw_picture(state: State, last: Any = None, size: int | None = None, hidden: Collection[Cell] = ()) -> canvas.Sheet:
    """Draw a position as an RGB image, uint8[H, W, 3]: items by shape and color, agents with their numbers, and a legend.

    last     the last joint action; a mark on each agent shows where it wanted to go
    size     pixels that the board takes on its longer side, coordinates included; None: `canvas.LONG_SIDE`
    hidden   cells that are drawn without their agents
    """
    items = unpack_items(state)
    height, width = items.shape
    side = cell_side(height, width, size)
    counts = count_items(state)
    sheet = _draw_background(height, width, len(counts), side).copy()
    for y, x in np.argwhere(items).tolist():
        canvas.place(sheet, EDGE + y * side, EDGE + x * side, _draw_cell(side, (y + x) % 2, int(items[y, x]), -1, rules.STAY))
    moves = [rules.STAY] * int(state["agents"])
    if last is not None:
        moves = split_action(state, last) if state["central"] else np.ravel(last).tolist()
    for agent, (y, x) in enumerate(locate_agents(state)):
        if (y, x) not in hidden:
            tile = _draw_cell(side, (y + x) % 2, int(items[y, x]), agent, moves[agent])
            canvas.place(sheet, EDGE + y * side, EDGE + x * side, tile)
    for kind, left in counts:
        top, start = _legend_corner(height, width, side, kind - 1)
        canvas.write(sheet, start + LEGEND_ROW, top + LEGEND_ROW / 2, f"{left} left", 13, canvas.FAINT)
    return sheet


def find_slides(before: State, after: State, last: Any) -> list[Slide]:
    """Return the cells that agents move from and to."""
    return [pair for pair in zip(locate_agents(before), locate_agents(after), strict=True) if pair[0] != pair[1]]


def locate_cells(state: State, size: int | None) -> Cells:
    """Return where the cells are in a picture."""
    height, width = int(state["height"]), int(state["width"])
    return Cells(EDGE, EDGE, cell_side(height, width, size), height, width)


def cell_side(height: int, width: int, size: int | None = None) -> int:
    """Return the pixels of a cell side."""
    return canvas.fit_cells(max(height, width), EDGE, size)


@canvas.cache_drawing(maxsize=512)
def _draw_cell(side: int, parity: int, kind: int, agent: int, move: int) -> canvas.Sheet:
    """Draw a cell with an item of a type (0: none) and an agent (-1: none), which wanted to go this way."""
    painters: list[canvas.Painter] = []
    if kind:
        ink = shapes.COLORS[kind - 1]
        painters += [shapes.block(0.13, 0.18, ink), shapes.shape(kind - 1, shapes.contrast(ink), ink)]
    if agent >= 0:
        if move in MARKS:
            painters.append(shapes.polygon(MARKS[move], BODY))
        radius = 0.26 if kind else 0.32  # an item under it can be seen
        painters += [shapes.disc(radius + 0.03, RIM), shapes.disc(radius, BODY), shapes.label(str(agent), 0.5, 0.5, 0.4, RIM)]
    return canvas.paint(side, GROUNDS[parity], *painters)


def _legend_corner(height: int, width: int, side: int, k: int) -> tuple[int, int]:
    """Return top and left of an entry of the legend, in rows below the board."""
    row, column = divmod(k, max(1, (EDGE + width * side) // LEGEND))
    return EDGE + height * side + 8 + row * LEGEND_ROW, EDGE + column * LEGEND


@canvas.cache_drawing(maxsize=16)
def _draw_background(height: int, width: int, types: int, side: int) -> canvas.Sheet:
    """Draw the static part: empty cells, coordinates, and the items of the legend."""
    corners = [_legend_corner(height, width, side, k) for k in range(types)]
    right = max(EDGE + width * side + 6, max(x for _, x in corners) + LEGEND)
    sheet = canvas.blank(corners[-1][0] + LEGEND_ROW + 4, right)
    grounds = canvas.join_tiles([canvas.paint(side, ground) for ground in GROUNDS])
    parities = np.add.outer(np.arange(height), np.arange(width)) % 2
    canvas.place(sheet, EDGE, EDGE, canvas.mosaic(grounds, parities))
    for x in range(width):
        canvas.write(sheet, EDGE + (x + 0.5) * side, EDGE / 2, str(x), 12, canvas.FAINT, "center")
    for y in range(height):
        canvas.write(sheet, EDGE - 6, EDGE + (y + 0.5) * side, str(y), 12, canvas.FAINT, "right")
    for k, (top, left) in enumerate(corners):
        canvas.place(sheet, top + 2, left, _draw_cell(LEGEND_ROW - 4, 0, k + 1, -1, rules.STAY))
    return sheet


def format_text(state: State, last: Any = None) -> list[Line]:
    """Return a position as text with coordinates: items by the number of their type, agents by letters.

    An item under an agent is named in a line below, beside the numbers of items left.
    """
    items, places = unpack_items(state), locate_agents(state)
    styles = ["dim", *(f"bold {shapes.contrast_code(k)} on {code}" for k, code in enumerate(shapes.CODES))]
    rows = [[(str(kind) if kind else ".", styles[kind]) for kind in row] for row in items.tolist()]
    for agent, (y, x) in enumerate(places):
        rows[y][x] = (LETTERS[agent], AGENT_STYLE)
    below = [(LETTERS[agent], int(items[place])) for agent, place in enumerate(places) if items[place]]
    steps = f"step {int(state['ply'])} of {int(state['steps'])}; "
    left = "left: " + ", ".join(f"{count} of item_{kind}" for kind, count in count_items(state))
    lines: list[Line] = [*grid(rows), [(steps + left, "")]]
    if below:
        lines.append([("under agents: " + ", ".join(f"{letter} item_{kind}" for letter, kind in below), "")])
    return lines
