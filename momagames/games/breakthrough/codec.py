"""Positions of MO-Breakthrough as text and as data (SPEC §2.2, §9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Codec, State
from momagames.errors import InvalidState
from momagames.games import board_codec
from momagames.games.breakthrough import rules

SYMBOLS = ".12"
PLAYERS = ("player_0", "player_1")


def unpack_board(state: State) -> NDArray[np.int64]:
    """Return the board, int64[H, W]: 0 empty, 1 player_0, 2 player_1, row 0 (player_0's home) first."""
    height, width = int(state["height"]), int(state["width"])
    board = np.zeros((width, height), np.int64)
    for side in range(2):
        words = state["pieces"][side, 1:-1].copy()
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")[: width * height]
        board += (1 + side) * bits.reshape(width, height)
    return board.T


def format_board(state: State) -> list[str]:
    """Return the board as H strings."""
    return board_codec.format_board(unpack_board(state), SYMBOLS)


def parse_board(state: State, board: Any) -> NDArray[np.int64]:
    """Return an int array [H, W] from H strings or an array. Raises InvalidState for an impossible board."""
    height, width = int(state["height"]), int(state["width"])
    array = board_codec.parse_board(board, height, width, SYMBOLS, "0 or '.' (empty), 1 (player_0), 2 (player_1)")
    for side, goal in ((1, height - 1), (2, 0)):
        count = int((array == side).sum())
        if not 1 <= count <= 2 * width:
            raise InvalidState(f"{PLAYERS[side - 1]} has {count} pieces; expected 1 to {2 * width} (§2.2)")
        if (array[goal] == side).any():
            x = int(np.argmax(array[goal] == side))
            raise InvalidState(
                f"board row {goal}, column {x}: {PLAYERS[side - 1]} stands on its goal row, the game is over (§6.1)"
            )
    return array


def count_moves_left(board: NDArray[np.int64]) -> int:
    """§6.2 Return the largest number of moves of the pieces that enter no goal row."""
    y = np.arange(len(board))[:, None]
    ahead = np.where(board == 1, len(board) - 2 - y, np.where(board == 2, y - 1, 0))
    return int(ahead.sum())


def load(state: State, given: Mapping[str, Any]) -> None:
    """§2.2 Fill a state from `board` and, if given, `next_agent` (or `first_agent`), `ply` and `rng`."""
    mover = board_codec.parse_next_agent(given, PLAYERS)
    board = parse_board(state, given["board"])
    height, width = board.shape
    for side in range(2):
        bits = np.zeros(64 * rules.WORDS, np.uint8)
        bits[: board.size] = np.equal(board.T, 1 + side).ravel()
        state["pieces"][side, 1:-1] = np.packbits(bits, bitorder="little").view(np.uint64)
        state["count"][side] = bits.sum()
    board_codec.load_header(state, given, mover, 2 * width * (2 * height - 5) - count_moves_left(board))  # §6.2


def save(state: State) -> dict[str, Any]:
    """Return the position as JSON-serializable data, the form that `load` takes."""
    return board_codec.save(state, format_board(state), PLAYERS)


def show(state: State) -> str:
    """Return the position as text: a line of keys, then the rows from player_0's home on."""
    return board_codec.show(save(state))


CODEC = Codec(save, load, board_codec.KEYS, show, board_codec.read, rules.PARAMETERS)


def action_name(state: State, action: Any) -> str:
    """Return the start and target cells, as (x,y)-(x,y), in board coordinates."""
    height, width = int(state["height"]), int(state["width"])
    side = int(state["to_move"])
    if state["canonical"] and side == 1:
        action = 3 * width * height - 1 - int(action)
    cell, direction = divmod(int(action), 3)
    x, y = divmod(cell, height)
    return f"({x},{y})-({x + direction - 1},{y + 1 - 2 * side})"


def parse_action(state: State, text: str) -> int:
    """Return the action of 'x y x2' (a piece and its target column) or 'x y x2 y2', or of its number. Raises ValueError."""
    numbers = board_codec.parse_integers(text)
    height, width = int(state["height"]), int(state["width"])
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) in (3, 4):
        x, y, target = numbers[:3]
        ahead = y + (-1 if state["to_move"] == 1 else 1)
        if 0 <= x < width and 0 <= y < height and abs(target - x) <= 1 and numbers[3:] in ([], [ahead]):
            action = x * 3 * height + y * 3 + target - x + 1
            return 3 * width * height - 1 - action if state["canonical"] and state["to_move"] == 1 else action
    raise ValueError(f"{text!r} is not a move: expected the column and row of a piece and its target column, such as '3 1 4'")
