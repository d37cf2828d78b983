# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Rules of MO-Beach as kernels. The numbers are the sections of SPEC.md."""

import numpy as np

from momagames.kernels.jit import kernel, local_array, view_as
from momagames.kernels.record import record
from momagames.kernels.rng import advance, uniform

MAX_AGENTS, MAX_SECTIONS, MAX_TYPES, MAX_STEPS = 1000, 32, 8, 1000
LEFT, STAY, RIGHT = range(3)
POINTS, POINT = 2 * MAX_SECTIONS, np.dtype(np.float64)  # capacity and mixture of each section
state_dtype = record(
    MAX_AGENTS,
    type=("i1", (MAX_AGENTS,)),
    section=("i1", (MAX_AGENTS,)),
    crowd=("i2", (MAX_SECTIONS,)),  # agents in each section
    share=("i2", (MAX_SECTIONS, MAX_TYPES)),  # of each type
    agents=("i4",),
    sections=("i4",),
    types=("i4",),
    capacity=("i4",),
    steps=("i4",),
    team=("u1",),  # whether all agents share one reward
    fixed=("u1",),  # whether types are those of the blank state
    type_below=("f8", (MAX_TYPES,)),  # probability of this type and of those before it
    section_below=("f8", (MAX_SECTIONS,)),
)


@kernel
def choose(state, below, size):
    """§2.3 Draw from a cumulative distribution."""
    state["rng"] = advance(state["rng"])
    number, chosen = uniform(state["rng"]), 0
    for index in range(size - 1):  # all of them: a loop that ends early costs mispredicted branches
        chosen += number >= below[index]
    return chosen


@kernel
def generate(state):
    """§2 Types, unless they are fixed; then sections."""
    agents = np.int64(state["agents"])
    if not state["fixed"]:
        for agent in range(agents):
            state["type"][agent] = choose(state, state["type_below"], np.int64(state["types"]))
    for agent in range(agents):
        state["section"][agent] = choose(state, state["section_below"], np.int64(state["sections"]))
    count_agents(state)


@kernel
def count_agents(state):
    """Count the agents of each section, and those of each type."""
    state["crowd"][:] = 0
    state["share"][:] = 0
    for agent in range(np.int64(state["agents"])):
        section, kind = np.int64(state["section"][agent]), np.int64(state["type"][agent])
        state["crowd"][section] += 1
        state["share"][section, kind] += 1


@kernel
def legal(state, agent, mask):
    """§3 Every action, until the end."""
    mask[:] = not state["over"]


@kernel
def rate(crowd, least, capacity):
    """§5 Return capacity and mixture of a section with this number of agents, `least` of them of the rarest type."""
    if crowd == 0:
        return 0.0, 0.0
    return crowd * np.exp(-crowd / capacity), least / crowd


@kernel
def rate_section(state, section):
    """§5 Return capacity and mixture of a section."""
    crowd = np.int64(state["crowd"][section])
    least = crowd
    for kind in range(np.int64(state["types"])):
        least = min(least, np.int64(state["share"][section, kind]))
    return rate(crowd, least, np.int64(state["capacity"]))


@kernel
def step(state, actions, reward):
    """§4 All agents move, then they are counted, and in the last step rewarded. Every action is legal."""
    agents, sections = np.int64(state["agents"]), np.int64(state["sections"])
    for agent in range(agents):
        moved = np.int64(state["section"][agent]) + actions[agent, 0] - STAY
        state["section"][agent] = min(max(moved, 0), sections - 1)
    count_agents(state)
    state["ply"] += 1
    state["over"] = state["ply"] == state["steps"]  # §6
    reward[:] = 0
    if not state["over"]:
        return
    points = view_as(local_array(POINTS), POINT)
    all_capacity, all_mixture = 0.0, 0.0
    for section in range(sections):
        capacity, mixture = rate_section(state, section)
        points[2 * section], points[2 * section + 1] = capacity, mixture
        all_capacity += capacity
        all_mixture += mixture
    for agent in range(agents):
        if state["team"]:  # §5.2
            reward[agent, 0], reward[agent, 1] = all_capacity, all_mixture / sections
        else:  # §5.1
            section = np.int64(state["section"][agent])
            reward[agent, 0], reward[agent, 1] = points[2 * section], points[2 * section + 1]


@kernel
def observe(state, agent, out):
    """§7"""
    numbers, section, kind = out.view(np.float32), np.int64(state["section"][agent]), np.int64(state["type"][agent])
    numbers[0], numbers[1], numbers[2] = kind, section, state["capacity"]
    numbers[3] = state["crowd"][section]
    numbers[4] = state["share"][section, kind] / max(np.int64(state["crowd"][section]), 1)
