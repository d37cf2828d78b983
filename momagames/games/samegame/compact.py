"""Compact form of MO-SameGame for search: see bitboard.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game, SearchSupport
from momagames.games.samegame import bitboard as planes
from momagames.games.samegame.codec import cells


def pack(game: Game, start: NDArray[Any]) -> tuple[Game, NDArray[Any]] | None:
    """The game on planes, and a start, record[1], in that form; None for larger boards."""
    board = cells(start[0])
    height, width = board.shape
    if board.size > planes.WORD:
        return None
    column = sum(1 << (width * y) for y in range(height))
    small = np.zeros(1, planes.packed_dtype)
    small["width"], small["cells"], small["left"] = width, board.size, column
    small["inner"] = (1 << board.size) - 1 - (column << (width - 1))
    small["used"] = used = int(game.params["num_colors"]).bit_length()
    for name in ("over", "color_rewards", "clear_bonus"):
        small[name] = start[name]
    blank = small[0].copy()
    for k in range(used):
        small["planes"][0, k] = sum(1 << i for i, color in enumerate(board.ravel().tolist()) if color >> k & 1)
    kernels = replace(game.kernels, legal=planes.legal, step=planes.step)
    search = SearchSupport(planes.key, key_words=-(-board.size * used // planes.WORD))
    return replace(game, blank_state=blank, kernels=kernels, search=search, rules_key="samegame.packed"), small
