# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Rules of MO-RouteChoice as kernels. The numbers are the sections of SPEC.md."""

import numpy as np

from momagames.kernels.jit import kernel
from momagames.kernels.record import record

MAX_AGENTS = 4200
LATENCY, TOLL = range(2)
STANDARD = (64, 8, 128, 1024)  # capacity in links, OD pairs, routes, and links of all routes


def make_dtype(sizes):
    """Return the dtype of the states of networks of these sizes (see STANDARD) or smaller ones."""
    links, pairs, routes, parts = sizes
    return record(
        MAX_AGENTS,
        base=("f8", (links,)),  # §2.1 a latency is base + factor * flow ** power
        factor=("f8", (links,)),
        power=("f8", (links,)),
        link_cost=("f8", (links, 2)),  # latency and toll of each link, as shares of the largest ones
        route_cost=("f8", (routes, 2)),  # sums of them
        flow=("i4", (links,)),
        count=("i4", (routes,)),  # agents by route
        first=("i4", (pairs + 1,)),  # first route of each OD pair
        start=("i4", (routes + 1,)),  # first part of each route
        part=("i2", (parts,)),  # links of all routes
        plan=("i2", (MAX_AGENTS,)),  # OD pair of each agent: that of the instance,
        pair=("i2", (MAX_AGENTS,)),  # and that of this episode
        toll_plan=("u1", (links,)),  # the same, whether a link is tolled
        tolled=("u1", (links,)),
        agents=("i4",),
        links=("i4",),
        pairs=("i4",),
        longest=("i4",),  # links of the longest route
        random_tolls=("u1",),
    )


@kernel
def generate(state):
    """§2 The instance."""
    for agent in range(np.int64(state["agents"])):
        state["pair"][agent] = state["plan"][agent]
    for link in range(np.int64(state["links"])):
        state["tolled"][link] = state["toll_plan"][link]
    clear_flows(state)


@kernel
def clear_flows(state):
    state["flow"][: np.int64(state["links"])] = 0
    state["count"][: np.int64(state["first"][np.int64(state["pairs"])])] = 0


@kernel
def count_routes(state, agent):
    """Return the number of routes of an agent."""
    pair = np.int64(state["pair"][agent])
    return np.int64(state["first"][pair + 1]) - np.int64(state["first"][pair])


@kernel
def legal(state, agent, mask):
    """§3 The routes of the agent's pair, until the end."""
    routes = 0 if state["over"] else count_routes(state, agent)
    for action in range(mask.shape[0]):
        mask[action] = action < routes


@kernel
def find_route(state, agent, action):
    """Return the number of the route of an action; an only route is taken whatever the action is."""
    pair = np.int64(state["pair"][agent])
    route = np.int64(state["first"][pair])
    return route + action if np.int64(state["first"][pair + 1]) - route > 1 else route


@kernel
def add_flows(state):
    """§4.1 Add the agents of each route to the flows of its links."""
    for route in range(np.int64(state["first"][np.int64(state["pairs"])])):
        count = state["count"][route]
        if count:
            for at in range(np.int64(state["start"][route]), np.int64(state["start"][route + 1])):
                state["flow"][np.int64(state["part"][at])] += count


@kernel
def measure_link(state, link, flow):
    """§5 Return latency and toll of a link with this flow."""
    base, power = state["base"][link], state["power"][link]
    grown = state["factor"][link] * (flow if power == 1.0 else flow**power)
    latency = base + grown
    if state["random_tolls"]:
        return latency, latency * state["tolled"][link]
    return latency, grown * power


@kernel
def find_largest(state):
    """§5 Return the largest latency and the largest toll of a link: those with all agents on it."""
    largest_latency, largest_toll = 0.0, 0.0
    for link in range(np.int64(state["links"])):
        latency, toll = measure_link(state, link, np.float64(state["agents"]))
        largest_latency, largest_toll = max(largest_latency, latency), max(largest_toll, toll)
    return largest_latency, largest_toll


@kernel
def measure_routes(state):
    """§5 Write the costs of links, and those of routes."""
    largest_latency, largest_toll = find_largest(state)
    for link in range(np.int64(state["links"])):
        latency, toll = measure_link(state, link, np.float64(state["flow"][link]))
        state["link_cost"][link, LATENCY] = latency / largest_latency if largest_latency > 0 else 0.0
        state["link_cost"][link, TOLL] = toll / largest_toll if largest_toll > 0 else 0.0
    sum_links(state)


@kernel
def sum_links(state):
    """§5 Write the costs of routes from those of their links."""
    longest = np.float64(state["longest"])
    for route in range(np.int64(state["first"][np.int64(state["pairs"])])):
        latency, toll = 0.0, 0.0
        for at in range(np.int64(state["start"][route]), np.int64(state["start"][route + 1])):
            link = np.int64(state["part"][at])
            latency += state["link_cost"][link, LATENCY]
            toll += state["link_cost"][link, TOLL]
        state["route_cost"][route, LATENCY] = latency / longest
        state["route_cost"][route, TOLL] = toll / longest


@kernel
def step(state, actions, reward):
    """§4 Count the agents of each route, then the flows, and pay by route."""
    clear_flows(state)
    agents = np.int64(state["agents"])
    for agent in range(agents):
        state["count"][find_route(state, agent, actions[agent, 0])] += 1
    add_flows(state)
    measure_routes(state)
    for agent in range(agents):
        route = find_route(state, agent, actions[agent, 0])
        reward[agent, LATENCY] = 0.0 - state["route_cost"][route, LATENCY]
        reward[agent, TOLL] = 0.0 - state["route_cost"][route, TOLL]
    state["ply"] += 1
    state["over"] = 1  # §6.1


@kernel
def observe(state, agent, out):
    """§7"""
    out.view(np.int32)[0] = state["pair"][agent]
