# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Scripted agents of MO-Beach as kernels. They know how many agents of each type are in every section, beyond §7."""

from __future__ import annotations

import numpy as np

from momagames.games.beach.rules import STAY, rate
from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, uniform, update_best

LEAST_GAIN = 1e-9  # for which an agent moves
PLAN_MEMORY = np.dtype([("crowd", "i4"), ("least", "i4")])


@kernel
def go(state, agent, target):
    """Return the action that leads towards a section."""
    section = np.int64(state["section"][agent])
    return STAY + min(max(target - section, -1), 1)


@kernel
def rate_changed(state, section, kind, change):
    """Return capacity and mixture of a section with `change` more agents of a type."""
    crowd = np.int64(state["crowd"][section]) + change
    least = crowd
    for other in range(np.int64(state["types"])):
        least = min(least, np.int64(state["share"][section, other]) + (change if other == kind else 0))
    return rate(crowd, least, np.int64(state["capacity"]))


@kernel
def value_change(state, section, kind, change, weights):
    """Return the weighted points of a section with `change` more agents of a type, for a team: of the beach, compared."""
    capacity, mixture = rate_changed(state, section, kind, change)
    if not state["team"]:
        return weights[0] * capacity + weights[1] * mixture
    old_capacity, old_mixture = rate_changed(state, section, kind, 0)
    return weights[0] * (capacity - old_capacity) + weights[1] * (mixture - old_mixture) / np.int64(state["sections"])


@kernel
def is_in_reach(state, section, target):
    return abs(target - section) <= np.int64(state["steps"]) - np.int64(state["ply"])


@kernel
def best_response(state, agent, mask, parts, memory, scratch, word, action):
    """Go towards the best section in reach if no other agent moves, with the probability options[0]; otherwise stay."""
    weights, options = scratch
    word = advance(word)
    section, kind = np.int64(state["section"][agent]), np.int64(state["type"][agent])
    target = section
    if uniform(word) < options[0]:
        leave = value_change(state, section, kind, -1, weights) if state["team"] else 0.0
        best = value_change(state, section, kind, 0, weights) + LEAST_GAIN
        ties = 0
        for other in range(np.int64(state["sections"])):
            if other != section and is_in_reach(state, section, other):
                value = leave + value_change(state, other, kind, 1, weights)
                is_best, best, ties, word = update_best(value, best, ties, word)
                if is_best:
                    target = other
    action[0] = go(state, agent, target)
    return word


@kernel
def imitate(state, agent, mask, parts, memory, scratch, word, action):
    """Go towards a random agent, with a probability proportional to what its section has more; options[0]: the factor."""
    weights, options = scratch
    word = advance(word)
    agents, section = np.int64(state["agents"]), np.int64(state["section"][agent])
    model = np.int64(state["section"][min(np.int64(uniform(word) * agents), agents - 1)])
    capacity, mixture = rate_changed(state, model, 0, 0)
    own_capacity, own_mixture = rate_changed(state, section, 0, 0)
    gain = weights[0] * (capacity - own_capacity) + weights[1] * (mixture - own_mixture)
    word = advance(word)
    follows = is_in_reach(state, section, model) and uniform(word) < gain * options[0]
    action[0] = go(state, agent, model if follows else section)
    return word


@kernel
def count_kind(state, kind):
    """Return the number of agents of a type."""
    count = 0
    for section in range(np.int64(state["sections"])):
        count += np.int64(state["share"][section, kind])
    return count


@kernel
def choose_plan(state, plan, weights):
    """Write the best number of agents of all sections but one, and of their rarest type; the last section takes the rest.

    The most frequent type fills what the others, as many of each, leave.
    """
    sections, types, agents = np.int64(state["sections"]), np.int64(state["types"]), np.int64(state["agents"])
    rarest, most = agents, 0
    for kind in range(types):
        count = count_kind(state, kind)
        rarest, most = min(rarest, count), max(most, count)
    best = -np.inf
    plan["crowd"], plan["least"] = 0, 0
    for crowd in range(1, agents // (sections - 1) + 1):
        for least in range(min(crowd // types, rarest // (sections - 1)) + 1):
            filled = (crowd - (types - 1) * least) * (sections - 1)
            if filled <= most:
                capacity, mixture = rate(crowd, least, np.int64(state["capacity"]))
                rest = min(rarest - least * (sections - 1), most - filled)
                last_capacity, last_mixture = rate(agents - crowd * (sections - 1), rest, np.int64(state["capacity"]))
                value = weights[0] * ((sections - 1) * capacity + last_capacity)
                value += weights[1] * ((sections - 1) * mixture + last_mixture) / sections
                if value > best:
                    best = value
                    plan["crowd"], plan["least"] = crowd, least


@kernel
def find_most(state):
    """Return the most frequent type, the first of them."""
    most, largest = 0, -1
    for kind in range(np.int64(state["types"])):
        count = count_kind(state, kind)
        if count > largest:
            most, largest = kind, count
    return most


@kernel
def rank(state, agent):
    """Return how many agents of its type are further left, or as far and before it."""
    before, section = 0, state["section"][agent]
    for other in range(np.int64(state["agents"])):
        if state["type"][other] == state["type"][agent]:
            before += state["section"][other] < section or (state["section"][other] == section and other < agent)
    return before


@kernel
def overflow(state, agent, mask, parts, memory, scratch, word, action):
    """Go to the place in a plan that all agents make alike, see `choose_plan`."""
    if memory["crowd"] == 0:
        choose_plan(state, memory, scratch[0])
    kind = np.int64(state["type"][agent])
    places = np.int64(memory["least"])
    if kind == find_most(state):
        places = np.int64(memory["crowd"]) - (np.int64(state["types"]) - 1) * places
    last = np.int64(state["sections"]) - 1
    target = last if places == 0 else min(rank(state, agent) // places, last)
    action[0] = go(state, agent, target)
    return word
