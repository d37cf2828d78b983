# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""What learners get of MO-Beach: difference rewards of the last step."""

from __future__ import annotations

import numpy as np

from momagames.games.beach.rules import rate, rate_section
from momagames.kernels.jit import kernel


@kernel
def rate_without(state, section, kind):
    """Return capacity and mixture of a section without one of its agents of this type."""
    crowd = np.int64(state["crowd"][section]) - 1
    least = crowd
    for other in range(np.int64(state["types"])):
        least = min(least, np.int64(state["share"][section, other]) - (other == kind))
    return rate(crowd, least, np.int64(state["capacity"]))


@kernel
def write_differences(state, actions, out):
    """Write what each agent adds to the mean points of all agents, those of its section or those of the beach (§5).

    Source: Mannion, Devlin, Duggan and Howley 2018, whose agents learn from them in this domain.
    """
    agents, is_team = np.int64(state["agents"]), state["team"] != 0
    for agent in range(agents):
        section = np.int64(state["section"][agent])
        crowd = np.int64(state["crowd"][section])
        capacity, mixture = rate_section(state, section)
        less_capacity, less_mixture = rate_without(state, section, np.int64(state["type"][agent]))
        if is_team:
            out[agent, 0] = capacity - less_capacity
            out[agent, 1] = (mixture - less_mixture) / np.int64(state["sections"])
        else:
            out[agent, 0] = (crowd * capacity - (crowd - 1) * less_capacity) / agents
            out[agent, 1] = (crowd * mixture - (crowd - 1) * less_mixture) / agents
