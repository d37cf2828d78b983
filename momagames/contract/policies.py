"""Policies: functions that choose an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract.positions import State

# (state record, action mask int8[M], generator) -> action. A policy with memory has a method `begin()`, called when a game
# begins, and plays a single agent. If it also has `remembered()`, which returns a copy of its memory, and `recall(memory)`,
# which takes such a copy, moves can be taken back.
Policy = Callable[[State, NDArray[np.int8], np.random.Generator], Any]


def begin_game(policy: Policy) -> None:
    """Tell a policy with memory that a game begins."""
    begin = getattr(policy, "begin", None)
    if begin is not None:
        begin()
