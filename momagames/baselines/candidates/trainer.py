"""What the trainers of candidate policies share: start positions, weights of the objectives, scales and the budget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.candidates.features import root_mean_square, root_or_one
from momagames.baselines.candidates.policy import CandidatePolicy, Scorer, make_scorer
from momagames.baselines.candidates.rollout import Rollout, RolloutCollector
from momagames.baselines.trainer import Arrays, list_weights, restore_arrays
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.utilities import augmented_chebyshev, logarithmic
from momagames.engine.playouts import generate_starts
from momagames.errors import InvalidParameter

SCALE_EPISODES = 128  # episodes of random play from which the scales are estimated
LATTICE_SHARE = 0.6  # of the weights in training; the others have a Dirichlet distribution
CONCENTRATION = 0.7  # its parameter
MIN_RANGE = 1e-3  # of an objective between the reference point and the ideal point, in units of the scale

Floats = NDArray[np.float64]


class CandidateTrainer(ABC):
    """Training of one scorer for all weights of the objectives.

    It stops before the budget is exceeded, as far as the cost of the last iteration predicts that.

    policy       whose scorer is trained
    played       the same for the trained policies, whose number of samples may differ
    divisions    of the simplex lattice of the weights, from which most weights in training are drawn
    utility      of the return of an episode, one of UTILITIES
    ideal        float64[K], the best returns so far

    steps        environment steps so far, those of look-ahead included
    decisions    decisions of the policies in training episodes so far
    """

    def __init__(
        self, setup: TrainingSetup, policy: CandidatePolicy, played: CandidatePolicy, divisions: int, utility: str
    ) -> None:
        self.setup, self.game = setup, setup.game
        self.policy, self._played, self._utility = policy, played, utility
        self.reference = np.array(self.game.reference_point)
        self.ideal = np.full(len(self.game.objectives), -np.inf)
        self.lattice = list_weights(self.game, divisions, setup.fixed_weights)
        self.steps, self.decisions, self.iterations = 0, 0, 0
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
        return self.iterations > 0 and self.steps + self._last_cost > self.setup.budget

    def train_iteration(self) -> dict[str, float]:
        """Play and learn once. Returns metrics. Raises InvalidParameter if the budget does not suffice for one iteration."""
        before = self.steps
        metrics = self.iterate()
        self._last_cost = self.steps - before
        self.iterations += 1
        if self.iterations == 1 and self.steps > self.setup.budget:
            raise InvalidParameter(
                f"invalid budget={self.setup.budget} for {self.game.id}: expected at least {self.steps}, the environment "
                "steps of the scales and of one iteration"
            )
        return {"steps": self.steps, "decisions": self.decisions, **metrics}

    def make_policies(self) -> Scorer:
        """Return the current policies."""
        return make_scorer(self._played, self.parameters())

    def summarize(self) -> dict[str, Any]:
        """Return counts that are stored with results."""
        return {"iterations": self.iterations, "decisions": self.decisions, "parameters": self.policy.num_parameters}

    def state_dict(self) -> tuple[dict[str, Any], Arrays]:
        """Return all that the next iteration depends on, as JSON-able data and arrays."""
        data = {
            "steps": self.steps, "decisions": self.decisions, "iterations": self.iterations, "last_cost": self._last_cost,
            "rng": self.rng.bit_generator.state, "ideal": self.ideal.tolist(),
        }  # fmt: skip
        return data, {name: array.copy() for name, array in self.arrays().items()}

    def load_state_dict(self, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state of a trainer with the same setup and options. Raises InvalidFile if it does not fit."""
        self.load_arrays(restore_arrays(arrays, self.arrays()))
        self.steps, self.decisions, self.iterations = data["steps"], data["decisions"], data["iterations"]
        self._last_cost, self.ideal = data["last_cost"], np.array(data["ideal"])
        self.rng.bit_generator.state = data["rng"]

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return the arrays that learning changes."""

    @abstractmethod
    def load_arrays(self, arrays: Arrays) -> None:
        """Restore what `arrays` returned."""

    @abstractmethod
    def iterate(self) -> dict[str, float]:
        """Play and learn once. Returns metrics."""

    @abstractmethod
    def parameters(self) -> Floats:
        """Return the parameters of the scorer, float64[P]."""

    def play(
        self, parameters: Floats, weights: Floats, instances: NDArray[np.int64], temperature: float = 0.0, record: bool = False
    ) -> Rollout:
        """Play one episode for each row of parameters float64[n, P] and weights float64[n, K].

        instances   int64[n]: episodes of equal numbers 0, 1, ... have the same start position, seat and opponent
        """
        count, agents = int(instances.max()) + 1, len(self.game.agents)
        starts, matches = self.draw_starts(count)
        # equal policies play equal episodes of an instance, unless they sample
        words = self.rng.integers(2**64, size=(len(instances) if temperature else count, agents), dtype=np.uint64)
        memories = self.policy.initial_memories(parameters, weights, temperature)
        rollout = self._collector.collect(
            memories, starts[instances], words if temperature else words[instances], matches[instances], record
        )
        self.steps += rollout.steps
        self.decisions += rollout.moves
        self.ideal = np.maximum(self.ideal, rollout.returns.max(axis=0))
        return rollout

    def draw_starts(self, count: int) -> tuple[NDArray[np.void], NDArray[np.int64]]:
        """Return new start positions, record[count], of the games in turn, and the numbers of their matches, int64[count]."""
        numbers = self.iterations * count + np.arange(count)
        which, seeds = numbers % len(self.setup.games), self.rng.integers(2**64, size=count, dtype=np.uint64)
        starts = np.zeros(count, self.game.dtype)
        for i, game in enumerate(self.setup.games):
            if (which == i).any():
                starts[which == i] = generate_starts(game, seeds[which == i])
        if self.setup.starts is not None:
            starts[:] = self.setup.starts[seeds % np.uint64(len(self.setup.starts))]
        return starts, numbers // len(self.setup.games)

    def sample_weights(self, count: int) -> Floats:
        """Return weights float64[count, K]: of the lattice, or of a Dirichlet distribution."""
        if self.setup.fixed_weights is not None:
            return self.lattice.repeat(count, axis=0)
        lattice = self.lattice[self.rng.integers(len(self.lattice), size=count)]
        others = self.rng.dirichlet(np.full(self.lattice.shape[1], CONCENTRATION), count)
        return np.where(self.rng.random((count, 1)) < LATTICE_SHARE, lattice, others)

    def compute_utilities(self, returns: Floats, weights: Floats) -> Floats:
        """Return the utilities float64[n] of returns float64[n, K]."""
        if self._utility == "chebyshev":
            size = np.maximum(self.ideal - self.reference, self.return_scale * MIN_RANGE)
            return augmented_chebyshev((returns - self.reference) / size, weights)
        if self._utility == "log":
            return logarithmic((returns - self.reference) / self.return_scale, weights)
        utilities: Floats = (returns / self.return_scale * weights).sum(axis=1)
        return utilities

    def _estimate_scales(self) -> tuple[Floats, Floats]:
        """Return divisors of features float64[F] and returns float64[K]: their root mean squares in random play, or 1."""
        parameters = np.zeros((SCALE_EPISODES, self.policy.num_parameters))
        rollout = self.play(parameters, self.sample_weights(SCALE_EPISODES), np.arange(SCALE_EPISODES), record=True)
        assert rollout.decisions is not None
        feature_scale = root_mean_square(rollout.decisions.features)
        if self.setup.return_scale is not None:
            return feature_scale, self.setup.return_scale
        squares = np.zeros(len(self.game.objectives))
        means = (rollout.returns**2).mean(axis=0)
        sets = self.policy.features.sets
        for number in range(int(sets.max()) + 1):
            squares[sets == number] = means[sets == number].mean()
        return feature_scale, root_or_one(squares)
