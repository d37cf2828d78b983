"""Visible part of a position of MO-RoboticMail: the whole position, or the view of one agent (SPEC §7)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import State
from momagames.games.robotmail.codec import ACTIONS
from momagames.games.robotmail.rules.state import COLOR_BITS, EVENTS, GREEN, MOVED, NARROW, NOTHING, STOOD, YELLOW
from momagames.games.robotmail.view.tiles import Look

LETTERS = "ABCDEF"  # of the players
PLAIN = (NOTHING, STOOD, MOVED)  # events that the action implies
Place = tuple[int, int]  # (x, y)


@dataclass(frozen=True)
class Robot:
    """A visible robot.

    agent   its index
    look    its name, its mail, its battery
    """

    agent: int
    look: Look
    place: Place
    delivered: int


@dataclass(frozen=True)
class Scene:
    """Visible part of a position; grids have a row for each row of the board.

    color     int64[H, W], codes
    narrow    bool[H, W]
    target    int64[H, W], the numbers of the targets map
    mails     green cells with a mail, and its index; None for a hidden index
    marked    cells related to the selected one
    acting    the agent to move; -1 when the game is over
    """

    color: NDArray[np.int64]
    narrow: NDArray[np.bool_]
    target: NDArray[np.int64]
    mails: dict[Place, int | None]
    robots: tuple[Robot, ...]
    marked: frozenset[Place]
    acting: int


def build_scene(state: State, viewer: str | None, cell: int) -> Scene:
    """Return the visible part of a position, see `drawing.draw_picture`."""
    ground, target, waiting = (cell_grid(state, name) for name in ("ground", "target", "waiting"))
    color = ground & COLOR_BITS
    all_robots = list_robots(state)
    occupied = {robot.place for robot in all_robots}
    hidden = viewer is not None and not state["fields"]
    green = [(int(x), int(y)) for y, x in np.argwhere(color == GREEN)]
    mails = {(x, y): None if hidden else int(waiting[y, x]) for x, y in green if (x, y) not in occupied}
    at = (cell % color.shape[1], cell // color.shape[1])
    return Scene(
        color=color,
        narrow=(ground & NARROW) != 0,
        target=target,
        mails=mails,
        robots=all_robots,
        marked=related_cells(at, color, target, mails, all_robots) if cell >= 0 else frozenset(),
        acting=-1 if state["over"] else int(state["to_move"]),
    )


def cell_grid(state: State, name: str) -> NDArray[np.int64]:
    """Return a field of cells as int64[H, W], without the border."""
    height, width = int(state["height"]), int(state["width"])
    cells = state[name][: (height + 2) * (width + 1)].reshape(height + 2, width + 1)
    board: NDArray[np.int64] = cells[1 : height + 1, :width].astype(np.int64)
    return board


def list_robots(state: State) -> tuple[Robot, ...]:
    """Return all robots, by agent."""
    team, count = int(state["team"]), int(state["players"]) * int(state["team"])
    columns = [state[name][:count].tolist() for name in ("x", "y", "mail", "battery", "delivered")]
    powered = bool(state["with_battery"])
    return tuple(
        Robot(i, Look(i // team, f"{LETTERS[i // team]}{i}", mail, math.ceil(battery) if powered else None), (x, y), delivered)
        for i, (x, y, mail, battery, delivered) in enumerate(zip(*columns, strict=True))
    )


def related_cells(
    at: Place,
    color: NDArray[np.int64],
    target: NDArray[np.int64],
    mails: dict[Place, int | None],
    robots: tuple[Robot, ...],
) -> frozenset[Place]:
    """Return the cells related to a cell.

    For a robot: receivers of its mail, or all mails if it has none. For a mail: its receivers. For a receiver: the robots and
    mails with its index.
    """
    selected = next((robot for robot in robots if robot.place == at), None)
    if selected is not None and not selected.look.mail:
        return frozenset(mails)
    if selected is None and color[at[1], at[0]] == YELLOW:
        index = int(target[at[1], at[0]])
        bringing = {robot.place for robot in robots if robot.look.mail == index}
        return frozenset(bringing | {place for place, mail in mails.items() if mail == index})
    wanted = selected.look.mail if selected else mails.get(at)
    receivers = np.argwhere((color == YELLOW) & (target == wanted)) if wanted else ()
    return frozenset((int(x), int(y)) for y, x in receivers)


# ------------------------------------------------------------------------------------------------------------- in words


def progress_text(state: State) -> str:
    """Return the progress of the game as text."""
    return f"step {int(state['ply'])} of {int(state['max_step'])}"


def turn_text(state: State) -> str:
    """Return the robot to move and the steps left in its turn as text; or the result."""
    if state["over"]:
        return ending_text(state)
    agent, left = int(state["to_move"]), int(state["left"])
    return f"robot_{agent} to move, {left} {'step' if left == 1 else 'steps'} left"


def ending_text(state: State) -> str:
    """Return the end of a finished game as text."""
    return result_text(state) or "cut off"


def result_text(state: State) -> str:
    """Return the winner of a finished game as text, or ""."""
    if state["winner"] < 0:
        return ""
    return f"player {LETTERS[int(state['winner'])]} has won" + (" at the limit" if state["truncated"] else "")


def status_text(state: State, last: Any, viewer: str | None) -> str:
    """Return the viewer and the last step as text."""
    texts = [] if viewer is None else [f"as {viewer} sees it"]
    if last is not None:
        event = int(state["event"])
        texts.append(f"last: {ACTIONS[int(last)]}" + ("" if event in PLAIN else f", {EVENTS[event]}"))
    return "; ".join(texts)


def count_deliveries(state: State, all_robots: tuple[Robot, ...]) -> list[int]:
    """Return the number of mails delivered by each player."""
    return [
        sum(robot.delivered for robot in all_robots if robot.look.player == player) for player in range(int(state["players"]))
    ]
