"""Policies of MO-ItemGathering."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.contract import Game
from momagames.contract.objective_weights import read_weights
from momagames.engine.policies import CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.errors import InvalidParameter, invalid_value
from momagames.games.item_gathering.agent_kernels import gather

RULES = ("item_gathering", "item_gathering.central")


def _make(name: str, weights: NDArray[np.float64], shares: bool) -> CompiledPolicy:
    def make_scratch(game: Game) -> tuple[Any, ...]:
        return weights, np.array([int(shares)])

    return CompiledPolicy(name, gather, rules=RULES, scratch=make_scratch)


NEAREST = _make("nearest", np.zeros(0), shares=False)
"""Agent that goes to the nearest item, the first one in row-major order among equals.

Source: our own.
"""


def make_weighted(game: Game, weights: Any = None, shares: bool = True) -> CompiledPolicy:
    """Return a policy that goes to the item with the highest weight, divided by the steps to it.

    weights    of the objectives, by name or in their order; None or empty: equal ones. Items of weight 0 or less are no goals
    shares     whether it leaves items to agents that are nearer, while there is any other

    Source: our own; preferences over types of items as in Källström and Heintz, "Tunable dynamics in agent-based simulation
    using multi-objective reinforcement learning", 2019.
    """
    if not isinstance(shares, bool):
        raise InvalidParameter(f"weighted: {invalid_value('shares', shares, 'True or False')}")
    names = [one.name for one in game.objectives]
    return _make("weighted", read_weights(weights, names, "weighted", dict.fromkeys(names, 1.0)), shares)


WEIGHTED = PolicyFactory(make_weighted)
