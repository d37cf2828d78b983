# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""What learners get of MO-RouteChoice: difference rewards."""

from __future__ import annotations

import numpy as np

from momagames.games.route_choice.rules import LATENCY, TOLL, find_largest, find_route, measure_link, sum_links
from momagames.kernels.jit import kernel


@kernel
def write_differences(state, actions, out):
    """Write what each agent adds to the mean costs of all agents by its links, with a negative sign."""
    largest_latency, largest_toll = find_largest(state)
    for link in range(np.int64(state["links"])):
        flow = np.float64(state["flow"][link])
        latency, toll = measure_link(state, link, flow)
        less_latency, less_toll = measure_link(state, link, max(flow - 1.0, 0.0))
        added_latency, added_toll = flow * latency - (flow - 1.0) * less_latency, flow * toll - (flow - 1.0) * less_toll
        state["link_cost"][link, LATENCY] = added_latency / largest_latency if largest_latency > 0 else 0.0
        state["link_cost"][link, TOLL] = added_toll / largest_toll if largest_toll > 0 else 0.0
    sum_links(state)
    agents = out.shape[0]
    for agent in range(agents):
        route = find_route(state, agent, actions[agent, 0])
        out[agent, LATENCY] = 0.0 - state["route_cost"][route, LATENCY] / agents
        out[agent, TOLL] = 0.0 - state["route_cost"][route, TOLL] / agents
