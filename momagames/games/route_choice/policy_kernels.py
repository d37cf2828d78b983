# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Scripted agents of MO-RouteChoice as a kernel: all agents choose in their order, in thought."""

from __future__ import annotations

import numpy as np

from momagames.games.route_choice.rules import find_largest, measure_link
from momagames.kernels.jit import kernel

SHORTEST, BEST_RESPONSE, MARGINAL = range(3)


@kernel
def weigh_link(state, link, flow, factors):
    """Return the weighted cost of a link for one of its agents."""
    latency, toll = measure_link(state, link, np.float64(flow))
    return factors[0] * latency + factors[1] * toll


@kernel
def find_factors(state, weights):
    """Return the weights of the latency and the toll of a link: as shares of the largest ones (§5)."""
    largest_latency, largest_toll = find_largest(state)
    return (
        weights[0] / largest_latency if largest_latency > 0 else 0.0,
        weights[1] / largest_toll if largest_toll > 0 else 0.0,
    )


@kernel
def add_agent(state, link, kind, factors, flows):
    """Return what one more agent on a link costs: itself, and with MARGINAL those who are there."""
    flow = flows[link]
    cost = weigh_link(state, link, flow + 1, factors)
    if kind == MARGINAL and flow > 0:
        cost += flow * (cost - weigh_link(state, link, flow, factors))
    return cost


@kernel
def find_best(state, pair, costs):
    """Return the route of a pair with the lowest sum of costs, the first of equal ones."""
    best, lowest = np.int64(state["first"][pair]), np.inf
    for route in range(np.int64(state["first"][pair]), np.int64(state["first"][pair + 1])):
        total = 0.0
        for at in range(np.int64(state["start"][route]), np.int64(state["start"][route + 1])):
            total += costs[np.int64(state["part"][at])]
        if total < lowest - 1e-12:
            best, lowest = route, total
    return best


@kernel
def choose_route(state, agent, mask, parts, memory, scratch, word, action):
    """Take the best route: of free roads, or beside the choices of the agents before."""
    weights, options, flows, costs = scratch
    kind = np.int64(options[0])
    factors = find_factors(state, weights)
    for link in range(np.int64(state["links"])):
        flows[link] = 0
        costs[link] = add_agent(state, link, kind, factors, flows)
    for other in range(0 if kind == SHORTEST else agent):
        route = find_best(state, np.int64(state["pair"][other]), costs)
        for at in range(np.int64(state["start"][route]), np.int64(state["start"][route + 1])):
            link = np.int64(state["part"][at])
            flows[link] += 1
            costs[link] = add_agent(state, link, kind, factors, flows)
    pair = np.int64(state["pair"][agent])
    action[0] = find_best(state, pair, costs) - np.int64(state["first"][pair])
    return word
