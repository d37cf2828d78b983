# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Rewards of games whose objectives are chosen by name: `column` of the state says where the vector has an objective, -1: it
has not."""

import numpy as np

from momagames.kernels.jit import kernel


@kernel
def has_objective(state, objective):
    """Whether the reward vector has an objective."""
    return np.int64(state["column"][objective]) >= 0


@kernel
def credit(state, reward, agent, objective, amount):
    """Give an agent this much of an objective, if the vector has it. reward float32[A, K]"""
    column = np.int64(state["column"][objective])
    if column >= 0:
        reward[agent, column] += np.float32(amount)
