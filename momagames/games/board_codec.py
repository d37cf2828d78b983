"""Positions of games on a board of cells: rows of symbols, the dict form and the text form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import State, check_position, load_rng, parse_field, position_number
from momagames.errors import InvalidState, invalid_value

BETWEEN_CELLS = re.compile(r"(?<=[\d)])\s*-\s*(?=[\d(])")
KEYS = ("board", "next_agent", "first_agent", "ply", "rng")


def format_board(board: NDArray[np.int64], symbols: str) -> list[str]:
    """Return a board int64[H, W] as H strings, the form of recorded games."""
    return ["".join(symbols[k] for k in row) for row in board]


def parse_board(board: Any, height: int, width: int, symbols: str, allowed: str) -> NDArray[np.int64]:
    """Return a board as int64[H, W] from H strings or integers [H, W]; integer k is the k-th symbol.

    allowed   description of the symbols or integers, for error messages
    Raises    InvalidState with row and column
    """
    if isinstance(board, str):
        board = board.split()
    if isinstance(board, (list, tuple)) and board and all(isinstance(row, str) for row in board):
        if len({len(row) for row in board}) != 1:
            raise InvalidState(f"board rows differ in length: {[len(row) for row in board]}")
        fits = (len(board), len(board[0])) == (height, width)
        board = _parse_symbols(board, symbols, allowed) if fits else [list(row) for row in board]
    try:
        array = np.asarray(board)
    except ValueError as error:
        raise InvalidState(f"board is neither {height} strings nor an int array [{height}, {width}]: {error}") from None
    if array.shape != (height, width) or array.dtype.kind not in "iu":
        raise InvalidState(
            f"board has shape {array.shape} of {array.dtype}; this game needs whole numbers [{height}, {width}] "
            f"or {height} strings of {width} characters"
        )
    wrong = (array < 0) | (array >= len(symbols))
    if wrong.any():
        y, x = np.argwhere(wrong)[0]
        raise InvalidState(invalid_value(f"board row {y}, column {x}: cell", int(array[y, x]), allowed))
    return array.astype(np.int64)


def _parse_symbols(board: Sequence[str], symbols: str, allowed: str) -> list[list[int]]:
    for y, row in enumerate(board):
        for x, symbol in enumerate(row):
            if symbol not in symbols:
                raise InvalidState(invalid_value(f"board row {y}, column {x}: cell", symbol, allowed))
    return [[symbols.index(symbol) for symbol in row] for row in board]


def parse_next_agent(given: Mapping[str, Any], agents: Sequence[str]) -> int:
    """Return the index of the agent to move. Raises InvalidState for a missing board and for unknown keys or agents."""
    check_position(given, KEYS, needed="board")
    mover = given.get("next_agent", given.get("first_agent", agents[0]))
    if mover not in agents:
        raise InvalidState(f"invalid next_agent={mover!r}: expected {', '.join(agents)}")
    return agents.index(mover)


def load_header(state: State, given: Mapping[str, Any], mover: int, most_plies: int) -> None:
    """Set the agent to move, the plies made (at most `most_plies`) and, if given, the random word."""
    state["to_move"] = mover
    state["ply"] = position_number(given, "ply", 0, most_plies)
    load_rng(state, given)


def save(state: State, board: list[str], agents: Sequence[str]) -> dict[str, Any]:
    """Return the dict form that `load` accepts, in JSON types. A foreign record may name an agent that does not exist."""
    mover = int(state["to_move"])
    name = agents[mover] if 0 <= mover < len(agents) else f"number {mover}"
    return {"board": board, "next_agent": name, "ply": int(state["ply"]), "rng": int(state["rng"])}


def show(position: Mapping[str, Any]) -> str:
    """Return the dict form as text: a line of the other items, then the rows of the board."""
    header = " ".join(f"{key}={value}" for key, value in position.items() if key != "board")
    return "\n".join([header, *position["board"]])


def read(text: str) -> dict[str, Any]:
    """Return the dict form of the text that `show` writes."""
    header, *board = text.strip().splitlines() or [""]
    position: dict[str, Any] = dict(item.partition("=")[::2] for item in header.split())
    return {**position, "board": [row.strip() for row in board]}


def format_items(position: Mapping[str, Any]) -> list[str]:
    """Return the items of a position as lines name=value, values in JSON."""
    return [f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in position.items()]


def parse_items(text: str) -> tuple[dict[str, Any], list[str]]:
    """Parse the output of `format_items`; return the values by name, and the other words. Raises InvalidState."""
    position: dict[str, Any] = {}
    rest = []
    for word in text.split():
        name, equals, value = word.partition("=")
        if not equals:
            rest.append(word)
            continue
        position[name] = parse_field(value, name)
    return position, rest


def parse_integers(text: str) -> list[int]:
    """Return the integers of a text with commas, brackets and "-" between cells; an empty list if it holds anything else."""
    try:
        return [int(part) for part in BETWEEN_CELLS.sub(" ", text).translate(str.maketrans(",()", "   ")).split()]
    except ValueError:
        return []


def format_cell(action: int, width: int) -> str:
    """Return column and row, from 0, of the cell of an action, as (x,y)."""
    y, x = divmod(action, width)
    return f"({x},{y})"


def parse_cell(text: str, width: int) -> int:
    """Return the action of a cell from 'x y', 'x,y' or its number. Raises ValueError."""
    given = parse_integers(text)
    if len(given) == 1:
        return given[0]
    if len(given) == 2 and 0 <= given[0] < width:
        return given[1] * width + given[0]
    raise ValueError(f"{text!r} is not a cell: expected column and row, such as '3 14'")


def format_nearest_cells(action: int, mask: NDArray[np.int8], width: int) -> str:
    """Return the legal cells nearest to an action as text, for error messages."""
    legal = np.flatnonzero(mask)
    if not len(legal) or not 0 <= action < len(mask):
        return ""
    y, x = divmod(action, width)
    distance = abs(legal // width - y) + abs(legal % width - x)
    closest = legal[np.argsort(distance, kind="stable")[:3]]
    return "nearest legal cells (x,y): " + ", ".join(f"{format_cell(int(a), width)} = {a}" for a in closest)
