"""What is shown of a position of MO-RoboticMail, to somebody who sees everything or to one agent (SPEC §7)."""

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
PLAIN = (NOTHING, STOOD, MOVED)  # events that the action says already
Place = tuple[int, int]  # (x, y)


@dataclass(frozen=True)
class Robot:
    """A robot as it is shown.

    agent   its index
    look    its name, what it carries, its battery
    """

    agent: int
    look: Look
    place: Place
    delivered: int


@dataclass(frozen=True)
class Scene:
    """What is shown of a position; grids have a row for each row of the board.

    color     int64[H, W], codes
    narrow    bool[H, W]
    target    int64[H, W], the numbers of the targets map
    mails     which green cells have a mail, and its index; None for one that is not to be seen
    marked    cells that go with the one that was asked for
    acting    the agent to move; -1 when the game is over
    """

    color: NDArray[np.int64]
    narrow: NDArray[np.bool_]
    target: NDArray[np.int64]
    mails: dict[Place, int | None]
    robots: tuple[Robot, ...]
    marked: frozenset[Place]
    acting: int


def scene(state: State, viewer: str | None, cell: int) -> Scene:
    """What is shown, see `draw.picture`."""
    ground, target, waiting = (grid(state, name) for name in ("ground", "target", "waiting"))
    color = ground & COLOR_BITS
    everybody = robots(state)
    taken = {robot.place for robot in everybody}
    hidden = viewer is not None and not state["fields"]
    green = [(int(x), int(y)) for y, x in np.argwhere(color == GREEN)]
    mails = {(x, y): None if hidden else int(waiting[y, x]) for x, y in green if (x, y) not in taken}
    at = (cell % color.shape[1], cell // color.shape[1])
    return Scene(
        color=color,
        narrow=(ground & NARROW) != 0,
        target=target,
        mails=mails,
        robots=everybody,
        marked=partners(at, color, target, mails, everybody) if cell >= 0 else frozenset(),
        acting=-1 if state["over"] else int(state["to_move"]),
    )


def grid(state: State, name: str) -> NDArray[np.int64]:
    """A field of cells as int64[H, W], without what lies around the board."""
    height, width = int(state["height"]), int(state["width"])
    cells = state[name][: (height + 2) * (width + 1)].reshape(height + 2, width + 1)
    board: NDArray[np.int64] = cells[1 : height + 1, :width].astype(np.int64)
    return board


def robots(state: State) -> tuple[Robot, ...]:
    """All robots, by agent."""
    team, count = int(state["team"]), int(state["players"]) * int(state["team"])
    columns = [state[name][:count].tolist() for name in ("x", "y", "mail", "battery", "delivered")]
    powered = bool(state["with_battery"])
    return tuple(
        Robot(i, Look(i // team, f"{LETTERS[i // team]}{i}", mail, math.ceil(battery) if powered else None), (x, y), delivered)
        for i, (x, y, mail, battery, delivered) in enumerate(zip(*columns, strict=True))
    )


def partners(
    at: Place,
    color: NDArray[np.int64],
    target: NDArray[np.int64],
    mails: dict[Place, int | None],
    bots: tuple[Robot, ...],
) -> frozenset[Place]:
    """The cells that go with one.

    For a robot where it can go: receivers of its mail, or mails if it has none. For a mail that lies there its receivers. For
    a receiver the robots and mails with its index.
    """
    here = next((robot for robot in bots if robot.place == at), None)
    if here is not None and not here.look.mail:
        return frozenset(mails)
    if here is None and color[at[1], at[0]] == YELLOW:
        index = int(target[at[1], at[0]])
        bringing = {robot.place for robot in bots if robot.look.mail == index}
        return frozenset(bringing | {place for place, mail in mails.items() if mail == index})
    wanted = here.look.mail if here else mails.get(at)
    receivers = np.argwhere((color == YELLOW) & (target == wanted)) if wanted else ()
    return frozenset((int(x), int(y)) for y, x in receivers)


# ------------------------------------------------------------------------------------------------------------- in words


def progress(state: State) -> str:
    """How far the game is."""
    return f"step {int(state['ply'])} of {int(state['max_step'])}"


def turn(state: State) -> str:
    """Whose turn it is, and how many steps are left in it; or how the game ended."""
    if state["over"]:
        return ending(state)
    agent, left = int(state["to_move"]), int(state["left"])
    return f"robot_{agent} to move, {left} {'step' if left == 1 else 'steps'} left"


def ending(state: State) -> str:
    """How a game that is over has ended."""
    if state["winner"] >= 0:
        return f"player {LETTERS[int(state['winner'])]} has won" + (" at the limit" if state["truncated"] else "")
    return "cut off"


def news(state: State, last: Any, viewer: str | None) -> str:
    """What the last step was, and who looks on."""
    said = [] if viewer is None else [f"as {viewer} sees it"]
    if last is not None:
        event = int(state["event"])
        said.append(f"last: {ACTIONS[int(last)]}" + ("" if event in PLAIN else f", {EVENTS[event]}"))
    return "; ".join(said)


def scores(state: State, everybody: tuple[Robot, ...]) -> list[int]:
    """What each player has delivered."""
    return [
        sum(robot.delivered for robot in everybody if robot.look.player == player) for player in range(int(state["players"]))
    ]
