"""Visible part of a position of MO-Pommerman: the whole position, or the view of one agent (SPEC §7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import State
from momagames.games.pommerman.rules.state import FLAME_BITS, FOG, RADIO, RIGID, TEAM, WOOD
from momagames.games.pommerman.view.tiles import UNKNOWN_OWNER, Bomb

MOVES = ("stands", "up", "down", "left", "right", "bomb")


@dataclass(frozen=True)
class AgentView:
    """Visible attributes of an agent. Unknown values are None.

    ammo, strength, kick   as in the position
    message                its words in the last step
    action                 name of its last action
    """

    seat: int
    alive: bool
    ammo: int | None
    strength: int | None
    kick: bool | None
    message: tuple[int, ...] | None
    action: str | None


@dataclass(frozen=True)
class Scene:
    """Visible part of a position.

    board     int64[n, n], codes with fog
    life      int64[n, n], of the flames
    bombs     by cell (row, column)
    blast     bool[n, n], cells in the range of the selected bombs
    graves    agents that died, by cell
    ring      the ring that falls before the next step, -1: none
    """

    board: NDArray[np.int64]
    life: NDArray[np.int64]
    bombs: dict[tuple[int, int], Bomb]
    blast: NDArray[np.bool_]
    graves: dict[tuple[int, int], int]
    agents: tuple[AgentView, ...]
    teams: bool
    ring: int


def build_scene(state: State, last: Any, viewer: str | None, blasts: bool, cell: int) -> Scene:
    """Return the visible part of a position, see `drawing.draw_picture`."""
    size, seats = int(state["size"]), int(state["seats"])
    viewer_seat = None if viewer is None else int(viewer.removeprefix("agent_"))
    visible = visible_cells(state, viewer_seat)
    board = state["board"][: size * size].reshape(size, size).astype(np.int64)
    fire = state["fire"][: size * size].reshape(size, size)
    life = np.where(fire & FLAME_BITS[2], 2, np.where(fire & FLAME_BITS[1], 1, 0))
    bombs, selected = {}, []
    for k in range(int(state["bombs"])):
        place = int(state["bomb_row"][k]), int(state["bomb_col"][k])
        if visible[place]:
            owner = UNKNOWN_OWNER if viewer_seat is not None else int(state["bomb_owner"][k])
            bombs[place] = Bomb(int(state["bomb_life"][k]), int(state["bomb_direction"][k]), owner)
            if blasts or cell == place[0] * size + place[1]:
                selected.append((place, int(state["bomb_strength"][k])))
    blast = np.zeros((size, size), bool)
    for place, strength in selected:
        mark_blast(board, place, strength, blast)
    graves = {(int(state["row"][i]), int(state["col"][i])): i for i in range(seats) if not state["alive"][i]}
    return Scene(
        board=np.where(visible, board, FOG),
        life=life,
        bombs=bombs,
        blast=blast & visible,
        graves=graves if viewer_seat is None else {place: i for place, i in graves.items() if i == viewer_seat},
        agents=tuple(view_agent(state, last, i, viewer_seat) for i in range(seats)),
        teams=int(state["mode"]) in (TEAM, RADIO),
        ring=int(state["falling"]),
    )


def visible_cells(state: State, viewer_seat: int | None) -> NDArray[np.bool_]:
    """§7 O3 Return the cells that an agent sees, bool[n, n]; all cells for None."""
    size, view = int(state["size"]), int(state["view"])
    if viewer_seat is None or view == 0:
        return np.ones((size, size), bool)
    near = [abs(np.arange(size) - int(state[axis][viewer_seat])) <= view for axis in ("row", "col")]
    return np.logical_and.outer(*near)


def view_agent(state: State, last: Any, seat: int, viewer_seat: int | None) -> AgentView:
    """§7 O5, O10 Return the visible attributes of an agent.

    A viewer sees the equipment and action of no other agent, and the message of its mate only.
    """
    own = viewer_seat in (None, seat)
    hears = own or (viewer_seat is not None and viewer_seat == seat ^ 2)
    return AgentView(
        seat=seat,
        alive=bool(state["alive"][seat]),
        ammo=int(state["ammo"][seat]) if own else None,
        strength=int(state["strength"][seat]) if own else None,
        kick=bool(state["kick"][seat]) if own else None,
        message=tuple(int(word) for word in state["message"][seat]) if hears and int(state["mode"]) == RADIO else None,
        action=MOVES[int(np.reshape(last, (int(state["seats"]), -1))[seat, 0])] if own and last is not None else None,
    )


def mark_blast(board: NDArray[np.int64], place: tuple[int, int], strength: int, blast: NDArray[np.bool_]) -> None:
    """§4.8 B8 Mark the cells that a bomb of this strength covers."""
    size = len(board)
    blast[place] = True
    for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        row, col = place
        for _ in range(strength - 1):
            row, col = row + down, col + right
            if not (0 <= row < size and 0 <= col < size) or board[row, col] == RIGID:
                break
            blast[row, col] = True
            if board[row, col] == WOOD:
                break


def progress_text(state: State) -> str:
    """Return the progress of the game as text."""
    return f"step {int(state['ply'])} of {int(state['max_steps'])}"


def collapse_steps(state: State) -> range:
    """§4.11 W1 Return the steps after which a ring of the board falls."""
    first, steps = int(state["first_collapse"]), int(state["max_steps"])
    return range(first, steps, (steps - first) // 4) if first else range(0)


def status_text(state: State, viewer: str | None) -> str:
    """Return the current status: the result, falling walls, or the viewer."""
    if state["over"]:
        return ending_text(state)
    if state["falling"] >= 0:
        return "the marked ring falls now"
    if viewer is not None:
        return f"as {viewer} sees it"
    upcoming = [step for step in collapse_steps(state) if step > int(state["ply"])]
    return f"a ring falls at step {upcoming[0]}" if upcoming else ""


def ending_text(state: State) -> str:
    """Return the winners as text."""
    names = [str(seat) for seat in range(int(state["seats"])) if int(state["winners"]) >> seat & 1]
    if len(names) > 1:
        return f"agents {' and '.join(names)} have won"
    return f"agent_{names[0]} has won" if names else "no agent has won"


def equipment_texts(agent: AgentView) -> tuple[str, str, str]:
    """Return ammunition, blast strength and kick as short texts; "" for unknown values."""
    if agent.ammo is None:
        return "", "", ""
    return str(agent.ammo), str(agent.strength), "yes" if agent.kick else "no"


def message_text(message: tuple[int, ...]) -> str:
    """Return a message as text."""
    return f"says {' '.join(map(str, message))}" if any(message) else "silent"
