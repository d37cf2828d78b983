"""Images of MO-Pommerman: the board, and a column with the status of each agent."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from momagames.contract import Cell, Cells, Keys, Parameter, Slide, State
from momagames.contract.views import make_viewer_option
from momagames.games.pommerman.rules.state import (
    DOWN,
    EXTRA_BOMB,
    FOG,
    KICK,
    LAY,
    LEFT,
    PASSAGE,
    RADIO,
    RANGE,
    RIGHT,
    SEATS,
    STOP,
    UP,
    VOCABULARY,
    WORDS,
)
from momagames.games.pommerman.view import tiles
from momagames.games.pommerman.view.scene import (
    AgentView,
    Scene,
    build_scene,
    collapse_steps,
    equipment_texts,
    message_text,
    progress_text,
    status_text,
)
from momagames.render import canvas
from momagames.render.canvas import Sheet

EDGE = 22  # pixels left of the board and above it, for coordinates
BESIDE = 16  # pixels between the board and the column
COLUMN = 158  # pixels of the column
TOP = 54  # pixels of the column above the agents
CARD = 118  # pixels of an agent in the column
TILE, ICON = 44, 22  # pixels
ROLLS = {UP: (-1, 0), DOWN: (1, 0), LEFT: (0, -1), RIGHT: (0, 1)}  # rows and columns of a step
DEAD = (176, 172, 162)
LETTERS = 13


def build_options(agents: tuple[str, ...], size: int) -> tuple[Parameter, ...]:
    """Return the display options: the keywords of `picture` and `format_text`."""
    viewer = "view of one agent, without hidden information"
    cell = "mark those that the bomb on this cell (row * board_size + column) can reach; -1: none"
    return (
        make_viewer_option(agents, viewer),
        Parameter("blasts", False, "mark the cells that bombs can reach"),
        Parameter("cell", -1, cell, -1, size * size - 1),
    )


def point(state: State, x: float, y: float, size: int | None = None) -> Mapping[str, Any]:
    """Return the display options for a pointer at pixel (x, y): the blast range of the bomb under it. `size`: as drawn."""
    cells = int(state["size"])
    side = cell_side(cells, size)
    row, col = int((y - EDGE) // side), int((x - EDGE) // side)
    return {"cell": row * cells + col} if 0 <= row < cells and 0 <= col < cells else {}


def build_keys(mode: int) -> Keys:
    """Return the key bindings of a human player."""
    moves = {"up": UP, "down": DOWN, "left": LEFT, "right": RIGHT, "space": LAY, "s": STOP}
    choices: dict[str, tuple[tuple[int, ...], int]] = {key: ((0,), move) for key, move in moves.items()}
    if mode != RADIO:
        return Keys(choices, "arrows: move, space: lay a bomb, s: stop")
    words = {str(word): (tuple(range(1, 1 + WORDS)), word) for word in range(VOCABULARY)}
    return Keys({**choices, **words}, "arrows: move, space: bomb, s: stop, digits: words")


def cell_side(cells: int, size: int | None = None) -> int:
    """Return the pixels of a cell side on a board of cells x cells."""
    return canvas.fit_cells(cells, EDGE, size)


def draw_picture(
    state: State,
    last: Any = None,
    viewer: str | None = None,
    blasts: bool = False,
    cell: int = -1,
    size: int | None = None,
    hidden: Collection[Cell] = (),
) -> Sheet:
    """Return a position as an RGB image, uint8[H, W, 3].

    last     the actions that led here, [A, P] or [A], named in the column
    viewer   show the view of this agent; None: everything
    blasts   mark the cells that bombs can reach: of all bombs, or
    cell     of the bomb on this cell only
    size     pixels that the board takes, coordinates included; None: `canvas.LONG_SIDE`
    hidden   cells that are drawn without agents and bombs
    """
    visible = build_scene(state, last, viewer, blasts, cell)
    cells = len(visible.board)
    side = cell_side(cells, size)
    sheet = _draw_background(cells, side).copy()
    for row, col in np.ndindex(cells, cells):
        place = row, col
        cell_picture = tiles.draw_cell(
            side,
            PASSAGE if place in hidden and visible.board[place] != FOG else int(visible.board[place]),
            int(visible.life[place]),
            visible.bombs.get(place),
            visible.teams,
            visible.graves.get(place, -1),
            cell_mark(visible, row, col),
        )
        canvas.place(sheet, EDGE + row * side, EDGE + col * side, cell_picture)
    left = EDGE + cells * side + BESIDE
    draw_header(sheet, left, state, viewer)
    for agent in visible.agents:
        draw_agent(sheet, EDGE + TOP + agent.seat * CARD, left, agent, visible.teams)
    return sheet


def find_slides(before: State, after: State, last: Any) -> list[Slide]:
    """Return the cells that agents walk and bombs roll from and to."""
    agents = [
        tuple((int(state["row"][seat]), int(state["col"][seat])) for state in (before, after))
        for seat in range(int(after["seats"]))
        if after["alive"][seat]
    ]
    bombs, old = [], set(_bomb_cells(before))
    for k, (row, col) in enumerate(_bomb_cells(after)):
        down, right = ROLLS.get(int(after["bomb_direction"][k]), (0, 0))
        if (row - down, col - right) in old:
            bombs.append(((row - down, col - right), (row, col)))
    return [(start, end) for start, end in (*agents, *bombs) if start != end]


def _bomb_cells(state: State) -> list[Cell]:
    return [(int(state["bomb_row"][k]), int(state["bomb_col"][k])) for k in range(int(state["bombs"]))]


def locate_cells(state: State, size: int | None) -> Cells:
    """Return where the cells are in a picture."""
    cells = int(state["size"])
    return Cells(EDGE, EDGE, cell_side(cells, size), cells, cells)


@canvas.cache_drawing(maxsize=16)
def _draw_background(cells: int, side: int) -> Sheet:
    """Return the static part: the coordinates and the ground."""
    sheet = canvas.blank(max(EDGE + cells * side + 4, EDGE + TOP + SEATS * CARD), EDGE + cells * side + BESIDE + COLUMN)
    canvas.fill(sheet, EDGE, EDGE, EDGE + cells * side, EDGE + cells * side, tiles.FLOOR)
    for k in range(cells):
        canvas.write(sheet, EDGE + (k + 0.5) * side, EDGE / 2, str(k), 12, canvas.FAINT, "center")
        canvas.write(sheet, EDGE - 6, EDGE + (k + 0.5) * side, str(k), 12, canvas.FAINT, "right")
    return sheet


def cell_mark(visible: Scene, row: int, col: int) -> int:
    """Return the mark of a cell, see `tiles.HATCHES`."""
    if visible.blast[row, col]:
        return tiles.IN_RANGE
    border = len(visible.board) - 1
    return tiles.FALLING if min(row, col, border - row, border - col) == visible.ring else tiles.UNMARKED


def draw_header(sheet: Sheet, left: int, state: State, viewer: str | None) -> None:
    """Draw the top of the column: progress with a mark for each falling ring, and the viewer."""
    canvas.write(sheet, left, EDGE + 6, progress_text(state), LETTERS)
    done, width = int(state["ply"]) / int(state["max_steps"]), COLUMN - 4
    canvas.fill(sheet, EDGE + 18, left, EDGE + 24, left + width, tiles.EDGE)
    canvas.fill(sheet, EDGE + 18, left, EDGE + 24, left + round(done * width), canvas.FAINT)
    for step in collapse_steps(state):
        x = left + round(step / int(state["max_steps"]) * width)
        canvas.fill(sheet, EDGE + 15, x - 1, EDGE + 27, x + 1, tiles.RED)
    canvas.write(sheet, left, EDGE + 37, status_text(state, viewer), LETTERS - 1, canvas.FAINT)


def draw_agent(sheet: Sheet, top: int, left: int, agent: AgentView, teams: bool) -> None:
    """Draw an agent in the column: its equipment, action and message."""
    ink, faint = (canvas.INK, canvas.FAINT) if agent.alive else (DEAD, DEAD)
    canvas.fill(sheet, top, left, top + 1, left + COLUMN - 4, tiles.EDGE)
    canvas.place(sheet, top + 10, left, _draw_portrait(agent.seat, agent.alive, teams))
    canvas.write(sheet, left + TILE + 10, top + 20, f"agent_{agent.seat}", LETTERS + 1, ink)
    canvas.write(sheet, left + TILE + 10, top + 41, (agent.action or "") if agent.alive else "dead", LETTERS - 1, faint)
    if not agent.alive:
        return
    y = top + TILE + 18
    for k, (icon, value) in enumerate(zip(_draw_icons(), equipment_texts(agent), strict=True)):
        x = left + 50 * k
        canvas.place(sheet, y, x, icon, 1.0 if value not in ("", "no") else 0.3)
        canvas.write(sheet, x + ICON + 5, y + ICON / 2, value, LETTERS + 1)
    if agent.message is not None:
        canvas.write(sheet, left, y + ICON + 14, message_text(agent.message), LETTERS - 1, ink if any(agent.message) else faint)


@canvas.cache_drawing(maxsize=16)
def _draw_portrait(seat: int, alive: bool, teams: bool) -> Sheet:
    """Return the image of an agent on the background color."""
    return canvas.paint(TILE, canvas.PAPER, *(tiles.agent_body(seat, teams) if alive else tiles.grave(seat)))


@canvas.cache_drawing(maxsize=1)
def _draw_icons() -> tuple[Sheet, ...]:
    """Return the icons of ammunition, blast strength and kick: the centers of the items' tiles."""
    cut = ICON // 3
    pictures = [canvas.paint(ICON + 2 * cut, canvas.PAPER, *tiles.ICONS[item]) for item in (EXTRA_BOMB, RANGE, KICK)]
    return tuple(canvas.crop(picture, cut, cut, ICON, ICON) for picture in pictures)
