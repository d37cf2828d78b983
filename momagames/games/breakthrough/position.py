"""Positions of MO-Breakthrough as text and as data (SPEC §2.2, §9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import State, check_position, position_number
from momagames.errors import BadState
from momagames.games.breakthrough import rules

SYMBOLS = ".12"
PLAYERS = ("player_0", "player_1")
KEYS = ("board", "next_agent", "first_agent", "ply", "rng")


def cells(state: State) -> NDArray[np.int64]:
    """The board, int64[H, W]: 0 empty, 1 player_0, 2 player_1, row 0 (player_0's home) first."""
    height, width = int(state["height"]), int(state["width"])
    board = np.zeros((width, height), np.int64)
    for side in range(2):
        words = state["pieces"][side, 1:-1].copy()
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")[: width * height]
        board += (1 + side) * bits.reshape(width, height)
    return board.T


def rows(state: State) -> list[str]:
    """The board as H strings, the form of the traces."""
    return ["".join(SYMBOLS[k] for k in row) for row in cells(state)]


def parse_board(state: State, board: Any) -> NDArray[np.int64]:
    """An int array [H, W] from H strings or an array; BadState if no game can stand there."""
    height, width = int(state["height"]), int(state["width"])
    if isinstance(board, str):
        board = board.split()
    if isinstance(board, (list, tuple)) and board and all(isinstance(row, str) for row in board):
        for y, row in enumerate(board):
            for x, symbol in enumerate(row):
                if symbol not in SYMBOLS:
                    raise BadState(f"board row {y}, column {x}: {symbol!r} is not '.', '1' (player_0) or '2' (player_1)")
        if len({len(row) for row in board}) != 1:
            raise BadState(f"board rows differ in length: {[len(row) for row in board]}")
        board = [[SYMBOLS.index(symbol) for symbol in row] for row in board]
    try:
        array = np.asarray(board)
    except ValueError as error:
        raise BadState(f"board is neither {height} strings nor an int array [{height}, {width}]: {error}") from None
    if array.shape != (height, width) or array.dtype.kind not in "iu":
        raise BadState(
            f"board has shape {array.shape} of {array.dtype}; this game needs whole numbers [{height}, {width}] "
            f"or {height} strings of {width} characters"
        )
    if array.min() < 0 or array.max() > 2:
        y, x = np.argwhere((array < 0) | (array > 2))[0]
        raise BadState(f"board row {y}, column {x} holds {array[y, x]}; allowed: 0 (empty), 1 (player_0), 2 (player_1)")
    for side, goal in ((1, height - 1), (2, 0)):
        count = int((array == side).sum())
        if not 1 <= count <= 2 * width:
            raise BadState(f"{PLAYERS[side - 1]} has {count} pieces; a game goes on with 1 to {2 * width} (§2.2)")
        if (array[goal] == side).any():
            x = int(np.argmax(array[goal] == side))
            raise BadState(f"board row {goal}, column {x}: {PLAYERS[side - 1]} stands on its goal row, the game is over (§6.1)")
    return array.astype(np.int64)


def moves_left(board: NDArray[np.int64]) -> int:
    """§6.2 How many moves the pieces can make at most without entering their goal rows."""
    y = np.arange(len(board))[:, None]
    ahead = np.where(board == 1, len(board) - 2 - y, np.where(board == 2, y - 1, 0))
    return int(ahead.sum())


def load(state: State, given: Mapping[str, Any]) -> None:
    """§2.2 Fill a state from `board` and, if given, `next_agent` (or `first_agent`), `ply` and `rng`."""
    check_position(given, KEYS, needed="board")
    board = parse_board(state, given["board"])
    mover = given.get("next_agent", given.get("first_agent", PLAYERS[0]))
    if mover not in PLAYERS:
        raise BadState(f"next_agent={mover!r}; agents are {' and '.join(PLAYERS)}")
    for side in range(2):
        bits = np.zeros(64 * rules.WORDS, np.uint8)
        bits[: board.size] = np.equal(board.T, 1 + side).ravel()
        state["pieces"][side, 1:-1] = np.packbits(bits, bitorder="little").view(np.uint64)
        state["count"][side] = bits.sum()
    state["to_move"] = PLAYERS.index(mover)
    state["ply"] = position_number(given, "ply", 0, 2 * board.shape[1] * (2 * board.shape[0] - 5) - moves_left(board))
    if "rng" in given:
        state["rng"] = np.uint64(position_number(given, "rng", 0, 2**64 - 1))


def save(state: State) -> dict[str, Any]:
    """The position as JSON-able data, the form that `load` takes."""
    return {
        "board": rows(state),
        "next_agent": PLAYERS[int(state["to_move"])],
        "ply": int(state["ply"]),
        "rng": int(state["rng"]),
    }


def show(state: State) -> str:
    """The position as text: a line of facts, then the rows from player_0's home on."""
    facts = f"next_agent={PLAYERS[int(state['to_move'])]} ply={int(state['ply'])} rng={int(state['rng'])}"
    return "\n".join([facts, *rows(state)])


def read(text: str) -> dict[str, Any]:
    """The dict form of what `show` wrote."""
    facts, *board = text.strip().splitlines() or [""]
    position: dict[str, Any] = dict(fact.partition("=")[::2] for fact in facts.split())
    return {**position, "board": [row.strip() for row in board]}


def action_name(state: State, action: Any) -> str:
    """From and to, as (x,y)-(x,y), in board coordinates."""
    height, width = int(state["height"]), int(state["width"])
    side = int(state["to_move"])
    if state["canonical"] and side == 1:
        action = 3 * width * height - 1 - int(action)
    cell, direction = divmod(int(action), 3)
    x, y = divmod(cell, height)
    return f"({x},{y})-({x + direction - 1},{y + 1 - 2 * side})"


def parse_action(state: State, text: str) -> int:
    """'x y x2' (a piece and the column it goes to), or the number of the action."""
    parts = text.replace(",", " ").replace("(", " ").replace(")", " ").replace("-", " ").split()
    try:
        numbers = [int(part) for part in parts]
    except ValueError:
        numbers = []
    height, width = int(state["height"]), int(state["width"])
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) in (3, 4) and abs(numbers[2] - numbers[0]) <= 1:
        action = numbers[0] * 3 * height + numbers[1] * 3 + numbers[2] - numbers[0] + 1
        return 3 * width * height - 1 - action if state["canonical"] and state["to_move"] == 1 else action
    raise ValueError(f"{text!r} is not a move: type the piece's column and row and the column it goes to, such as '3 1 4'")
