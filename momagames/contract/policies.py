"""Policies: functions that choose an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract.positions import State

# (state record, action mask int8[M], generator) -> action. A policy with memory plays a single agent and has a method
# `reset()`, called at the start of an episode. If it also has `get_state()`, which returns a copy of its memory, and
# `set_state(state)`, which restores one, moves can be taken back. A method `set_return(value)` is called before each action
# with the rewards of its agent since the start of the episode, float64[K]. A method `end_episode(state)` is called with the
# final state record, by matches and by environments of one agent. `num_late`, if it has one, is its number of moves that came
# too late.
Policy = Callable[[State, NDArray[np.int8], np.random.Generator], Any]


def reset_policy(policy: Policy) -> None:
    """Reset the memory of a policy, if it has one, at the start of an episode."""
    reset = getattr(policy, "reset", None)
    if reset is not None:
        reset()


def report_return(policy: Policy, value: NDArray[np.float64]) -> None:
    """Report the rewards of its agent since the start of the episode, float64[K], to a policy that reads them."""
    set_return = getattr(policy, "set_return", None)
    if set_return is not None:
        set_return(value.copy())


def end_policy_episode(policy: Policy, state: State) -> None:
    """Report the final state record of an episode to a policy that reads it."""
    end_episode = getattr(policy, "end_episode", None)
    if end_episode is not None:
        end_episode(state.copy())
