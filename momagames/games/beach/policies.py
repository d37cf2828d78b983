"""Policies of MO-Beach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.contract import Game
from momagames.contract.objective_weights import read_weights
from momagames.engine.policies import NO_MEMORY, CompiledPolicy
from momagames.engine.policy_sources import PolicyFactory
from momagames.errors import check_range
from momagames.games.beach import policy_kernels as kernels

RULES = ("beach",)


def make_best_response(game: Game, revision: float = 0.2, weights: Any = None) -> CompiledPolicy:
    """Return a policy that goes to the section that would be best for its weights if no other agent moved.

    revision    probability that it moves at all in a step: if all agents did, they would meet in the same section
    weights     of the objectives, by name or in their order; None or empty: equal ones

    Source: our own; best response as in Monderer and Shapley, "Potential games", 1996. In a team the points are those of all,
    so that it is a local search of the team.
    """
    check_range("best_response: revision", revision, 0, 1, above=True)
    return _make("best_response", kernels.best_response, game, weights, revision)


def make_imitate(game: Game, weights: Any = None) -> CompiledPolicy:
    """Return a policy that looks at a random agent and goes where that one is, the more likely the better it is there.

    The probability is the difference of the weighted points of both sections, as a share of the highest points.

    Source: our own; proportional imitation as in Schlag, "Why imitate, and if so, how?", 1998.
    """
    row = _read("imitate", game, weights)
    types = len(game.params["type_counts"] or game.params["type_distribution"])
    highest = row[0] * game.params["capacity"] * np.exp(-1) + row[1] / types
    return _make("imitate", kernels.imitate, game, weights, 1 / max(highest, kernels.LEAST_GAIN))


def make_overflow(game: Game, weights: Any = None) -> CompiledPolicy:
    """Return a policy for teams: all sections but the last get the same few agents, and the last one all others.

    All agents make the same plan: the best one of this form for the weights of the objectives. Types and sections of all
    agents say who goes where.

    Source: our own; the overcrowded section as Mannion et al. (2018) describe it.
    """
    return _make("overflow", kernels.overflow, game, weights, 0.0, kernels.PLAN_MEMORY)


def _read(name: str, game: Game, weights: Any) -> Any:
    names = [one.name for one in game.objectives]
    return read_weights(weights, names, name, dict.fromkeys(names, 1.0))


def _make(
    name: str, act: Callable[..., Any], game: Game, weights: Any, option: float, memory: Any = NO_MEMORY
) -> CompiledPolicy:
    row = _read(name, game, weights)

    def make_scratch(game: Game) -> tuple[Any, ...]:
        return row, np.array([option])

    return CompiledPolicy(name, act, memory, RULES, scratch=make_scratch)


BEST_RESPONSE, IMITATE, OVERFLOW = (PolicyFactory(make) for make in (make_best_response, make_imitate, make_overflow))
