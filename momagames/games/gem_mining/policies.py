# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Policies of MO-GemMining. They know the instance, which agents do not see."""

from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.contract.objective_weights import read_weights
from momagames.engine.policies import CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.games.gem_mining.rules import find_chance
from momagames.kernels.jit import kernel

RULES = ("gem_mining", "gem_mining.large")
MAX_ROUNDS = 100  # of responses of all villages, which end long before
MARGIN = 1e-12  # by which a response is better


@kernel
def weigh(state, mine, workers, weights):
    """Return the weighted expected gems of a mine with so many workers."""
    total = 0.0
    for kind in range(weights.shape[0] if workers else 0):
        total += weights[kind] * find_chance(state, mine, kind, workers)
    return total


@kernel
def respond(state, agent, weights, arrived):
    """Return the action that adds the most weighted gems to the workers of other villages, the first of equal ones."""
    workers, chosen, best = np.int64(state["workers"][agent]), 0, -np.inf
    for action in range(np.int64(state["reach"][agent])):
        others = arrived[agent + action]
        gain = weigh(state, agent + action, others + workers, weights) - weigh(state, agent + action, others, weights)
        if gain > best + MARGIN:
            chosen, best = action, gain
    return chosen


@kernel
def act_alone(state, agent, mask, parts, memory, scratch, word, action):
    """Take the mine with the most weighted gems, as if no other village came."""
    weights, arrived, _ = scratch
    arrived[:] = 0
    action[0] = respond(state, agent, weights, arrived)
    return word


@kernel
def act_together(state, agent, mask, parts, memory, scratch, word, action):
    """Take the part of the plan that responses of all villages in turn lead to; each agent computes the same plan."""
    weights, arrived, plan = scratch
    agents = np.int64(state["agents"])
    arrived[:] = 0
    for village in range(agents):
        plan[village] = respond(state, village, weights, arrived)
        arrived[village + plan[village]] += np.int64(state["workers"][village])
    for _ in range(MAX_ROUNDS):
        is_stable = True
        for village in range(agents):
            workers = np.int64(state["workers"][village])
            arrived[village + plan[village]] -= workers
            chosen = respond(state, village, weights, arrived)
            is_stable &= chosen == plan[village]
            plan[village] = chosen
            arrived[village + chosen] += workers
        if is_stable:
            break
    action[0] = plan[agent]
    return word


def _make_policy(name: str, act: Any, game: Game, weights: Any) -> CompiledPolicy:
    names = [one.name for one in game.objectives]
    row = read_weights(weights, names, name, dict.fromkeys(names, 1.0))
    sizes = len(game.blank_state["chance"]), len(game.agents)

    def make_scratch(game):
        return row, *(np.zeros(size, np.int64) for size in sizes)

    return CompiledPolicy(name, act, rules=RULES, scratch=make_scratch)


def make_greedy_mine(game: Game, weights: object = None) -> CompiledPolicy:
    """Return a policy that sends workers where the expected gems are most, as if no other village came.

    weights    of the objectives, by name or in their order; None: equal ones

    Source: our own.
    """
    return _make_policy("greedy_mine", act_alone, game, weights)


def make_village_response(game: Game, weights: object = None) -> CompiledPolicy:
    """Return a policy in which villages respond to each other in turn until none can improve the common plan alone.

    weights    as of `make_greedy_mine`

    Source: best-response dynamics in a game of common interest, as in Monderer and Shapley, "Potential games", Games and
    Economic Behavior 1996.
    """
    return _make_policy("village_response", act_together, game, weights)


GREEDY_MINE = PolicyFactory(make_greedy_mine)
VILLAGE_RESPONSE = PolicyFactory(make_village_response)
