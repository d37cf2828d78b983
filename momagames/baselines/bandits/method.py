"""Bandits as methods: `bandit_ucb`, `bandit_gradient` and `bandit_joint`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.bandits.elimination import Graph, Plan, make_graph, make_plan
from momagames.baselines.bandits.gradient import GradientOptions, compute_probabilities, make_gradient_tables
from momagames.baselines.bandits.independent import IndependentLearners
from momagames.baselines.bandits.joint import JointLearner
from momagames.baselines.bandits.pareto import MAX_JOINT_ACTIONS
from momagames.baselines.bandits.policies import BanditTables, JointValues, make_table_policy
from momagames.baselines.bandits.setting import check_fixed_start, check_one_step, find_arms, make_starts
from momagames.baselines.bandits.signals import SIGNALS, check_signal
from momagames.baselines.bandits.trainer import BanditTrainer
from momagames.baselines.bandits.ucb import UcbOptions, compute_frequencies, make_ucb_tables
from momagames.baselines.base import check_array, check_array_names
from momagames.baselines.trainer import TrainerMethod, list_weights
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.weight_lattice import check_lattice_size
from momagames.contract import Game, RewardFactor
from momagames.engine.policies import CompiledPolicy
from momagames.errors import InvalidParameter, check_choice, check_range, invalid_value, nearest, one_of
from momagames.kernels.rng import random_words

MAX_POLICIES = 1024
CHUNK, JOINT_CHUNK = 2_000_000, 100_000  # choices of agents in an iteration
RULES = ("confidence", "pareto")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BanditMethod(TrainerMethod):
    """What bandits have in common: games of one step, in which all agents learn at the same time.

    Opponents of the experiment take no part in training. Weights refer to rewards as they are.

    divisions    of the simplex lattice of weights, see the methods
    greedy       whether policies play the likeliest action instead of drawing one
    """

    default_choices: ClassVar[int]  # of all agents, in the default budget
    divisions: int = 4
    greedy: bool = True

    @classmethod
    def choose_budget(cls, game: Game) -> int:
        return cls.declared_defaults(game).budget or max(1, cls.default_choices // len(game.agents))

    def __post_init__(self) -> None:
        check_range(f"{self.name}: divisions", self.divisions, 1, 100, whole=True)
        check_choice(f"{self.name}: greedy", self.greedy, (True, False))

    def check_rules(self, game: Game) -> None:
        """Raise InvalidParameter if the method cannot learn this game from any start position."""
        check_one_step(self.name, game)
        check_lattice_size(self.name, game, self.divisions, MAX_POLICIES)

    def check_train(self, game: Game) -> None:
        self.check_rules(game)
        check_fixed_start(self.name, game)

    def check_setup(self, setup: TrainingSetup) -> None:
        setup.check_one_game(self.name)
        self.check_rules(setup.game)
        self.list_arms(setup.game, make_starts(self.name, setup.game, setup.starts))

    def list_arms(self, game: Game, starts: NDArray[Any]) -> NDArray[np.int8]:
        """Return the arms of each agent, int8[A, M], or raise InvalidParameter."""
        return find_arms(self.name, game, starts)

    @abstractmethod
    def start_training(
        self, setup: TrainingSetup, starts: NDArray[Any], mask: NDArray[np.int8], lattice: Floats, scale: Floats
    ) -> BanditTrainer:
        """Return a trainer for weights float64[W, K] of returns that are divided by float64[K]."""

    def make_trainer(self, setup: TrainingSetup) -> BanditTrainer:
        """Return a trainer."""
        self.check_setup(setup)
        game = setup.game
        starts = make_starts(self.name, game, setup.starts)
        scale = np.ones(len(game.objectives)) if setup.return_scale is None else setup.return_scale
        lattice = list_weights(game, self.divisions, setup.fixed_weights)
        return self.start_training(setup, starts, self.list_arms(game, starts), lattice, scale)

    def make_responder(self) -> TrainerMethod:
        raise InvalidParameter(f"{self.name} learns from play of all agents at once, not against a given policy")

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
        self.check_rules(game)
        check_array_names(label, arrays, ("probabilities",))
        check_array(label, "probabilities", arrays["probabilities"], np.float64, (len(game.agents), game.mask_size))
        return make_table_policy(game, arrays["probabilities"], label, (), False)


@dataclass(frozen=True)
class IndependentBandit(BanditMethod):
    """Independent learners, one for each agent and each weight vector of a lattice, with an even share of the budget each.

    divisions    of the simplex lattice: C(divisions + K - 1, K - 1) policies for K objectives
    signal       what an agent learns from: `local` (its own rewards), `global` (the mean rewards of all agents) or `difference`
                 (the latter minus what it would be without the agent, where the game declares it)
    """

    signal: Literal["local", "global", "difference"] = "local"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.signal not in SIGNALS:
            expected, near = one_of(SIGNALS), nearest(self.signal, SIGNALS)
            raise InvalidParameter(invalid_value(f"{self.name}: signal", self.signal, expected, near))

    def check_rules(self, game: Game) -> None:
        super().check_rules(game)
        check_signal(self.name, game, self.signal)

    @abstractmethod
    def make_learner(
        self, game: Game, starts: NDArray[Any], mask: NDArray[np.int8], weights: Floats, word: int
    ) -> IndependentLearners:
        """Return the learners of a weight vector, float64[K], before the first pull."""

    @abstractmethod
    def compute_policy(self, learner: IndependentLearners) -> Floats:
        """Return the current probabilities of the arms, float64[A, M]."""

    def start_training(
        self, setup: TrainingSetup, starts: NDArray[Any], mask: NDArray[np.int8], lattice: Floats, scale: Floats
    ) -> BanditTrainer:
        words = random_words(setup.seed, len(lattice)).tolist()
        pairs = zip(lattice, words, strict=True)
        learners = [self.make_learner(setup.game, starts, mask, row / scale, word) for row, word in pairs]

        def make_policies() -> BanditTables:
            return BanditTables(setup.game, lattice, np.array([self.compute_policy(one) for one in learners]))

        return BanditTrainer(setup, learners, make_policies, scale, CHUNK // len(setup.game.agents))

    def restore_policies(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> BanditTables:
        self.check_rules(game)
        check_array_names(self.name, arrays, ("weights", "probabilities"))
        weights, count = arrays["weights"], len(np.atleast_1d(arrays["weights"]))
        check_array(self.name, "weights", weights, np.float64, (max(count, 1), len(game.objectives)))
        shape = count, len(game.agents), game.mask_size
        check_array(self.name, "probabilities", arrays["probabilities"], np.float64, shape)
        return BanditTables(game, weights, arrays["probabilities"])


@dataclass(frozen=True)
class BanditUcb(IndependentBandit):
    """Independent learners with upper confidence bounds of the weighted rewards: scalarized UCB1 (Drugan and Nowé 2013).

    Policies play the arm that was pulled most.

    signal, divisions    see `IndependentBandit`
    exploration    factor of the radius of confidence bounds, which has the unit of the range of the agent's utilities so far
    radius         `ucb1`, or `tuned`, that of UCB1-Tuned, which allows for variances (both Auer et al. 2002)
    inertia        probability, 0 to below 1, that an agent pulls its last arm again, so that agents in the same position do not
                   all change at the same time
    """

    name: ClassVar[str] = "bandit_ucb"
    default_choices: ClassVar[int] = 1_000_000_000
    exploration: float = 1.0
    radius: Literal["ucb1", "tuned"] = "tuned"
    inertia: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: exploration", self.exploration, 0, 100)
        check_range(f"{self.name}: inertia", self.inertia, 0, 0.999)
        if self.radius not in ("ucb1", "tuned"):
            raise InvalidParameter(invalid_value(f"{self.name}: radius", self.radius, "'ucb1' or 'tuned'"))

    def make_learner(
        self, game: Game, starts: NDArray[Any], mask: NDArray[np.int8], weights: Floats, word: int
    ) -> IndependentLearners:
        options = UcbOptions(float(self.exploration), self.radius == "tuned", float(self.inertia))
        return IndependentLearners(game, starts, mask, weights, "ucb", make_ucb_tables(*mask.shape), options, self.signal, word)

    def compute_policy(self, learner: IndependentLearners) -> Floats:
        return compute_frequencies(learner.tables)


@dataclass(frozen=True)
class BanditGradient(IndependentBandit):
    """Independent gradient bandits: a softmax of preferences for each agent (Williams 1992; Sutton and Barto 2018, ch. 2).

    signal, divisions    see `IndependentBandit`
    alpha    step size, for utilities in standard deviations
    """

    name: ClassVar[str] = "bandit_gradient"
    default_choices: ClassVar[int] = 1_000_000_000
    alpha: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: alpha", self.alpha, 0, 10, above=True)

    def make_learner(
        self, game: Game, starts: NDArray[Any], mask: NDArray[np.int8], weights: Floats, word: int
    ) -> IndependentLearners:
        options = GradientOptions(float(self.alpha))
        return IndependentLearners(
            game, starts, mask, weights, "gradient", make_gradient_tables(*mask.shape), options, self.signal, word
        )

    def compute_policy(self, learner: IndependentLearners) -> Floats:
        return compute_probabilities(learner.tables, learner.mask)


@dataclass(frozen=True)
class BanditJoint(BanditMethod):
    """One learner of joint actions for all weights, by multi-agent upper confidence exploration (Bargiacchi et al. 2018).

    Where a game declares local rewards (`LearningSupport.reward_factors`) it estimates these and finds joint actions by
    elimination of variables; else there is one estimate for each joint action, of the mean rewards of all agents. Policies are
    exact for the estimates, for all weights.

    divisions      of the simplex lattice whose weights the pulls are for, in turn; and of that of the policies
    exploration    factor of the radius of confidence bounds: theory has 1, and less was better in the games that were measured
    rule           `confidence`, or `pareto`: Pareto UCB1 (Drugan and Nowé 2013), which pulls a random joint action with
                   non-dominated bounds, in games with at most 4,096 joint actions
    """

    name: ClassVar[str] = "bandit_joint"
    default_choices: ClassVar[int] = 20_000_000
    exploration: float = 0.3
    rule: Literal["confidence", "pareto"] = "confidence"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: exploration", self.exploration, 0, 100)
        if self.rule not in RULES:
            raise InvalidParameter(invalid_value(f"{self.name}: rule", self.rule, one_of(RULES), nearest(self.rule, RULES)))

    def check_rules(self, game: Game) -> None:
        super().check_rules(game)
        self.make_plan(game)

    def list_arms(self, game: Game, starts: NDArray[Any]) -> NDArray[np.int8]:
        mask = super().list_arms(game, starts)
        sizes = np.array(list_sizes(game))[:, None]
        if (mask != (np.arange(mask.shape[1]) < sizes)).any():
            raise InvalidParameter(f"{self.name}: expected a start position of {game.id} in which all actions are legal")
        return mask

    def has_factors(self, game: Game) -> bool:
        """Return whether it learns the local rewards that the game declares."""
        return self.rule != "pareto" and game.learning.reward_factors is not None

    def make_plan(self, game: Game) -> tuple[Graph, Plan]:
        """Return the coordination graph and its elimination. Raises InvalidParameter if there are too many joint actions."""
        arms, declared = list_sizes(game), game.learning.reward_factors
        joint = prod(arms)
        if self.rule == "pareto" and joint > MAX_JOINT_ACTIONS:
            raise InvalidParameter(
                f"{self.name}: invalid rule='pareto' for {game.id}: expected 'confidence', as there are {joint:,} joint "
                f"actions, more than {MAX_JOINT_ACTIONS:,}"
            )
        every: Sequence[RewardFactor] = [RewardFactor(tuple(range(len(arms))))]
        graph = make_graph(declared.factors if declared and self.has_factors(game) else every, arms, self.name)
        return graph, make_plan(graph, self.name)

    def start_training(
        self, setup: TrainingSetup, starts: NDArray[Any], mask: NDArray[np.int8], lattice: Floats, scale: Floats
    ) -> BanditTrainer:
        game, (graph, plan) = setup.game, self.make_plan(setup.game)
        kind = self.has_factors(game), self.rule == "pareto"
        word = int(random_words(setup.seed, 1)[0])
        learner = JointLearner(game, starts, graph, plan, lattice / scale, float(self.exploration), *kind, word)

        def make_policies() -> JointValues:
            return JointValues(game, graph, plan, learner.estimate_values(), scale)

        return BanditTrainer(setup, [learner], make_policies, scale, max(1, JOINT_CHUNK // len(game.agents)))

    def restore_policies(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> JointValues:
        self.check_rules(game)
        graph, plan = self.make_plan(game)
        check_array_names(self.name, arrays, ("values", "return_scale"))
        objectives = len(game.objectives)
        check_array(self.name, "values", arrays["values"], np.float64, (int(graph.first[-1]), objectives))
        check_array(self.name, "return_scale", arrays["return_scale"], np.float64, (objectives,))
        return JointValues(game, graph, plan, arrays["values"], arrays["return_scale"])


def list_sizes(game: Game) -> tuple[int, ...]:
    """Return the number of actions of each agent."""
    return tuple(game.action_sizes(agent)[0] for agent in range(len(game.agents)))
