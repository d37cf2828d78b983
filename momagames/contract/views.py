"""Positions as pictures and text, and people who play: the groups `View` and `Human` of a game."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.contract.parameters import Parameter
from momagames.contract.positions import State
from momagames.errors import one_of

# A line of text: parts with their styles ("bold #e93009"; "": no style)
Line = list[tuple[str, str]]
Cell = tuple[int, int]  # row and column
Slide = tuple[Cell, Cell]  # a piece goes from the first cell to the second one


class Cells(NamedTuple):
    """Square cells of a picture: top, left and side of the first one in pixels, and their numbers."""

    top: int
    left: int
    side: int
    rows: int
    columns: int


@dataclass(frozen=True)
class Animation:
    """Movements of pieces, for pictures between two positions.

    find_slides   (before, after, last action) -> slides of the step between two positions; a piece that enters comes from a
                  cell outside of the board. A piece has the size of a cell
    locate_cells  (state, size) -> where the cells are in a picture of this size
    `View.draw` has the keyword `hidden`: cells whose pieces are left out, in pictures without marks of the last action.
    """

    find_slides: Callable[[State, State, Any], list[Slide]]
    locate_cells: Callable[[State, int | None], Cells]


@dataclass(frozen=True, kw_only=True)
class View:
    """Views of positions.

    draw             (state, last action or None) -> uint8[H, W, 3]; by default a picture of the text. Pictures of a game have
                     one size. One drawn with the functions of `momagames.render.canvas` alone is SVG where that is asked for
    text             (state, last action or None) -> lines, see `Line`; by default the text of the codec. With simultaneous
                     moves the last action is int64[A, P]
    render_options   further keywords of `draw` and `text`, all with defaults. The option "viewer", if there is one, is the
                     name of an agent whose observation is shown, or None
    picture_options  further keywords of `draw` and of `Human.point` alone, all with defaults
    animation        movements of pieces; None: positions fade into each other
    result           final state -> the result in a few words ("player_0 won"), or ""
    """

    draw: Callable[..., Any] | None = None
    text: Callable[..., list[Line]] | None = None
    render_options: tuple[Parameter, ...] = ()
    picture_options: tuple[Parameter, ...] = ()
    animation: Animation | None = None
    result: Callable[[State], str] = lambda state: ""


def make_viewer_option(agents: Sequence[str], doc: str = "view of one agent") -> Parameter:
    """Return the render option `viewer`: the name of an agent, or None for a view of everything."""
    return Parameter("viewer", None, doc, choices=(None, *agents))


@dataclass(frozen=True)
class Keys:
    """Keyboard input in a window.

    choices   name of a key ("up", "space", "3") -> (parts, value): the parts of an action that it sets to that value, one
              after the other if there are several. Part 0 is reset after each step, the other parts keep their values
    help      a line of help text
    """

    choices: Mapping[str, tuple[tuple[int, ...], int]]
    help: str


def _name_action(state: State, action: Any) -> str:
    """Return the number of an action, or its parts."""
    return " ".join(map(str, np.ravel(action).tolist()))


def _read_action(state: State, text: str) -> Any:
    """Return an action from its number, or from its parts."""
    try:
        parts = [int(part) for part in text.replace(",", " ").split()]
    except ValueError:
        parts = []
    if not parts:
        raise ValueError(f"{text!r} is not an action: type its number, or the numbers of its parts")
    return parts[0] if len(parts) == 1 else np.array(parts, np.int64)


def parse_named_action(text: str, names: Sequence[str]) -> int:
    """Return the action of a text: its name, the beginning of it, or its number. Raises ValueError."""
    word = text.strip().lower()
    found = [k for k, name in enumerate(names) if word == str(k) or (word and name.startswith(word))]
    if len(found) != 1:
        raise ValueError(f"{text!r} is not an action: type {one_of(names)} (or 0 to {len(names) - 1})")
    return found[0]


@dataclass(frozen=True, kw_only=True)
class Human:
    """Support for human players.

    keys           actions by key, in a window
    pick           in sequential games: (state, pressed, released) -> the action of pressing a mouse button at one pixel (x, y)
                   of the picture and releasing it at another, or None
    point          (state, x, y) -> render options for a pointer at this pixel of the picture
    action_name    (state, action) -> short text; by default its number
    parse_action   (state, text) -> action; raises ValueError with the expected input
    legal_hint     (state, action, mask) -> the legal actions nearest to an illegal one, as text
    """

    keys: Keys | None = None
    pick: Callable[[State, tuple[float, float], tuple[float, float]], Any] | None = None
    point: Callable[[State, float, float], Mapping[str, Any]] | None = None
    action_name: Callable[[State, Any], str] = _name_action
    parse_action: Callable[[State, str], Any] = _read_action
    legal_hint: Callable[[State, Any, NDArray[np.int8]], str] = lambda state, action, mask: ""
