"""Images of MO-RoboticMail: the board, and the progress of the players beside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from momagames.contract import Cell, Cells, Keys, Parameter, Slide, State
from momagames.contract.views import make_viewer_option
from momagames.games.robotmail.rules.state import BACKWARD, FORWARD, FULL, LEFT, RIGHT, STAND
from momagames.games.robotmail.view import tiles
from momagames.games.robotmail.view.scene import (
    LETTERS,
    Scene,
    build_scene,
    count_deliveries,
    list_robots,
    progress_text,
    status_text,
    turn_text,
)
from momagames.games.robotmail.view.text import format_text
from momagames.render import canvas, shapes
from momagames.render.canvas import FAINT, INK, WHITE, Color, Sheet

EDGE = 22  # pixels left of the board and above it, for coordinates
BESIDE = 16  # pixels between the board and the columns
LARGEST, SMALLEST = 72, 29  # pixels of a cell
TOP = 96  # pixels above the players
HEAD, ROW, GAP = 30, 25, 10  # pixels of a player, of a robot, and between players
TALLEST = 500  # pixels of a column of players; more go into two
COLUMN, BETWEEN = 242, 20  # pixels of a column, and between two
PLATE = 38  # pixels of the name of a robot
BATTERY, MAIL = 48, 156  # pixels where these begin
UNIT = 7  # pixels of a unit of a battery
TRACK: Color = (224, 220, 208)
TURN: Color = (240, 230, 200)  # of the robot to move
DARK_TURN: Color = (72, 64, 44)
WON, CUT = (30, 122, 56), (96, 96, 92)

__all__ = ["KEYS", "build_options", "draw_picture", "format_text", "pick", "point"]
KEYS = Keys(
    {key: ((0,), move) for key, move in
     {"up": FORWARD, "down": BACKWARD, "left": LEFT, "right": RIGHT, "space": STAND}.items()},
    "arrows: move, space: stand",
)  # fmt: skip


def build_options(agents: tuple[str, ...], width: int, height: int) -> tuple[Parameter, ...]:
    """Return the display options: the keywords of `picture` and `format_text`."""
    viewer = "view of one agent, without the indices of mails that it does not observe"
    cell = "mark the receivers of the mail on this cell (row * width + column), or the mails for it; -1: none"
    return (
        make_viewer_option(agents, viewer),
        Parameter("cell", -1, cell, -1, width * height - 1),
    )


def draw_picture(
    state: State,
    last: Any = None,
    viewer: str | None = None,
    cell: int = -1,
    size: int | None = None,
    hidden: Collection[Cell] | None = None,
) -> Sheet:
    """Return a position as an RGB image, uint8[H, W, 3].

    last     the action that led here, named beside the board
    viewer   show the view of this agent; None: everything
    cell     mark the cells related to this one: for a robot its targets (receivers of its mail, or mails if it has none), for a
             mail its receivers, for a receiver the robots and mails with its index
    size     pixels that the board takes on its longer side, coordinates included; None: about `canvas.LONG_SIDE`
    hidden   cells (row, column) that are drawn without their robots; unless None, without the frame of the robot to move
    """
    visible = build_scene(state, viewer, cell)
    height, width = visible.color.shape
    side = cell_side(height, width, size)
    grids = visible.color.tobytes(), visible.narrow.tobytes(), visible.target.tobytes()
    players, team = int(state["players"]), int(state["team"])
    sheet = _draw_background(height, width, side, *grids, players, team, bool(state["with_battery"])).copy()
    standing = {robot.place: robot.look for robot in visible.robots if robot.place[::-1] not in (hidden or ())}
    for x, y in {*standing, *visible.mails, *visible.marked}:
        place, code, narrow, target = (x, y), *(int(grid[y, x]) for grid in (visible.color, visible.narrow, visible.target))
        drawn = tiles.draw_cell(
            side, code, narrow > 0, target, visible.mails.get(place, 0), standing.get(place), place in visible.marked
        )
        canvas.place(sheet, EDGE + y * side, EDGE + x * side, drawn)
    if visible.acting >= 0 and hidden is None:
        x, y = visible.robots[visible.acting].place
        top, left = EDGE + y * side, EDGE + x * side
        canvas.draw_frame(sheet, top - 4, left - 4, side + 7, 3, INK)
        canvas.draw_frame(sheet, top - 1, left - 1, side + 1, 1, WHITE)
    left = EDGE + width * side + BESIDE
    draw_header(sheet, left, state, visible, last, viewer)
    for player, (top, start) in enumerate(player_positions(players, team)):
        draw_player(sheet, EDGE + top, left + start, state, visible, player)
    return sheet


def find_slides(before: State, after: State, last: Any) -> list[Slide]:
    """Return the cells that robots move from and to."""
    pairs = zip(list_robots(before), list_robots(after), strict=True)
    return [(old.place[::-1], new.place[::-1]) for old, new in pairs if old.place != new.place]


def locate_cells(state: State, size: int | None) -> Cells:
    """Return where the cells are in a picture."""
    height, width = int(state["height"]), int(state["width"])
    return Cells(EDGE, EDGE, cell_side(height, width, size), height, width)


def cell_side(height: int, width: int, size: int | None = None) -> int:
    """Return the pixels of a cell side."""
    side = canvas.fit_cells(max(height, width), EDGE, size)
    return min(LARGEST, max(SMALLEST, side)) if size is None else side


def player_positions(players: int, team: int) -> list[tuple[int, int]]:
    """Return the position of each player's block: pixels below the top of the board, and right of the first column."""
    tall = HEAD + team * ROW + GAP
    rows = players if players * tall <= TALLEST else -(-players // 2)
    return [(TOP + player % rows * tall, player // rows * (COLUMN + BETWEEN)) for player in range(players)]


@canvas.cache_drawing(maxsize=16)
def _draw_background(
    height: int, width: int, side: int, color: bytes, narrow: bytes, target: bytes, players: int, team: int, powered: bool
) -> Sheet:
    """Return the static part: the empty board, coordinates and headings. The grids of a `Scene` are given as bytes."""
    spots = player_positions(players, team)
    left = EDGE + width * side + BESIDE
    low = EDGE + max(top for top, _ in spots) + HEAD + team * ROW
    sheet = canvas.blank(max(EDGE + height * side + 4, low), left + max(start for _, start in spots) + COLUMN)
    grids = np.frombuffer(color, np.int64), np.frombuffer(narrow, np.bool_), np.frombuffer(target, np.int64)
    cells = [tiles.draw_cell(side, int(c), bool(n), int(t)) for c, n, t in zip(*grids, strict=True)]
    board = canvas.mosaic(canvas.join_tiles(cells), np.arange(height * width).reshape(height, width))
    canvas.place(sheet, EDGE, EDGE, board)
    for x in range(width):
        canvas.write(sheet, EDGE + (x + 0.5) * side, EDGE / 2, str(x), 12, FAINT, "center")
    for y in range(height):
        canvas.write(sheet, EDGE - 6, EDGE + (y + 0.5) * side, str(y), 12, FAINT, "right")
    for start in sorted({start for _, start in spots}):
        for x, name, align in ((BATTERY, "battery", "left"), (MAIL - 2, "mail", "left"), (COLUMN - 3, "delivered", "right")):
            if powered or x != BATTERY:
                canvas.write(sheet, left + start + x, EDGE + TOP - 8, name, 11, FAINT, align)
    return sheet


def draw_header(sheet: Sheet, left: int, state: State, visible: Scene, last: Any, viewer: str | None) -> None:
    """Draw the progress, the robot to move or the result, the last action, and the viewer."""
    canvas.write(sheet, left, EDGE + 6, progress_text(state), 13)
    done = min(1.0, int(state["ply"]) / max(1, int(state["max_step"])))
    canvas.fill(sheet, EDGE + 17, left, EDGE + 22, left + COLUMN, TRACK)
    canvas.fill(sheet, EDGE + 17, left, EDGE + 22, left + round(COLUMN * done), FAINT)
    text = turn_text(state)
    if state["over"]:
        canvas.fill(sheet, EDGE + 30, left, EDGE + 50, left + COLUMN, WON if state["winner"] >= 0 else CUT)
        canvas.write(sheet, left + COLUMN / 2, EDGE + 40, text, 14, WHITE, "center")
    else:
        canvas.write(sheet, left, EDGE + 39, text, 14)
    canvas.write(sheet, left, EDGE + 58, status_text(state, last, viewer), 12, FAINT)


def draw_player(sheet: Sheet, top: int, left: int, state: State, visible: Scene, player: int) -> None:
    """Draw a player and its robots."""
    done = count_deliveries(state, visible.robots)[player]
    canvas.place(sheet, top, left, draw_progress(player, done, int(state["required"])))
    for k, robot in enumerate(robot for robot in visible.robots if robot.look.player == player):
        y = top + HEAD + k * ROW
        canvas.place(sheet, y, left, draw_robot_row(robot.look, robot.delivered, robot.agent == visible.acting))


@canvas.cache_drawing(maxsize=1024)
def draw_progress(player: int, done: int, needed: int) -> Sheet:
    """Return the progress bar of a player's deliveries: uint8[HEAD, COLUMN, 3]."""
    sheet = canvas.blank(HEAD, COLUMN)
    canvas.write(sheet, 0, HEAD / 2 - 4, f"player {LETTERS[player]}", 14)
    canvas.write(sheet, COLUMN - 3, HEAD / 2 - 4, f"{done}/{needed}", 13, INK, "right")
    left, right = 66, COLUMN - 13 - canvas.text_width(f"{needed}/{needed}", 13)
    canvas.fill(sheet, 4, left, 18, right, TRACK)
    canvas.fill(sheet, 4, left, 18, left + round((right - left) * min(1.0, done / needed)), tiles.PLAYERS[player])
    return sheet


@canvas.cache_drawing(maxsize=4096)
def draw_robot_row(look: tiles.Look, delivered: int, acting: bool) -> Sheet:
    """Return the row of a robot: its name, battery, mail and number of deliveries: uint8[ROW, COLUMN, 3]."""
    sheet = canvas.blank(ROW, COLUMN, canvas.shade(TURN, DARK_TURN) if acting else canvas.PAPER)
    ink = tiles.PLAYERS[look.player]
    canvas.fill(sheet, 2, 0, ROW - 2, PLATE, ink)
    canvas.write(sheet, PLATE / 2, ROW / 2, look.label, 13, WHITE if shapes.is_dark(ink) else INK, "center")
    if look.battery is not None:
        for unit in range(int(FULL)):
            x = BATTERY + unit * (UNIT + 1)
            canvas.fill(sheet, 7, x, ROW - 7, x + UNIT, tiles.battery_color(look.battery) if unit < look.battery else TRACK)
        canvas.write(sheet, BATTERY + int(FULL) * (UNIT + 1) + 4, ROW / 2, str(look.battery), 13)
    if look.mail:
        canvas.place(sheet, 3, MAIL, tiles.draw_mail(19, look.mail))
    if delivered:
        canvas.write(sheet, COLUMN - 3, ROW / 2, str(delivered), 13, INK, "right")
    return sheet


# ----------------------------------------------------------------------------------------------------------------- mouse


def place_at(state: State, pixel: tuple[float, float], size: int | None = None) -> tuple[int, int] | None:
    """Return row and column of the cell at a pixel (x, y) of a picture of this size; None beside the board."""
    height, width = int(state["height"]), int(state["width"])
    return canvas.cell_at(pixel, EDGE, EDGE, cell_side(height, width, size), height, width)


def point(state: State, x: float, y: float, size: int | None = None) -> Mapping[str, Any]:
    """Return the display options for a pointer at pixel (x, y): the marks related to the cell under it. `size`: as drawn."""
    found = place_at(state, (x, y), size)
    return {} if found is None else {"cell": found[0] * int(state["width"]) + found[1]}


def pick(state: State, pressed: tuple[float, float], released: tuple[float, float]) -> int | None:
    """Return the action of a click: a step towards a cell in the row or column of the robot to move, or standing on its own.

    A drag from the robot to such a cell means the same.
    """
    start, end = place_at(state, pressed), place_at(state, released)
    agent = int(state["to_move"])
    row, column = int(state["y"][agent]), int(state["x"][agent])
    if end is None or start not in (end, (row, column)):
        return None
    down, right = end[0] - row, end[1] - column
    if down and right:
        return None
    if down:
        return BACKWARD if down > 0 else FORWARD
    return (RIGHT if right > 0 else LEFT) if right else STAND
