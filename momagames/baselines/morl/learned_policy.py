"""Policies that learners of other libraries have trained, as Python policies of the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.morl.networks import Arrays
from momagames.baselines.morl.training_env import make_flat_observation
from momagames.contract import Game
from momagames.engine.policy_sources import ObservationPolicy
from momagames.engine.python_policies import Choices, PythonPolicy


class Situations(NamedTuple):
    """What a trained policy chooses from, at n seats at once.

    seats          int64[n], their numbers
    observations   float32[n, F], flat
    masks          int8[n, M], legal actions
    values         float64[n, K], rewards of the agents since the start of the episode
    draws          float64[n], a random number in [0, 1) for each
    """

    seats: NDArray[np.int64]
    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    values: NDArray[np.float64]
    draws: NDArray[np.float64]


class Chooser:
    """A trained policy: situations -> actions, int64[n]."""

    def __init__(self, choose: Callable[[Situations], NDArray[np.int64]]) -> None:
        self._choose = choose

    def reset(self, seats: NDArray[np.int64]) -> None:
        """Start a new episode at these seats; for policies with a memory."""

    def __call__(self, situations: Situations) -> NDArray[np.int64]:
        return self._choose(situations)


# (seats) -> a chooser for this number of seats
ChooserMaker = Callable[[int], Chooser]


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


class LearnedPlayer:
    """A chooser as a `BatchPlayer`, which replaces illegal actions as in training."""

    def __init__(self, game: Game, choose: Chooser, illegal: str) -> None:
        self._game, self._choose, self._illegal = game, choose, illegal

    def reset(self, seats: NDArray[np.int64]) -> None:
        self._choose.reset(seats)

    def __call__(self, choices: Choices) -> NDArray[np.int64]:
        parts = [np.reshape(choices.fields[field.name], (len(choices.seats), -1)) for field in self._game.fields]
        observations = np.concatenate(parts, axis=1, dtype=np.float32, casting="unsafe")
        return self.choose(Situations(choices.seats, observations, choices.masks, choices.returns, choices.draws))

    def choose(self, situations: Situations) -> NDArray[np.int64]:
        """Return the actions for flat observations."""
        actions, masks = self._choose(situations), situations.masks
        if self._game.allows_illegal:
            return actions
        return np.where(masks[np.arange(len(actions)), actions], actions, self._replace(actions, masks, situations.draws))

    def _replace(self, actions: NDArray[np.int64], masks: NDArray[np.int8], draws: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the next legal actions, cyclically, or random ones."""
        if self._illegal == "next":
            size = masks.shape[1]
            distances = (np.arange(size) - actions[:, None]) % size
            following: NDArray[np.int64] = np.argmin(np.where(masks, distances, size), axis=1)
            return following
        places = (draws * np.count_nonzero(masks, axis=1)).astype(np.int64)  # of the action among the legal ones
        drawn: NDArray[np.int64] = np.argmax(np.cumsum(masks, axis=1, dtype=np.int64) > places[:, None], axis=1)
        return drawn


class AgentChooser:
    """A chooser of one seat as a function (observation, mask, generator) -> action."""

    def __init__(self, game: Game, make_chooser: ChooserMaker, illegal: str) -> None:
        self._player = LearnedPlayer(game, make_chooser(1), illegal)
        self._flat = make_flat_observation(game)
        self._value = np.zeros(len(game.objectives))
        self.reset()

    def reset(self) -> None:
        """Start a new episode."""
        self._value = np.zeros_like(self._value)
        self._player.reset(np.zeros(1, np.int64))

    def set_return(self, value: NDArray[np.float64]) -> None:
        """Set the rewards of the agent so far."""
        self._value = value

    def __call__(self, observation: Any, mask: NDArray[np.int8], rng: np.random.Generator) -> int:
        flat = self._flat.flatten_fields(observation)
        seat, draw = np.zeros(1, np.int64), np.array([rng.random()])
        return int(self._player.choose(Situations(seat, flat[None], mask[None], np.array(self._value)[None], draw))[0])


def make_python_policy(policy: LearnedPolicy, make_chooser: ChooserMaker, illegal: str) -> PythonPolicy:
    """Return a policy that can be seated; `make_chooser` is called for each agent of each environment, or for all at once."""

    def make(game: Game, agent: int | None) -> ObservationPolicy:
        return ObservationPolicy(AgentChooser(game, make_chooser, illegal), game, agent)

    def make_batch(game: Game, seats: int) -> LearnedPlayer:
        return LearnedPlayer(game, make_chooser(seats), illegal)

    return PythonPolicy(policy.label, make, policy.weights, policy.arrays, make_batch)


def append_row(observations: NDArray[np.float32], row: Sequence[float] | NDArray[Any]) -> NDArray[np.float32]:
    """Return the observations with the same numbers after each, float32[n, F + m]."""
    rows = np.broadcast_to(np.asarray(row, np.float32), (len(observations), len(row)))
    return np.concatenate([observations, rows], axis=1)
