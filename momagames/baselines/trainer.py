"""Methods that train gradually: trainers that can be saved and resumed, and policies for all weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.base import Method, TrainingResult
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.weight_lattice import format_weights, resolve_shares, simplex_lattice
from momagames.contract import Game, TrainingDefaults
from momagames.engine.policies import CompiledPolicy
from momagames.errors import InvalidFile

Arrays = dict[str, NDArray[Any]]


class TrainedPolicies(Protocol):
    """The policies of one training, for all weights of the objectives.

    arrays           its parameters, as they are stored
    reads_weights    whether play depends on the weights: if not, it serves any selection of objectives
    """

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]: ...

    @property
    def reads_weights(self) -> bool: ...

    def compile(self, label: str, weights: Sequence[float], greedy: bool) -> CompiledPolicy:
        """Return the policy for these weights.

        greedy    play the best action instead of sampling one
        """


class Trainer(Protocol):
    """A training that is under way.

    steps           environment steps so far, those of look-ahead included
    decisions       decisions of the learning agents so far
    is_done         whether the budget is used up
    return_scale    float64[K], divisors of the returns, to which weights refer

    A trainer that continues from the state of another one is equal to it to the bit, on the CPU of the same machine with the
    same number of threads.
    """

    @property
    def steps(self) -> int: ...

    @property
    def decisions(self) -> int: ...

    @property
    def is_done(self) -> bool: ...

    @property
    def return_scale(self) -> NDArray[np.float64]: ...

    def train_iteration(self) -> dict[str, float]:
        """Play and learn once. Returns metrics."""

    def make_policies(self) -> TrainedPolicies:
        """Return the current policies."""

    def summarize(self) -> dict[str, Any]:
        """Return counts that are stored with results."""

    def state_dict(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that the next iteration depends on, as JSON-able data and arrays."""

    def load_state_dict(self, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state of a trainer with the same setup and options. Raises InvalidFile if it does not fit."""


def train_to_end(trainer: Trainer) -> None:
    """Train until the budget is used up."""
    while not trainer.is_done:
        trainer.train_iteration()


class TrainerMethod(Method, ABC):
    """A method whose policies come from a `Trainer`, one for each weight vector of a simplex lattice.

    default_budget    environment steps of `momagames train` without --budget, unless the game declares others: about two
                      minutes on two cores
    plays_itself      whether it trains by self-play where there are several teams; else against given opponents alone
    serves            option of a search that it trains for, where its policies are a by-product; empty: it trains for play
    """

    trains: ClassVar[bool] = True
    plays_itself: ClassVar[bool] = True
    serves: ClassVar[str] = ""
    default_budget: ClassVar[int]

    @abstractmethod
    def make_trainer(self, setup: TrainingSetup) -> Trainer:
        """Return a trainer. Raises InvalidParameter; MissingExtra."""

    @abstractmethod
    def restore_policies(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> TrainedPolicies:
        """Return trained policies from their stored arrays; InvalidParameter if they do not fit the game."""

    @classmethod
    def default_options(cls, game: Game) -> dict[str, Any]:
        """Return the options of `momagames train` for a game by name."""
        return {**cls().options(), **cls.declared_defaults(game).options}

    @classmethod
    def choose_budget(cls, game: Game) -> int:
        """Return the environment steps of `momagames train` without --budget for a game."""
        return cls.declared_defaults(game).budget or cls.default_budget

    @classmethod
    def declared_defaults(cls, game: Game) -> TrainingDefaults:
        """Return what the game declares for this learner."""
        return game.learning.training.get(cls.name, TrainingDefaults({}))

    @property
    def lattice_divisions(self) -> int:
        """Divisions of the lattice: C(divisions + K - 1, K - 1) policies for K objectives."""
        return int(self.options()["divisions"])

    @property
    def is_greedy(self) -> bool:
        """Whether the policies play the best action instead of sampling one."""
        return bool(self.options().get("greedy", True))

    def check_setup(self, setup: TrainingSetup) -> None:
        setup.check_agents(self.name)
        self.check_train(setup.game)

    def with_divisions(self, divisions: int) -> TrainerMethod:
        """Return the method with another lattice."""
        return type(self)(**{**self.options(), "divisions": divisions})

    def make_responder(self) -> TrainerMethod:
        """Return the method with options to learn a best response to given opponents."""
        return self

    def select_policies(
        self,
        game: Game,
        trained: TrainedPolicies,
        fixed_weights: Sequence[float] | None = None,
        greedy: bool | None = None,
    ) -> tuple[CompiledPolicy, ...]:
        """Return the policies for the weights of the lattice, or for `fixed_weights` alone.

        greedy    play the best action instead of sampling one; None: as the method does
        """
        is_greedy = self.is_greedy if greedy is None else greedy
        lattice = list_weights(game, self.lattice_divisions, fixed_weights)
        return tuple(trained.compile(format_weights(row), row.tolist(), is_greedy) for row in lattice)

    def train(self, setup: TrainingSetup) -> TrainingResult:
        self.check_setup(setup)
        trainer = self.make_trainer(setup)
        train_to_end(trainer)
        policies = self.select_policies(setup.game, trainer.make_policies(), setup.fixed_weights)
        return TrainingResult(policies, trainer.steps, trainer.summarize())


def list_weights(game: Game, divisions: int, fixed_weights: Sequence[float] | None = None) -> NDArray[np.float64]:
    """Return the weights of the simplex lattice, float64[n, K], or `fixed_weights` alone, divided by their sum."""
    if fixed_weights is None:
        return simplex_lattice(len(game.objectives), divisions)
    return resolve_shares("fixed_weights", game, list(fixed_weights))[None]


def restore_dtype(array: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """Return a stored array with the dtype of another one, records included. Raises InvalidFile if it does not fit."""
    restored = np.array(array, order="C")
    if like.dtype.names and restored.dtype == np.uint8 and restored.size == like.nbytes:
        restored = restored.reshape(-1).view(like.dtype).reshape(like.shape)
    if restored.shape != like.shape or restored.dtype != like.dtype:
        raise InvalidFile(
            f"invalid array in a checkpoint: {restored.dtype}{list(restored.shape)}, expected {like.dtype}{list(like.shape)}"
        )
    return restored


def restore_arrays(given: Mapping[str, NDArray[Any]], own: Mapping[str, NDArray[Any]]) -> Arrays:
    """Return stored arrays with the dtypes of a trainer's own ones. Raises InvalidFile if they do not fit."""
    if unexpected := set(own) ^ set(given):
        raise InvalidFile(f"a checkpoint of another training: missing or unexpected arrays {sorted(unexpected)[:3]}")
    return {name: restore_dtype(given[name], array) for name, array in own.items()}
