# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Codes of moves for searches that learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.kernels.jit import kernel
from momagames.kernels.rng import mix

PLY, ONE = np.uint64(32), np.uint64(1)


@kernel
def code_by_ply(state, actions, count, codes):
    """Code a move as an action at a ply, as when a sequence is learned by heart."""
    ply = np.uint64(np.int64(state["ply"])) << PLY
    for i in range(count):
        codes[i] = mix(ply + np.uint64(actions[i])) | ONE
    return count


def get_move_codes(game: Game) -> Callable[..., Any]:
    """Return the kernel `SearchGuidance.move_codes` of a game, or `code_by_ply`."""
    return game.search.guidance.move_codes if game.search.guidance else code_by_ply
