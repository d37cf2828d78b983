"""Positions that differ only in what an agent cannot see."""

import numpy as np


def change_hidden(state, agent, rng):
    """Return a copy of a state, record[1], with random values wherever the agent does not see them."""
    changed = np.zeros(1, state.dtype)
    changed[0] = state
    one, size, view = changed[0], int(state["size"]), int(state["view"])
    row, col = int(one["row"][agent]), int(one["col"][agent])
    others = [seat for seat in range(4) if seat != agent]
    one["rng"] = rng.integers(2**63)
    one["hidden"][:] = rng.integers(0, 4, len(one["hidden"]))
    for name in ("ammo", "strength", "kick"):
        one[name][others] = rng.integers(0, 2, 3)
    for r in range(size):
        for c in range(size):
            if max(abs(r - row), abs(c - col)) > view:
                one["board"][r * size + c] = rng.integers(0, 3)
                one["fire"][r * size + c] = 0
    for bomb in range(int(one["bombs"])):
        if max(abs(int(one["bomb_row"][bomb]) - row), abs(int(one["bomb_col"][bomb]) - col)) > view:
            one["bomb_life"][bomb], one["bomb_strength"][bomb] = 1, 11
    return changed
