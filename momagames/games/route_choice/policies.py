"""Policies of MO-RouteChoice. They know the pairs of all agents and the tolled links, beyond §7."""

from __future__ import annotations

from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.contract.objective_weights import read_weights
from momagames.engine.policies import CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.games.route_choice import policy_kernels as kernels


def make_shortest(game: Game, weights: Any = None) -> CompiledPolicy:
    """Return a policy that takes the best route for its weights if it had the roads for itself, the first of equal ones.

    weights    of the objectives, by name or in their order; None or empty: equal ones

    Source: our own.
    """
    return _make("shortest", game, weights, 0.0)


def make_best_response(game: Game, weights: Any = None) -> CompiledPolicy:
    """Return a policy that takes the best route for its weights beside the agents before it, who do the same.

    All agents imagine that they choose in their order. What the last one chooses is its best response; the first ones may
    regret their choice.

    Source: our own; best responses in congestion games as in Rosenthal, 1973.
    """
    return _make("best_response", game, weights, 1.0)


def make_marginal(game: Game, weights: Any = None) -> CompiledPolicy:
    """Return a policy as `best_response` that also counts what the agents before it lose by its choice.

    Source: our own; marginal costs as in Pigou, "The Economics of Welfare", 1920.
    """
    return _make("marginal", game, weights, 2.0)


def _make(name: str, game: Game, weights: Any, kind: float) -> CompiledPolicy:
    names = [one.name for one in game.objectives]
    row = read_weights(weights, names, name, dict.fromkeys(names, 1.0))

    def make_scratch(game: Game) -> tuple[Any, ...]:
        links = int(game.blank_state["links"])
        return row, np.array([kind]), np.zeros(links, np.int64), np.zeros(links)

    return CompiledPolicy("choose_route", kernels.choose_route, rules=(game.rules_key,), scratch=make_scratch, label=name)


BEST_RESPONSE, MARGINAL, SHORTEST = (PolicyFactory(make) for make in (make_best_response, make_marginal, make_shortest))
