"""State records: one NumPy record per position, without hidden bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

# Fields of the states of all games (the header in the contract).
HEADER: dict[str, tuple[Any, ...]] = {
    "rng": ("u8",),  # generator word, see kernels/rng.py
    "to_move": ("i4",),  # index of the agent to move; always 0 where all agents move at once
    "ply": ("i4",),  # environment steps since the start
    "over": ("u1",),  # 1 after the last step
    "truncated": ("u1",),  # whether the game reached a limit, see below
}
# Values of `truncated`: a limit ended an undecided game; the game was decided in the step in which it reached the limit
CUT_OFF, CUT_OFF_AND_DECIDED = 1, 2


def record(seats: int, /, **fields: Iterable[Any]) -> np.dtype[Any]:
    """Return the dtype of a state: the header, `gone[seats]` (agents that left early) and the game's own fields.

    fields   name=(type,) or name=(type, shape), e.g. board=("u1", (8, 8)), score=("i4",)
    Returns  a dtype ordered widest first with explicit padding, so that equal states have equal bytes
    """
    layout = {**HEADER, "gone": ("u1", (seats,)), **{name: tuple(spec) for name, spec in fields.items()}}
    ordered = sorted(layout.items(), key=lambda item: -np.dtype(item[1][0]).itemsize)
    names = [(name, *spec) for name, spec in ordered]
    size = np.dtype(names).itemsize
    width = np.dtype(ordered[0][1][0]).itemsize
    if size % width:
        names.append(("_pad", "u1", (width - size % width,)))
    return np.dtype(names)
