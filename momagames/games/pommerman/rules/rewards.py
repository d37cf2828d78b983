"""Rewards of MO-Pommerman (SPEC §5)."""

import numpy as np

from momagames.games.pommerman.rules.state import SEATS
from momagames.kernels.jit import kernel, noinline_kernel
from momagames.kernels.reward import credit, has_objective


@kernel
def owner_share(state, owners):
    """§5.2 Return the credit of each owner of a fire (a bit for each seat): 1, or its part of 1."""
    if state["split"] == 0:
        return np.float32(1.0)
    count = 0
    for agent in range(SEATS):
        count += (owners >> agent) & 1
    return np.float32(1.0) / np.float32(max(count, 1))


@noinline_kernel
def credit_owners(state, reward, owners, among, objective, sign):
    """§5.2 Credit the owners of a fire that are `among` these seats for one event, or charge them (sign -1)."""
    if has_objective(state, objective):
        part = owner_share(state, owners) * np.float32(sign)
        for agent in range(np.int64(state["seats"])):
            if (owners & among) >> agent & 1:
                credit(state, reward, agent, objective, part)
