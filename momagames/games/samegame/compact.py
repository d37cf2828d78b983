"""Compact form of MO-SameGame for search: see bitboard.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import ExactSearch, Game, SearchSupport
from momagames.games.samegame import bitboard as planes
from momagames.games.samegame.codec import unpack_board


def pack(game: Game, start: NDArray[Any]) -> tuple[Game, NDArray[Any]] | None:
    """Return the game on bit planes and a start in that form, record[1]; None for boards of more than 64 cells."""
    board = unpack_board(start[0])
    height, width = board.shape
    if board.size > planes.WORD:
        return None
    column = sum(1 << (width * y) for y in range(height))
    packed = np.zeros(1, planes.packed_dtype)
    packed["width"], packed["cells"], packed["left"] = width, board.size, column
    packed["inner"] = (1 << board.size) - 1 - (column << (width - 1))
    packed["used"] = used = int(game.params["num_colors"]).bit_length()
    for name in ("over", "colors", "color_rewards", "classic", "move_rewards", "clear_bonus"):
        packed[name] = start[name]
    blank = packed[0].copy()
    for k in range(used):
        packed["planes"][0, k] = sum(1 << i for i, color in enumerate(board.ravel().tolist()) if color >> k & 1)
    kernels = replace(game.kernels, legal=planes.legal, step=planes.step)
    exact = ExactSearch(write_key=planes.write_state_key, key_words=-(-board.size * used // planes.WORD))
    search = SearchSupport(exact=exact)
    return replace(game, blank_state=blank, kernels=kernels, search=search, rules_key="samegame.packed"), packed
