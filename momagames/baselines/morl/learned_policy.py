"""Policies that learners of other libraries have trained, as Python policies of the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.adapters.options import substitute_legal
from momagames.baselines.morl.networks import Arrays
from momagames.baselines.morl.training_env import OBSERVATION, make_flat_observation
from momagames.contract import Game, reset_policy
from momagames.engine.policies import PythonPolicy
from momagames.engine.policy_sources import ObservationPolicy


class Situation(NamedTuple):
    """What a trained policy chooses from.

    observation   float32[F], flat
    mask          int8[M], legal actions
    value         float64[K], rewards of the agent since the start of the episode
    rng           its generator
    """

    observation: NDArray[np.float32]
    mask: NDArray[np.int8]
    value: NDArray[np.float64]
    rng: np.random.Generator


# (situation) -> action. One with a memory plays one agent, and has a method `reset()`, called at the start of an episode.
Chooser = Callable[[Situation], int]


@dataclass(frozen=True)
class LearnedPolicy:
    """A trained policy as data.

    label     of the policy in results
    weights   of the objectives, to which it was trained or on which it is conditioned; empty: none
    arrays    from which `LibraryLearner.restore` makes it again
    """

    label: str
    weights: tuple[float, ...]
    arrays: Arrays


class AgentChooser:
    """A chooser as a function (observation, mask, generator) -> action, which replaces illegal actions as in training."""

    def __init__(self, game: Game, choose: Chooser, illegal: str) -> None:
        self._game, self._choose, self._illegal = game, choose, illegal
        self._flat = make_flat_observation(game)
        self._value = np.zeros(len(game.objectives))

    def reset(self) -> None:
        """Start a new episode."""
        self._value[:] = 0
        reset_policy(self._choose)  # type: ignore[arg-type]

    def set_return(self, value: NDArray[np.float64]) -> None:
        """Set the rewards of the agent so far."""
        self._value = value

    def __call__(self, observation: Any, mask: NDArray[np.int8], rng: np.random.Generator) -> int:
        flat = self._flat.flatten(observation, mask)[OBSERVATION]
        action = self._choose(Situation(flat, mask, self._value, rng))
        if mask[action] or self._game.allows_illegal:
            return action
        return int(substitute_legal(self._illegal, action, mask, self._game.actions, rng))


def make_python_policy(policy: LearnedPolicy, make_chooser: Callable[[], Chooser], illegal: str) -> PythonPolicy:
    """Return a policy that can be seated; `make_chooser` is called for each agent of each environment."""

    def make(game: Game, agent: int | None) -> ObservationPolicy:
        return ObservationPolicy(AgentChooser(game, make_chooser(), illegal), game, agent)

    return PythonPolicy(policy.label, make, policy.weights, policy.arrays)
