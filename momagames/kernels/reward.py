# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Rewards of games whose objectives are selected by name: `column` of the state holds the index of each objective in the reward
vector, or -1."""

import numpy as np

from momagames.kernels.jit import kernel


@kernel
def has_objective(state, objective):
    """Return whether the reward vector has an objective."""
    return np.int64(state["column"][objective]) >= 0


@kernel
def credit(state, reward, agent, objective, amount):
    """Add an amount to the reward of an agent in an objective, if the vector has it. reward float32[A, K]"""
    column = np.int64(state["column"][objective])
    if column >= 0:
        reward[agent, column] += np.float32(amount)
