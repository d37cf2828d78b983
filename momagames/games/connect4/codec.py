"""Positions of MO-Connect4 as text and as data (SPEC §2.2, §9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Codec, State, position_number
from momagames.errors import InvalidState, invalid_value
from momagames.games import board_codec
from momagames.games.connect4 import rules

SYMBOLS = ".12"
PLAYERS = ("player_0", "player_1")
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
LINE = 4


def unpack_board(state: State) -> NDArray[np.int64]:
    """Return the board, int64[H, W]: 0 empty, 1 player_0, 2 player_1, the top row first."""
    height, width = int(state["height"]), int(state["width"])
    tokens = state["tokens"][:, rules.EDGE : rules.EDGE + width]
    planes = (tokens[:, None] >> np.arange(height, dtype=np.uint32)[:, None]) & 1
    return np.where(planes[1], 2, planes[0]).astype(np.int64)


def find_line(board: NDArray[np.int64], side: int) -> list[tuple[int, int]]:
    """Return the cells (row, column) of the first line of four of a side, from one end to the other; none without one."""
    own = {(int(y), int(x)) for y, x in np.argwhere(board == 1 + side)}
    for y, x in sorted(own):
        for dy, dx in DIRECTIONS:
            cells = [(y + k * dy, x + k * dx) for k in range(LINE)]
            if own.issuperset(cells):
                return cells
    return []


def parse_board(state: State, board: Any) -> NDArray[np.int64]:
    """Return an int array [H, W] from H strings or an array. Raises InvalidState for an impossible board."""
    height, width = int(state["height"]), int(state["width"])
    array = board_codec.parse_board(board, height, width, SYMBOLS, "0 or '.' (empty), 1 (player_0), 2 (player_1)")
    floating = np.argwhere((array[:-1] > 0) & (array[1:] == 0))
    if len(floating):
        y, x = floating[0].tolist()
        raise InvalidState(f"board row {y}, column {x}: a token lies above an empty cell (§2.2)")
    counts = [int((array == side).sum()) for side in (1, 2)]
    if counts[0] - counts[1] not in (0, 1):
        raise InvalidState(f"player_0 has {counts[0]} tokens and player_1 {counts[1]}; expected as many, or one more (§2.2)")
    for side, player in enumerate(PLAYERS):
        if line := find_line(array, side):
            y, x = line[0]
            raise InvalidState(f"board row {y}, column {x}: {player} has a line of four, the game is over (§6.1)")
    if array.all():
        raise InvalidState("all cells of the board are full, the game is over (§6.1)")
    return array


def load(state: State, given: Mapping[str, Any]) -> None:
    """§2.2 Fill a state from `board` and, if given, `rng`; `next_agent` (or `first_agent`) and `ply` follow from the board."""
    board_codec.parse_next_agent(given, PLAYERS)
    board = parse_board(state, given["board"])
    height, width = board.shape
    ply = int((board > 0).sum())
    expected = PLAYERS[ply % 2]
    for key in ("next_agent", "first_agent"):
        if given.get(key, expected) != expected:
            raise InvalidState(invalid_value(key, given[key], f"{expected!r}, since the board has {ply} tokens (§2.2)"))
    state["tokens"] = 0
    for side in range(2):
        bits = (board == 1 + side) * (1 << np.arange(height))[:, None]
        state["tokens"][side, rules.EDGE : rules.EDGE + width] = bits.sum(axis=0)
    board_codec.load_header(state, given, ply % 2, height * width)
    state["ply"] = position_number({"ply": ply, **given}, "ply", ply, ply)


def save(state: State) -> dict[str, Any]:
    """Return the position as JSON-serializable data, the form that `load` takes."""
    return board_codec.save(state, board_codec.format_board(unpack_board(state), SYMBOLS), PLAYERS)


def show(state: State) -> str:
    """Return the position as text: a line of keys, then the rows from the top on."""
    return board_codec.show(save(state))


CODEC = Codec(save, load, board_codec.KEYS, show, board_codec.read, rules.PARAMETERS)
