"""What the trainers of candidate policies share: start positions, weights of the objectives, scales and the budget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.candidates.policy import CandidatePolicy
from momagames.baselines.candidates.rollout import Rollout, RolloutCollector
from momagames.baselines.weight_lattice import format_weights, resolve_weights, simplex_lattice
from momagames.contract import Game
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import BatchPolicy, CompiledPolicy
from momagames.errors import InvalidParameter

SCALE_EPISODES = 128  # episodes of random play from which the scales are estimated
LATTICE_SHARE = 0.6  # of the weights in training; the others have a Dirichlet distribution
CONCENTRATION = 0.7  # its parameter

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TrainingSetup:
    """What is trained, the opponents, and the budget.

    games             which differ in their start positions only; episodes are played in each of them in turn
    budget            environment steps, those of the look-ahead included; training stops before it is exceeded, as far as the
                      cost of the last iteration predicts that
    seed              random seed: equal seeds give equal policies
    learning_agents   agents that the policies play in turn, each with its team
    opponents         policies of the other agents, in turn
    threads           number of threads of the rollouts
    fixed_weights     weights of all episodes and of the only policy; None: random weights
    """

    games: Sequence[Game]
    budget: int
    seed: int = 0
    learning_agents: Sequence[int] = (0,)
    opponents: Sequence[BatchPolicy] = ()
    threads: int = 1
    fixed_weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        """Raise InvalidParameter unless the games have the same rules, objectives, agents and actions."""

        def key(game: Game) -> tuple[object, ...]:
            return game.rules_key, [one.name for one in game.objectives], game.agents, game.teams, game.actions

        for game in self.games[1:]:
            if key(game) != key(self.games[0]):
                raise InvalidParameter(
                    f"{game.id} and {self.games[0].id} differ in rules, objectives or agents: expected equal ones"
                )


class CandidateTrainer(ABC):
    """Training of one scorer for all weights of the objectives, by episodes from fresh start positions.

    policy       whose scorer is trained
    divisions    of the simplex lattice of the weights

    steps        environment steps so far
    moves        of them those of the episodes, without the look-ahead
    """

    def __init__(self, setup: TrainingSetup, policy: CandidatePolicy, divisions: int) -> None:
        self.setup, self.game = setup, setup.games[0]
        self.policy = policy
        fixed = setup.fixed_weights
        self.lattice = (
            simplex_lattice(len(self.game.objectives), divisions)
            if fixed is None
            else resolve_weights("fixed_weights", self.game, fixed)[None]
        )
        self.steps, self.moves, self.iterations = 0, 0, 0
        self._last_cost = 0
        self.rng = np.random.default_rng(setup.seed)
        self._collector = RolloutCollector(self.policy, setup.learning_agents, setup.opponents, setup.threads)
        self.feature_scale, self.return_scale = self._estimate_scales()

    @property
    def progress(self) -> float:
        """Share of the budget used so far."""
        return min(1.0, self.steps / self.setup.budget)

    @property
    def is_done(self) -> bool:
        return self.steps + self._last_cost > self.setup.budget

    def train_iteration(self) -> dict[str, float]:
        """Play and learn once. Returns metrics."""
        before = self.steps
        metrics = self.iterate()
        self._last_cost = self.steps - before
        self.iterations += 1
        return {"steps": float(self.steps), "moves": float(self.moves), **metrics}

    def train(self) -> None:
        """Train until the budget is used up. Raises InvalidParameter if it does not suffice for one iteration."""
        while not self.is_done:
            self.train_iteration()
        if self.steps > self.setup.budget:
            raise InvalidParameter(
                f"invalid budget={self.setup.budget} for {self.game.id}: expected at least {self.steps}, the environment "
                "steps of the scales and of one iteration"
            )

    @abstractmethod
    def iterate(self) -> dict[str, float]:
        """Play and learn once. Returns metrics."""

    @abstractmethod
    def parameters(self) -> Floats:
        """Return the parameters of the scorer, float64[P]."""

    def policies(self) -> tuple[CompiledPolicy, ...]:
        """Return the policies for the weights of the lattice."""
        parameters = self.parameters()
        return tuple(self.policy.compile_with(parameters, row.tolist(), format_weights(row)) for row in self.lattice)

    def play(
        self, parameters: Floats, weights: Floats, instances: NDArray[np.int64], temperature: float = 0.0, record: bool = False
    ) -> Rollout:
        """Play one episode for each row of parameters float64[n, P] and weights float64[n, K].

        instances   int64[n]: episodes of equal numbers 0, 1, ... have the same start position, seat and opponent
        """
        count, agents = int(instances.max()) + 1, len(self.game.agents)
        numbers = self.iterations * count + np.arange(count)
        which, seeds = numbers % len(self.setup.games), self.rng.integers(2**64, size=count, dtype=np.uint64)
        starts = np.zeros(count, self.game.dtype)
        for i, game in enumerate(self.setup.games):
            if (which == i).any():
                starts[which == i] = generate_starts(game, seeds[which == i])
        # equal policies play equal episodes of an instance, unless they sample
        words = self.rng.integers(2**64, size=(len(instances) if temperature else count, agents), dtype=np.uint64)
        memories = self.policy.initial_memories(parameters, weights, temperature)
        matches = numbers // len(self.setup.games)
        rollout = self._collector.collect(
            memories, starts[instances], words if temperature else words[instances], matches[instances], record
        )
        self.steps += rollout.steps
        self.moves += rollout.moves
        return rollout

    def sample_weights(self, count: int) -> Floats:
        """Return weights float64[count, K]: of the lattice, or of a Dirichlet distribution."""
        if self.setup.fixed_weights is not None:
            return self.lattice.repeat(count, axis=0)
        lattice = self.lattice[self.rng.integers(len(self.lattice), size=count)]
        others = self.rng.dirichlet(np.full(self.lattice.shape[1], CONCENTRATION), count)
        return np.where(self.rng.random((count, 1)) < LATTICE_SHARE, lattice, others)

    def compute_utilities(self, returns: Floats, weights: Floats) -> Floats:
        """Return the weighted sums of scaled returns float64[n, K]: float64[n]."""
        utilities: Floats = (returns / self.return_scale * weights).sum(axis=1)
        return utilities

    def _estimate_scales(self) -> tuple[Floats, Floats]:
        """Return divisors of features float64[F] and returns float64[K]: their root mean squares in random play, or 1."""
        parameters = np.zeros((SCALE_EPISODES, self.policy.num_parameters))
        rollout = self.play(parameters, self.sample_weights(SCALE_EPISODES), np.arange(SCALE_EPISODES), record=True)
        assert rollout.decisions is not None
        squares = np.zeros(len(self.game.objectives))
        means = (rollout.returns**2).mean(axis=0)
        sets = self.policy.features.sets
        for number in range(int(sets.max()) + 1):
            squares[sets == number] = means[sets == number].mean()
        return _root(np.square(rollout.decisions.features.astype(np.float64)).mean(axis=0)), _root(squares)


def _root(squares: Floats) -> Floats:
    """Return the square roots; 1 for 0."""
    return np.where(squares > 0, np.sqrt(squares), 1.0)
