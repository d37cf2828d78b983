# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Trained bandits as policies: the probabilities of the arms of each agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.bandits.elimination import Graph, Plan
from momagames.baselines.bandits.joint import find_best_actions
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.kernels.jit import kernel
from momagames.kernels.rng import advance, uniform

Floats = NDArray[np.float64]


@kernel
def act_by_table(state, agent, mask, parts, memory, scratch, word, action):
    """Draw an arm of the row of the agent; arms that are not legal in this position, and a rest by rounding, do not count."""
    probabilities, total = scratch[0][agent], 0.0
    for arm in range(mask.shape[0]):
        if mask[arm]:
            total += probabilities[arm]
    word = advance(word)
    rest, chosen, is_open = uniform(word) * total, 0, True
    for arm in range(mask.shape[0]):
        if mask[arm] and is_open and (probabilities[arm] > 0.0 or total == 0.0):
            chosen = arm
            rest -= probabilities[arm]
            is_open = rest >= 0.0 and total > 0.0
    action[0] = chosen
    return word


def make_table_policy(
    game: Game, probabilities: Floats, label: str, weights: Sequence[float], is_greedy: bool
) -> CompiledPolicy:
    """Return the policy of probabilities float64[A, M].

    is_greedy    play the likeliest arm, the first of equal ones, instead of drawing one
    """
    table = probabilities
    if is_greedy:
        table = (np.arange(table.shape[1]) == table.argmax(axis=1)[:, None]).astype(np.float64)

    def make_scratch(other: Game) -> tuple[Any, ...]:
        return (table,)

    return CompiledPolicy(
        "bandit", act_by_table, rules=(game.rules_key,), scratch=make_scratch, label=label, weights=tuple(weights),
        arrays={"probabilities": table},
    )  # fmt: skip


@dataclass(frozen=True)
class BanditTables:
    """Trained agents for the weights of a lattice.

    weights          float64[W, K]
    probabilities    float64[W, A, M]
    """

    game: Game
    weights: Floats
    probabilities: Floats
    reads_weights: bool = True

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its parameters, as they are stored."""
        return {"weights": self.weights, "probabilities": self.probabilities}

    def compile(self, label: str, weights: Sequence[float], greedy: bool) -> CompiledPolicy:
        """Return the policy of the nearest weights that were trained."""
        row = np.array(weights, np.float64)
        nearest = int(np.square(self.weights - row / row.sum()).sum(axis=1).argmin())
        return make_table_policy(self.game, self.probabilities[nearest], label, weights, greedy)


@dataclass(frozen=True)
class JointValues:
    """Estimates of local rewards, from which the best joint action for any weights follows.

    values          float64[N, K], the mean local rewards of all entries of a graph
    return_scale    float64[K], divisors of the returns, to which weights refer
    """

    game: Game
    graph: Graph
    plan: Plan
    values: Floats
    return_scale: Floats
    reads_weights: bool = True

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its parameters, as they are stored."""
        return {"values": self.values, "return_scale": self.return_scale}

    def compile(self, label: str, weights: Sequence[float], greedy: bool) -> CompiledPolicy:
        """Return the policy that plays its part of the best joint action for these weights."""
        actions = find_best_actions(self.graph, self.plan, self.values @ (np.array(weights) / self.return_scale))
        table = (np.arange(self.game.mask_size) == actions[:, None]).astype(np.float64)
        return make_table_policy(self.game, table, label, weights, greedy)
