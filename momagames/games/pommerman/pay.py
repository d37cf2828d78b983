"""Rewards of MO-Pommerman (SPEC §5): one place that knows which objectives were chosen."""

import numpy as np

from momagames.games.pommerman.state import SEATS
from momagames.kernels.jit import kernel, routine


@kernel
def chosen(state, objective):
    """Whether an objective is in the reward vector."""
    return np.int64(state["column"][objective]) >= 0


@kernel
def pay(state, reward, agent, objective, amount):
    """Give an agent this much of an objective, if it is in the reward vector."""
    column = np.int64(state["column"][objective])
    if column >= 0:
        reward[agent, column] += np.float32(amount)


@kernel
def share(state, owners):
    """§5.2 What each of the owners (a bit for each seat) of a fire gets for what it did: 1, or its part of 1."""
    if state["split"] == 0:
        return np.float32(1.0)
    count = 0
    for agent in range(SEATS):
        count += (owners >> agent) & 1
    return np.float32(1.0) / np.float32(max(count, 1))


@routine
def pay_owners(state, reward, owners, among, objective, sign):
    """§5.2 Pay those of the owners of a fire who are `among` these seats for one event, or charge them (sign -1)."""
    if chosen(state, objective):
        part = share(state, owners) * np.float32(sign)
        for agent in range(np.int64(state["seats"])):
            if (owners & among) >> agent & 1:
                pay(state, reward, agent, objective, part)
