"""Positions of MO-SameGame as text and as data (SPEC §2.2, §9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Codec, State
from momagames.errors import InvalidState
from momagames.games import board_codec
from momagames.games.samegame import rules

SYMBOLS = ".123456789a"


def unpack_board(state: State) -> NDArray[np.int64]:
    """Return the board, int64[H, W]: 0 empty, 1..C colors, row 0 on top."""
    height, width = int(state["height"]), int(state["width"])
    flat = state["board"][rules.GUARD : rules.GUARD + height * width]
    board: NDArray[np.int64] = flat.astype(np.int64) & int(rules.COLOR)
    return board.reshape(height, width)


def pack_board(board: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
    """Write a board, int64[H, W], in the form of the rules, to the bytes of a record."""
    odd = int(rules.ODD) * (np.arange(len(board)) % 2)[:, None]
    out[rules.GUARD : rules.GUARD + board.size] = (board + odd).ravel()


def action_objectives(states: NDArray[Any]) -> NDArray[np.int64]:
    """Return the color of the cell of each action, int64[N, M]: 0..C-1, -1 for an empty cell."""
    cells = int(states["height"][0]) * int(states["width"][0])
    return (states["board"][:, rules.GUARD : rules.GUARD + cells] & rules.COLOR).astype(np.int64) - 1


def format_board(state: State) -> list[str]:
    """Return the board as H strings."""
    return board_codec.format_board(unpack_board(state), SYMBOLS)


def parse_board(state: State, board: Any) -> NDArray[np.int64]:
    """Return an int array [H, W] from H strings or an array. Raises InvalidState if it does not fit the game."""
    colors = int(state["colors"])
    symbols = SYMBOLS[: colors + 1]
    allowed = f"0 (empty) to {colors}, as symbols {symbols!r}"
    array = board_codec.parse_board(board, int(state["height"]), int(state["width"]), symbols, allowed)
    floating = (array[:-1] > 0) & (array[1:] == 0)
    if floating.any():
        y, x = np.argwhere(floating)[0]
        raise InvalidState(f"board row {y}, column {x}: a tile hangs above an empty cell; tiles lie on the bottom (§4.2)")
    used = array[-1] > 0
    if (used[1:] & ~used[:-1]).any():
        x = int(np.argwhere(used[1:] & ~used[:-1])[0][0])
        raise InvalidState(f"board column {x} is empty but column {x + 1} is not; columns close to the left (§4.3)")
    return array


def agent_names(state: State) -> list[str]:
    return [f"agent_{i}" for i in range(int(state["agents"]))]


def load(state: State, given: Mapping[str, Any]) -> None:
    """§2.2 Fill a state from `board` and, if given, `next_agent` (or `first_agent`), `ply` and `rng`."""
    mover = board_codec.parse_next_agent(given, agent_names(state))
    board = parse_board(state, given["board"])
    height, width = board.shape
    pack_board(board, state["board"])
    state["tiles"] = int((board > 0).sum())
    board_codec.load_header(state, given, mover, (height * width - int(state["tiles"])) // 2)  # §6.2


def save(state: State) -> dict[str, Any]:
    """Return the position as JSON-serializable data, the form that `load` takes."""
    return board_codec.save(state, format_board(state), agent_names(state))


def show(state: State) -> str:
    """Return the position as text: a line of keys, then the rows from the top."""
    return board_codec.show(save(state))


CODEC = Codec(save, load, board_codec.KEYS, show, board_codec.read, rules.PARAMETERS)
FIXED_CODEC = replace(CODEC, parameters=(*rules.PARAMETERS, "fixed_board"))


def action_name(state: State, action: Any) -> str:
    """Return column and row of the cell, from 0, as (x,y)."""
    return board_codec.format_cell(int(action), int(state["width"]))


def parse_action(state: State, text: str) -> int:
    """Return the action of 'x y' or 'x,y', or of its number."""
    return board_codec.parse_cell(text, int(state["width"]))


def nearest_legal(state: State, action: Any, mask: NDArray[np.int8]) -> str:
    """Return the legal cells nearest to an action as text, for error messages."""
    return board_codec.format_nearest_cells(int(action), mask, int(state["width"]))


def momaland_board(seed: int, board_width: int = 15, board_height: int = 15, num_colors: int = 5) -> NDArray[np.int64]:
    """Return the board that momaland 0.2.0 generates for a seed, int64[H, W], to reproduce published runs.

    >>> momaland_board(0, 3, 3, 2).tolist()
    [[2, 1, 1], [2, 1, 1], [2, 1, 1]]
    """
    drawn = np.random.default_rng(seed).integers(1, num_colors + 1, size=(board_width, board_height))
    return drawn.T.astype(np.int64)
