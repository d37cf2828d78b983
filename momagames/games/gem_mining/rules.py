# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Rules of MO-GemMining as kernels. The numbers are the sections of SPEC.md."""

import numpy as np

from momagames.kernels.jit import kernel
from momagames.kernels.record import record
from momagames.kernels.rng import advance, uniform

MAX_AGENTS, MAX_TYPES, MAX_MINES_OF_VILLAGE, MAX_WORKERS = 500, 8, 8, 100
MAX_MINES = MAX_AGENTS + MAX_MINES_OF_VILLAGE - 1
SMALL_AGENTS, SMALL_TYPES = 40, 4  # of games with small states
UNKNOWN = -1  # mine before the step


def make_state_dtype(agents, types):
    """Return the record of games with at most so many agents and types of gems."""
    mines = agents + MAX_MINES_OF_VILLAGE - 1
    return record(
        agents,
        workers=("u1", (agents,)),  # §2.1
        reach=("u1", (agents,)),  # number of mines of each village
        chance=("f8", (mines, types)),  # base probabilities
        own_workers=("u1", (agents,)),  # the same of the parameters, which a reset brings back
        own_reach=("u1", (agents,)),
        own_chance=("f8", (mines, types)),
        given=("u1",),  # whether the first three are those of a given position
        mine=("i2", (agents,)),  # that each agent chose
        arrived=("i2", (mines,)),  # workers at each mine
        gems=("u1", (mines,)),  # types found in each mine, as bits
        agents=("i4",),
        mines=("i4",),
        types=("i4",),
        most=("f8",),  # largest chance of a gem
        bonus=("f8",),
        first=("i4",),  # 1 if the first worker of a mine does not add to its chance
        sampled=("u1",),
    )


SMALL_DTYPE, LARGE_DTYPE = make_state_dtype(SMALL_AGENTS, SMALL_TYPES), make_state_dtype(MAX_AGENTS, MAX_TYPES)


@kernel
def generate(state):
    """§2 The instance of the parameters; nothing is drawn."""
    agents = np.int64(state["agents"])
    state["mine"][:] = UNKNOWN
    state["arrived"][:] = 0
    state["gems"][:] = 0
    if state["given"]:
        for agent in range(agents):
            state["workers"][agent], state["reach"][agent] = state["own_workers"][agent], state["own_reach"][agent]
        for mine in range(np.int64(state["mines"])):
            for kind in range(np.int64(state["types"])):
                state["chance"][mine, kind] = state["own_chance"][mine, kind]
        state["given"] = 0


@kernel
def legal(state, agent, mask):
    """§3 Every mine of the village, until the end."""
    mask[:] = 0
    if not state["over"]:
        mask[: np.int64(state["reach"][agent])] = 1


@kernel
def find_chance(state, mine, kind, workers):
    """§4.2 Return the chance of a gem in a mine where so many workers arrive."""
    exponent = np.float64(workers - np.int64(state["first"]))
    chance = np.float64(state["chance"][mine, kind]) * np.float64(state["bonus"]) ** exponent
    return min(chance, np.float64(state["most"]))


@kernel
def send_workers(state, actions):
    """§4.1 Store what the villages chose, and count the workers that arrive at each mine."""
    state["arrived"][:] = 0
    for agent in range(np.int64(state["agents"])):
        mine = agent + actions[agent, 0] if state["reach"][agent] > 1 else agent
        state["mine"][agent] = mine
        state["arrived"][mine] += state["workers"][agent]


@kernel
def dig(state):
    """§4.3 Draw the gems of all mines."""
    for mine in range(np.int64(state["mines"])):
        found = 0
        for kind in range(np.int64(state["types"]) if state["arrived"][mine] else 0):
            state["rng"] = advance(state["rng"])
            found += (uniform(state["rng"]) < find_chance(state, mine, kind, np.int64(state["arrived"][mine]))) << kind
        state["gems"][mine] = found


@kernel
def step(state, actions, reward):
    """§4 All agents choose, then each mine with workers yields gems."""
    send_workers(state, actions)
    if state["sampled"]:
        dig(state)
    for kind in range(np.int64(state["types"])):
        total = 0.0
        for mine in range(np.int64(state["mines"])):
            if state["sampled"]:
                total += (np.int64(state["gems"][mine]) >> kind) & 1
            elif state["arrived"][mine]:
                total += find_chance(state, mine, kind, np.int64(state["arrived"][mine]))
        reward[:, kind] = total
    state["ply"] = 1
    state["over"] = 1  # §6


@kernel
def observe(state, agent, out):
    """§7"""
    out.view(np.float32)[0] = 0
