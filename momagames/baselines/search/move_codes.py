"""Codes of moves for searches that learn: equal codes share what was learnt.

A kernel is (state, actions int64[n], count, codes uint64[n]) -> count. It writes the code of each of the first `count`
actions of the agent to move; it may drop actions that do what an earlier one does (then it moves the rest up and returns
how many are left), and it may spoil the state. A code is never 0.

A game without a kernel of its own gets `by_turn`: a move is an action at a ply, as when a sequence is learnt by heart.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.kernels.jit import kernel
from momagames.kernels.rng import mix

# rules_key -> module with a kernel `codes`
MOVE_CODES: dict[str, str] = {"samegame": "momagames.games.samegame.move_codes"}
PLY, ONE = np.uint64(32), np.uint64(1)


@kernel
def by_turn(state, actions, count, codes):
    """A move is an action at a ply."""
    ply = np.uint64(np.int64(state["ply"])) << PLY
    for i in range(count):
        codes[i] = mix(ply + np.uint64(actions[i])) | ONE
    return count


def move_codes(game: Game) -> Callable[..., Any]:
    """The kernel that belongs to a game's rules."""
    if game.rules_key not in MOVE_CODES:
        return by_turn
    found: Callable[..., Any] = import_module(MOVE_CODES[game.rules_key]).codes
    return found
