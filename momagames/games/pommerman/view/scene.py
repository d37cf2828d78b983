"""Visible part of a position of MO-Pommerman: the whole position, or the view of one agent (SPEC §7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import State
from momagames.games.pommerman.rules.state import BURNS, FOG, RADIO, RIGID, TEAM, WOOD
from momagames.games.pommerman.view.tiles import UNKNOWN_OWNER, Bomb

MOVES = ("stands", "up", "down", "left", "right", "bomb")


@dataclass(frozen=True)
class Person:
    """An agent. Unknown values are None.

    ammo, strength, kick   as in the position
    said                   its words in the last step
    did                    its last action in a word
    """

    seat: int
    alive: bool
    ammo: int | None
    strength: int | None
    kick: bool | None
    said: tuple[int, ...] | None
    did: str | None


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
    people: tuple[Person, ...]
    teams: bool
    ring: int


def scene(state: State, last: Any, viewer: str | None, blasts: bool, cell: int) -> Scene:
    """Return the visible part of a position, see `drawing.picture`."""
    size, seats = int(state["size"]), int(state["seats"])
    watcher = None if viewer is None else int(viewer.removeprefix("agent_"))
    seen = visible_cells(state, watcher)
    board = state["board"][: size * size].reshape(size, size).astype(np.int64)
    fire = state["fire"][: size * size].reshape(size, size)
    life = np.where(fire & BURNS[2], 2, np.where(fire & BURNS[1], 1, 0))
    bombs, asked = {}, []
    for k in range(int(state["bombs"])):
        place = int(state["bomb_row"][k]), int(state["bomb_col"][k])
        if seen[place]:
            owner = UNKNOWN_OWNER if watcher is not None else int(state["bomb_owner"][k])
            bombs[place] = Bomb(int(state["bomb_life"][k]), int(state["bomb_direction"][k]), owner)
            if blasts or cell == place[0] * size + place[1]:
                asked.append((place, int(state["bomb_strength"][k])))
    blast = np.zeros((size, size), bool)
    for place, strength in asked:
        reach(board, place, strength, blast)
    graves = {(int(state["row"][i]), int(state["col"][i])): i for i in range(seats) if not state["alive"][i]}
    return Scene(
        board=np.where(seen, board, FOG),
        life=life,
        bombs=bombs,
        blast=blast & seen,
        graves=graves if watcher is None else {place: i for place, i in graves.items() if i == watcher},
        people=tuple(person(state, last, i, watcher) for i in range(seats)),
        teams=int(state["mode"]) in (TEAM, RADIO),
        ring=int(state["falling"]),
    )


def visible_cells(state: State, watcher: int | None) -> NDArray[np.bool_]:
    """§7 O3 Return the cells that an agent sees, bool[n, n]; all cells for None."""
    size, view = int(state["size"]), int(state["view"])
    if watcher is None or view == 0:
        return np.ones((size, size), bool)
    near = [abs(np.arange(size) - int(state[axis][watcher])) <= view for axis in ("row", "col")]
    return np.logical_and.outer(*near)


def person(state: State, last: Any, seat: int, watcher: int | None) -> Person:
    """§7 O5, O10 Return an agent as the watcher sees it: others' equipment and actions are hidden, messages go to the mate."""
    own = watcher in (None, seat)
    hears = own or (watcher is not None and watcher == seat ^ 2)
    return Person(
        seat=seat,
        alive=bool(state["alive"][seat]),
        ammo=int(state["ammo"][seat]) if own else None,
        strength=int(state["strength"][seat]) if own else None,
        kick=bool(state["kick"][seat]) if own else None,
        said=tuple(int(word) for word in state["message"][seat]) if hears and int(state["mode"]) == RADIO else None,
        did=MOVES[int(np.reshape(last, (int(state["seats"]), -1))[seat, 0])] if own and last is not None else None,
    )


def reach(board: NDArray[np.int64], place: tuple[int, int], strength: int, blast: NDArray[np.bool_]) -> None:
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


def progress(state: State) -> str:
    """Return the progress of the game as text."""
    return f"step {int(state['ply'])} of {int(state['max_steps'])}"


def falls(state: State) -> range:
    """§4.11 W1 The steps after which a ring of the board falls."""
    first, steps = int(state["first_collapse"]), int(state["max_steps"])
    return range(first, steps, (steps - first) // 4) if first else range(0)


def news(state: State, viewer: str | None) -> str:
    """Return the current status: the result, falling walls, or the viewer."""
    if state["over"]:
        return ending(state)
    if state["falling"] >= 0:
        return "the marked ring falls now"
    if viewer is not None:
        return f"as {viewer} sees it"
    coming = [step for step in falls(state) if step > int(state["ply"])]
    return f"a ring falls at step {coming[0]}" if coming else ""


def ending(state: State) -> str:
    """Return the winners as text."""
    names = [str(seat) for seat in range(int(state["seats"])) if int(state["winners"]) >> seat & 1]
    if len(names) > 1:
        return f"agents {' and '.join(names)} have won"
    return f"agent_{names[0]} has won" if names else "no agent has won"


def carries(person: Person) -> tuple[str, str, str]:
    """Return ammunition, blast strength and kick as short texts; "" for unknown values."""
    if person.ammo is None:
        return "", "", ""
    return str(person.ammo), str(person.strength), "yes" if person.kick else "no"


def words(said: tuple[int, ...]) -> str:
    """Return a message as text."""
    return f"says {' '.join(map(str, said))}" if any(said) else "silent"
