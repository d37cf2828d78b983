"""What methods with learners of other libraries have in common: games, training within a budget, plans, restored policies."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.archive import Archive
from momagames.baselines.base import Method, Plans, TrainingResult
from momagames.baselines.morl.learned_policy import AgentChooser, Chooser, LearnedPolicy, make_python_policy
from momagames.baselines.morl.networks import Arrays
from momagames.baselines.morl.training_env import BudgetReached, StepBudget, TrainingEnv, estimate_return_scale
from momagames.baselines.torch_threads import use_torch_threads
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.weight_lattice import check_lattice_size, format_weights, simplex_lattice
from momagames.contract import Game
from momagames.engine.episode import Episode
from momagames.engine.python_policies import PythonPolicy
from momagames.errors import InvalidParameter, check_choice, check_range

ILLEGAL = ("next", "random")
MAX_POLICIES = 1024
SCALE_SHARE = 20  # one part in so many of the budget is random play, which scales the rewards


@dataclass(frozen=True)
class LibraryLearner(Method, ABC):
    """Base class of learners of other libraries. Each plays one agent, with a single discrete action.

    gamma      discount factor of the learner
    illegal    action played in place of an illegal one, in training and in evaluations: "next", the next legal one, or
               "random"

    As a planner it trains from one start position; all its episodes are plans, and one of each final policy.
    """

    trains: ClassVar[bool] = True
    package: ClassVar[str] = "morl_baselines"
    module: ClassVar[str]  # of the package, with the learner
    extra: ClassVar[str] = "morl"
    max_actions: ClassVar[int | None] = None
    gamma: float
    illegal: str

    def __post_init__(self) -> None:
        check_range(f"{self.name}: gamma", self.gamma, 0, 1, above=True)
        check_choice(f"{self.name}: illegal", self.illegal, ILLEGAL)

    @abstractmethod
    def learn(self, env: TrainingEnv, seed: int) -> list[LearnedPolicy]:
        """Train until the budget of the environment is used up, see `within_budget`. Return the policies."""

    @abstractmethod
    def make_chooser(self, game: Game, arrays: Mapping[str, NDArray[Any]], seats: int = 1) -> Chooser:
        """Return the policy at a number of seats. Raises KeyError or ValueError if the arrays do not fit the game."""

    def check_game(self, game: Game) -> None:
        """Raise InvalidParameter if the learner cannot play this game."""
        if len(game.actions) > 1:
            raise InvalidParameter(
                f"{self.name} needs one discrete action; {game.id} has actions of {len(game.actions)} parts: moppo plays it"
            )
        if self.max_actions is not None and game.actions[0] > self.max_actions:
            raise InvalidParameter(
                f"{self.name} stores actions as bytes: expected at most {self.max_actions} actions, {game.id} has "
                f"{game.actions[0]}; pcn, maskable_ppo and moppo play it"
            )

    def check_train(self, game: Game) -> None:
        self.check_game(game)
        if len(set(game.teams)) < len(game.agents):
            raise InvalidParameter(
                f"{self.name} learns for one agent; {game.id} has teams of several agents, and moppo plays it"
            )

    def check_plan(self, game: Game) -> None:
        self.check_one_return(game)
        self.check_game(game)
        if len(game.agents) > 1:
            raise InvalidParameter(f"{self.name} plans for one agent; {game.id} has {len(game.agents)}, and moppo plays it")

    def train(self, setup: TrainingSetup) -> TrainingResult:
        self.check_installed()
        self.check_setup(setup)
        game, rng, shared = setup.game, np.random.default_rng(setup.seed), StepBudget(setup.budget)
        env = TrainingEnv(game, setup.learning_agents, setup.opponents, self.illegal, shared, rng, setup.starts)
        policies = tuple(self._make_policy(game, policy) for policy in self._learn(env, rng))
        return TrainingResult(policies, shared.used, {"policies_trained": len(policies)})

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        self.check_installed()
        self.check_plan(game)
        rng, shared, archive = np.random.default_rng(seed), StepBudget(budget), Archive(len(game.objectives))
        env = TrainingEnv(game, [0], [], self.illegal, shared, rng, start, archive)
        learned = self._learn(env, rng)
        shared.limit = None
        for policy in learned:
            play_once(env, AgentChooser(game, partial(self.make_chooser, game, policy.arrays), self.illegal), rng)
        return Plans(archive.front(), shared.used, info={"policies": len(learned)}, dominated=archive.dominated)

    def _learn(self, env: TrainingEnv, rng: np.random.Generator) -> list[LearnedPolicy]:
        budget = env.budget.limit or 0
        with use_library(self.module, int(rng.integers(2**31))):
            try:
                env.return_scale = estimate_return_scale(env, budget // SCALE_SHARE, rng)
                policies = self.learn(env, int(rng.integers(2**31)))
            except BudgetReached:
                policies = []
        if not policies and not (env.archive and env.archive.plans):
            raise InvalidParameter(
                f"{self.name}: invalid budget={budget} for {env.game.id}: expected enough environment steps for a first policy"
            )
        return name_distinctly(policies)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> PythonPolicy:
        self.check_game(game)
        policy = LearnedPolicy(label, tuple(np.ravel(arrays.get("weights", ())).tolist()), dict(arrays))
        try:
            episode = Episode(game)
            episode.reset(0)
            agent = episode.mover
            fields, mask = episode.observe_with_mask(agent)
            observation = next(iter(fields.values())) if len(fields) == 1 else fields
            play = AgentChooser(game, partial(self.make_chooser, game, arrays), self.illegal)
            play(observation, mask, np.random.default_rng(0))
        except (KeyError, IndexError, ValueError) as error:
            raise InvalidParameter(f"invalid arrays {sorted(arrays)} of {label!r} for {game.id}: {error}") from None
        return self._make_policy(game, policy)

    def _make_policy(self, game: Game, policy: LearnedPolicy) -> PythonPolicy:
        return make_python_policy(policy, partial(self.make_chooser, game, policy.arrays), self.illegal)


@dataclass(frozen=True)
class WeightConditionedLearner(LibraryLearner):
    """A learner whose policies are those for the weights of a simplex lattice.

    divisions   of the lattice
    """

    divisions: int

    def check_game(self, game: Game) -> None:
        super().check_game(game)
        check_lattice_size(self.name, game, self.divisions, MAX_POLICIES)

    def list_weights(self, game: Game) -> NDArray[np.float64]:
        """Return the weights of the lattice, float64[n, K]."""
        return simplex_lattice(len(game.objectives), self.divisions)

    def make_policies(self, game: Game, arrays: Arrays) -> list[LearnedPolicy]:
        """Return the policies of one network for all weights of the lattice."""
        return [make_weighted_policy(row, arrays) for row in self.list_weights(game)]


def make_weighted_policy(weights: NDArray[np.float64], arrays: Arrays) -> LearnedPolicy:
    """Return a policy for these weights, which are added to its arrays."""
    return LearnedPolicy(format_weights(weights), tuple(weights.tolist()), {**arrays, "weights": np.array(weights, np.float32)})


def name_distinctly(policies: Sequence[LearnedPolicy]) -> list[LearnedPolicy]:
    """Return the policies with distinct labels: repeated ones get a number."""
    counts: dict[str, int] = {}
    named = []
    for policy in policies:
        counts[policy.label] = number = counts.get(policy.label, 0) + 1
        named.append(policy if number == 1 else replace(policy, label=f"{policy.label} #{number}"))
    return named


@contextlib.contextmanager
def within_budget() -> Iterator[None]:
    """End the training of a library without an error when the budget is used up."""
    with contextlib.suppress(BudgetReached):
        yield


@contextlib.contextmanager
def use_library(module: str, seed: int) -> Iterator[None]:
    """Seed all generators that libraries use, use one thread, and discard their output; restore the generators afterwards.

    module    of the library, imported before: some of its imports draw random numbers
    """
    import torch

    import_module(module)
    python, numpy, torch_state = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)
    try:
        with use_torch_threads(1), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        torch.set_rng_state(torch_state)


def play_once(env: TrainingEnv, choose: AgentChooser, rng: np.random.Generator) -> None:
    """Play an episode with a policy."""
    env.reset()
    choose.reset()
    is_over = False
    while not is_over:
        observation, mask, value = env.read_situation()
        choose.set_return(value)
        _, _, terminated, truncated, _ = env.step(choose(observation, mask, rng))
        is_over = terminated or truncated
