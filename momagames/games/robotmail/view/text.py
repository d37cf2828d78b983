"""MO-RoboticMail as text."""

from __future__ import annotations

from typing import Any

from momagames.contract import Line, State
from momagames.games.robotmail.rules.state import BLUE, ENTER_BELOW, FULL, GRAY, RED, WHITE, YELLOW
from momagames.games.robotmail.view import tiles
from momagames.games.robotmail.view.scene import (
    LETTERS,
    Robot,
    Scene,
    build_scene,
    count_deliveries,
    progress_text,
    status_text,
    turn_text,
)
from momagames.render import shapes

CELL_WIDTH = 4  # characters of a cell, with the one before it
MAX_SINGLE_ROBOTS = 12  # above this number of robots, a line describes two
BAR = 20  # characters of a progress bar
KEY = ". plain  : start  ' narrow  ### wall  ++ charger  =5 takes mail 5  m5 mail 5"
PLAIN = {WHITE: ":", GRAY: "."}


def format_text(state: State, last: Any = None, viewer: str | None = None, cell: int = -1) -> list[Line]:
    """Return a position as text: four characters for each cell, and a line for each player and robot.

    For the options see `drawing.draw_picture`. The robot to move stands in brackets; cells related to `cell` begin with "!".
    """
    visible = build_scene(state, viewer, cell)
    height, width = visible.color.shape
    standing = {robot.place: robot for robot in visible.robots}
    acting = visible.robots[visible.acting].place if visible.acting >= 0 else (-1, -1)
    lines: list[Line] = [[("   " + "".join(f"{x:>{CELL_WIDTH - 1}} " for x in range(width)).rstrip(), "dim")]]
    for y in range(height):
        line: Line = [(f"{y:>2} ", "dim")]
        for x in range(width):
            edge = "[" if acting == (x, y) else "]" if acting == (x - 1, y) and x else " "
            mark = ("!", "bold magenta") if (x, y) in visible.marked else (edge, "bold")
            line += [mark, symbol(visible, x, y, standing.get((x, y)))]
        lines.append([*line, ("]" if acting == (width - 1, y) else "", "bold")])
    status = "  ".join(part for part in (progress_text(state), turn_text(state), status_text(state, last, viewer)) if part)
    lines += [[(KEY, "dim")], [], [(status, "bold" if state["over"] else "")]]
    for player, done in enumerate(count_deliveries(state, visible.robots)):
        lines += player_lines(player, done, int(state["required"]), visible)
    return lines


def symbol(visible: Scene, x: int, y: int, robot: Robot | None) -> tuple[str, str]:
    """Return three characters for a cell, and their style."""
    if robot is not None:
        return f"{robot.look.label:<3}", player_style(robot.look.player)
    color, target = int(visible.color[y, x]), int(visible.target[y, x])
    ground = f"#000000 on {tiles.CODES[color]}"
    if (x, y) in visible.mails:
        index = visible.mails[x, y]
        return f"m{'?' if index is None else index:<2}", f"bold {ground}"
    if color == YELLOW:
        return f"={target:<2}", f"bold {ground}"
    if color == BLUE:
        return "++ ", f"bold {ground}"
    if color == RED:
        return "###", tiles.CODES[RED]
    plain = "'" if visible.narrow[y, x] else PLAIN[color]
    return f" {plain}{target or ' '}"[:3], "dim"


def player_style(player: int) -> str:
    """Return the text style of a player."""
    ink = "#ffffff" if shapes.is_dark(tiles.PLAYERS[player]) else "#000000"
    return f"bold {ink} on {tiles.PLAYER_CODES[player]}"


def player_lines(player: int, done: int, needed: int, visible: Scene) -> list[Line]:
    """Return the lines of a player and of its robots (one or two robots per line)."""
    full = round(BAR * min(1.0, done / needed))
    lines: list[Line] = [
        [(f" {LETTERS[player]} ", player_style(player)), (f" {'#' * full}{'-' * (BAR - full)} {done}/{needed}", "bold")]
    ]
    own = [robot for robot in visible.robots if robot.look.player == player]
    abreast = 2 if len(visible.robots) > MAX_SINGLE_ROBOTS else 1
    for k in range(0, len(own), abreast):
        lines.append([piece for robot in own[k : k + abreast] for piece in robot_line(robot, robot.agent == visible.acting)])
    return lines


def robot_line(robot: Robot, acting: bool) -> Line:
    """Return the status of a robot: name, place, battery, mail, deliveries."""
    look = robot.look
    x, y = robot.place
    pieces: Line = [
        (f"{'>' if acting else ' '}", "bold"),
        (f"{look.label:<3}", player_style(look.player)),
        (f" {f'({x},{y})':<8}", ""),
    ]
    if look.battery is not None:
        bar = "|" * look.battery + "." * (int(FULL) - look.battery)
        pieces.append((f"{bar} {look.battery:>2}  ", "bold red" if look.battery <= ENTER_BELOW else "green"))
    return [*pieces, (f"{f'mail {look.mail}' if look.mail else '-':<8}", ""), (f"delivered {robot.delivered:<4}", "")]
