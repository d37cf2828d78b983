"""Images and texts of MO-Ingenious: the board of hexagons, and below it the scores and the rack of each agent."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from momagames.contract import Line, State
from momagames.games.ingenious import rules
from momagames.games.ingenious.codec import AGENTS, Place, find_geometry, format_rows, geometry_of, unpack_rack
from momagames.render import canvas, shapes
from momagames.render.canvas import Color

EMPTY, DARK_EMPTY = canvas.color("#e6e1d5"), canvas.color("#343940")
HIDDEN, DARK_HIDDEN = canvas.color("#c9c4b8"), canvas.color("#4d535b")
HEAD, ROW_HEIGHT, NAME, COLUMN, GAP = 28, 46, 66, 29, 8  # pixels of a picture of LONG_SIDE
INKS = shapes.COLORS[:6]


class Layout(NamedTuple):
    """Where the parts of a picture are, in pixels: its sides, the radius of a hexagon, and the middle of the board."""

    width: int
    height: int
    scale: float
    hexagon: float
    x: float
    y: float
    bottom: float  # of the board

    def locate(self, cell: Place) -> tuple[float, float]:
        """Return the middle of a cell as (x, y)."""
        q, r = cell
        return self.x + math.sqrt(3) * self.hexagon * (r + q / 2), self.y + 1.5 * self.hexagon * q

    def locate_tile(self, agent: int, slot: int, half: int) -> tuple[float, float]:
        """Return the middle of a half of a tile in a rack as (x, y)."""
        side = self.tile_radius * math.sqrt(3)
        x = self.scale * NAME + slot * (2 * side + self.scale * GAP) + (half + 0.5) * side
        return x, self.bottom + self.scale * ROW_HEIGHT * (agent + 0.5)

    @property
    def tile_radius(self) -> float:
        return 12.5 * self.scale

    def locate_score(self, agent: int, colors: int, color: int) -> tuple[float, float]:
        """Return the middle of a score as (x, y)."""
        x = self.width - self.scale * COLUMN * (colors - color - 0.5)
        return x, self.bottom + self.scale * ROW_HEIGHT * (agent + 0.5)


def measure(state: State, size: int | None) -> Layout:
    """Return the layout of a picture whose width is `size` pixels."""
    width, radius = size or canvas.LONG_SIDE, int(state["radius"])
    scale = width / canvas.LONG_SIDE
    hexagon = width / (math.sqrt(3) * (2 * radius + 1) + 0.5)
    board = (3 * radius + 2) * hexagon
    bottom = HEAD * scale + board + 6 * scale
    height = math.ceil(bottom + int(state["agents"]) * ROW_HEIGHT * scale)
    return Layout(width, height, scale, hexagon, width / 2, HEAD * scale + board / 2, bottom)


def list_scores(state: State) -> list[list[int]]:
    """Return the scores of each agent by color."""
    agents, teams, colors = (int(state[name]) for name in ("agents", "teams", "colors"))
    return [state["scores"][agent % teams, :colors].tolist() for agent in range(agents)]


def find_winners(state: State) -> list[str]:
    """§6.4 Return the names of the winners of a finished game."""
    find_winner = getattr(rules.find_winner, "py_func", rules.find_winner)
    winner = int(find_winner(state)) if state["over"] else -1
    return [name for agent, name in enumerate(AGENTS[: int(state["agents"])]) if agent % int(state["teams"]) == winner]


def describe_result(state: State) -> str:
    """Describe the end of a game."""
    winners, lowest = find_winners(state), max(min(row) for row in list_scores(state))
    if int(state["teams"]) == 1:
        return f"lowest color {lowest}"
    return f"{' and '.join(winners)} won" if winners else "tie"


def describe(state: State) -> str:
    """Describe a position in a line."""
    if state["over"]:
        return f"the game is over: {describe_result(state)}"
    return f"{AGENTS[int(state['to_move'])]} is to move{', first round' if state['first_round'] else ''}"


def list_racks(state: State, viewer: str | None) -> list[list[list[int]] | None]:
    """Return the rack of each agent; None if the viewer does not see it."""
    return [
        unpack_rack(state, agent) if viewer in (None, AGENTS[agent]) or state["open_racks"] else None
        for agent in range(int(state["agents"]))
    ]


def find_last_cells(state: State, last: Any) -> tuple[Place, ...]:
    """Return the cells of the last placement; none without one."""
    pairs = geometry_of(state).pairs
    pair = -1 if last is None else int(last) // int(state["rack_size"])
    return pairs[pair] if 0 <= pair < len(pairs) else ()


def paint_hexagon(x: float, y: float, radius: float, ink: Color, side: int) -> canvas.Painter:
    """Return the painter of a hexagon with a corner on top, around a pixel of a square picture of this side."""
    angles = [math.pi * (k + 0.5) / 3 for k in range(6)]
    return shapes.polygon([((x + radius * math.cos(a)) / side, (y + radius * math.sin(a)) / side) for a in angles], ink)


@canvas.cache_drawing(maxsize=32)
def _draw_symbol(color: int, side: int) -> canvas.Sheet:
    """Draw the symbol of a color, a square that fits into a hexagon of the color."""
    ink = INKS[color - 1]
    return canvas.paint(side, ink, shapes.shape(color - 1, shapes.contrast(ink), ink))


@canvas.cache_drawing(maxsize=16)
def _draw_board(layout: Layout, radius: int, board: bytes, marked: tuple[Place, ...]) -> canvas.Sheet:
    """Draw the board alone."""
    cells, side = find_geometry(radius).cells, max(layout.width, math.ceil(layout.bottom))
    painters = [paint_hexagon(*layout.locate(cell), layout.hexagon * 0.98, canvas.shade(canvas.INK), side) for cell in marked]
    for cell, color in zip(cells, board, strict=True):
        ink = INKS[color - 1] if color else canvas.shade(EMPTY, DARK_EMPTY)
        part = 0.84 if cell in marked else 0.94
        painters.append(paint_hexagon(*layout.locate(cell), layout.hexagon * part, ink, side))
    sheet = canvas.paint(side, canvas.PAPER, *painters)
    for cell, color in zip(cells, board, strict=True):
        if color:
            _place_symbol(sheet, *layout.locate(cell), layout.hexagon, color)
    return canvas.crop(sheet, 0, 0, math.ceil(layout.bottom), layout.width)


def _place_symbol(sheet: canvas.Sheet, x: float, y: float, hexagon: float, color: int) -> None:
    symbol = max(4, round(hexagon * 1.12))
    canvas.place(sheet, round(y - symbol / 2), round(x - symbol / 2), _draw_symbol(color, symbol))


@canvas.cache_drawing(maxsize=64)
def _draw_tile(radius: float, tile: tuple[int, int] | None) -> canvas.Sheet:
    """Draw a tile of a rack, or its back."""
    side = math.ceil(2 * math.sqrt(3) * radius)
    hidden = canvas.shade(HIDDEN, DARK_HIDDEN)
    middles = [((half + 0.5) * math.sqrt(3) * radius, radius) for half in range(2)]
    inks = [hidden] * 2 if tile is None else [INKS[color - 1] for color in tile]
    painters = [paint_hexagon(x, y, radius, ink, side) for (x, y), ink in zip(middles, inks, strict=True)]
    sheet = canvas.paint(side, canvas.PAPER, *painters)
    for (x, y), color in zip(middles, tile or (), strict=False):
        _place_symbol(sheet, x, y, radius, color)
    return canvas.crop(sheet, 0, 0, math.ceil(2 * radius), side)


def draw_picture(state: State, last: Any = None, size: int | None = None, viewer: str | None = None) -> canvas.Sheet:
    """Draw a position as an RGB image, uint8[H, W, 3].

    last     the last action: its cells have a frame
    size     pixels of the width; None: `canvas.LONG_SIDE`
    viewer   draw the racks that this agent sees; None: all
    """
    layout, colors = measure(state, size), int(state["colors"])
    sheet = canvas.blank(layout.height, layout.width)
    board = bytes(state["board"][geometry_of(state).places])
    canvas.place(sheet, 0, 0, _draw_board(layout, int(state["radius"]), board, find_last_cells(state, last)))
    letters = max(7, round(13 * layout.scale))
    canvas.write(sheet, 8 * layout.scale, HEAD * layout.scale / 2, describe(state), letters)
    radius, scores = layout.tile_radius, list_scores(state)
    for agent, rack in enumerate(list_racks(state, viewer)):
        y = layout.locate_tile(agent, 0, 0)[1]
        ink = canvas.INK if agent == int(state["to_move"]) and not state["over"] else canvas.FAINT
        canvas.write(sheet, 8 * layout.scale, y, AGENTS[agent], letters, ink)
        for slot in range(int(state["rack_size"])):
            tile = None if rack is None else (rack[slot][0], rack[slot][1])
            if tile != (0, 0):
                left = round(layout.locate_tile(agent, slot, 0)[0] - math.sqrt(3) / 2 * radius)
                canvas.place(sheet, round(y - radius), left, _draw_tile(radius, tile))
        for color in range(1, colors + 1):
            x, _ = layout.locate_score(agent, colors, color - 1)
            _place_symbol(sheet, x, y - 10 * layout.scale, 14 * layout.scale, color)
            canvas.write(sheet, x, y + 9 * layout.scale, str(scores[agent][color - 1]), letters, ink, "center")
    return sheet


def pick(state: State, pressed: tuple[float, float], released: tuple[float, float]) -> int | None:
    """Return the placement of a tile that is dragged from the rack of the agent to move to the board.

    The half of the tile at which it is held goes on the cell under the pointer, the other one on the neighbor beyond the
    nearest edge.
    """
    layout, geometry, agent = measure(state, None), geometry_of(state), int(state["to_move"])
    halves = [(slot, half) for slot in range(int(state["rack_size"])) for half in range(2)]
    slot, half = min(halves, key=lambda one: math.dist(layout.locate_tile(agent, *one), pressed))
    near = sorted(geometry.cells, key=lambda cell: math.dist(layout.locate(cell), released))
    if math.dist(layout.locate_tile(agent, slot, half), pressed) > layout.tile_radius:
        return None
    cell = near[0]
    if math.dist(layout.locate(cell), released) > layout.hexagon:
        return None
    other = next(one for one in near[1:] if (cell, one) in geometry.pairs)
    pair = (cell, other) if half == 0 else (other, cell)
    return geometry.pairs.index(pair) * int(state["rack_size"]) + slot


def format_text(state: State, last: Any = None, viewer: str | None = None) -> list[Line]:
    """Return the board as text, colors as digits, and below it the scores and the racks that the viewer sees."""
    lines: list[Line] = [[(describe(state), "")]]
    styles = [f"bold {shapes.contrast_code(i)} on {shapes.CODES[i]}" for i in range(len(INKS))]
    rows, marked = format_rows(state), find_last_cells(state, last)
    radius = int(state["radius"])
    for q, row in zip(range(-radius, radius + 1), rows, strict=True):
        line: Line = [(" " * (len(rows) - len(row)), "")]
        for r, color in enumerate(row, max(-radius, -radius - q)):
            digit = (str(color), styles[color - 1]) if color else (".", "dim")
            line += [digit, (")" if (q, r) in marked else " ", "")]
        lines.append(line)
    for agent, (scores, rack) in enumerate(zip(list_scores(state), list_racks(state, viewer), strict=True)):
        line = [(f"{AGENTS[agent]} ", "bold" if agent == int(state["to_move"]) else "")]
        line += [part for k, score in enumerate(scores) for part in ((str(k + 1), styles[k]), (f" {score}  ", ""))]
        for tile in rack or []:
            line += [(str(color), styles[color - 1]) if color else (".", "dim") for color in tile] + [(" ", "")]
        lines.append(line)
    return lines
