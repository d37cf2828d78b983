"""The cross-entropy method on the parameters of a linear scorer of candidate actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from momagames.baselines.candidates.method import CandidateMethod
from momagames.baselines.candidates.trainer import CandidateTrainer, Floats
from momagames.baselines.trainer import Arrays
from momagames.baselines.training_setup import TrainingSetup
from momagames.errors import check_range

NOISE = 0.1  # variance added to that of the elites, so that the search does not converge early; it falls linearly
NOISE_SHARE = 2 / 3  # and is 0 after this share of the budget


@dataclass(frozen=True)
class CrossEntropy(CandidateMethod):
    """One linear scorer of candidate actions for all weights of the objectives, by the cross-entropy method.

    Every generation plays fresh start positions with fresh weights, the same for all its scorers. A scorer's fitness is the
    mean of its utilities, each standardized over the scorers of the generation. The final mean of the search distribution is
    the result, so that no policy is selected on the episodes that trained it.

    population   scorers in a generation
    elites       scorers from which the next search distribution is estimated
    episodes     episodes of each scorer in a generation

    See `CandidateMethod` for the other options.

    Source: Rubinstein, "The cross-entropy method for combinatorial and continuous optimization", Methodol. Comput. Appl.
    Probab. 1, 1999; noise, Szita and Lőrincz, "Learning Tetris using the noisy cross-entropy method", Neural Comp. 18, 2006.
    """

    name: ClassVar[str] = "cross_entropy"
    population: int = 40
    elites: int = 8
    episodes: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: population", self.population, 4, 1024, whole=True)
        check_range(f"{self.name}: elites", self.elites, 2, self.population, whole=True)
        check_range(f"{self.name}: episodes", self.episodes, 1, 4096, whole=True)

    def make_trainer(self, setup: TrainingSetup) -> CrossEntropyTrainer:
        """Return a trainer."""
        return CrossEntropyTrainer(self, setup)


class CrossEntropyTrainer(CandidateTrainer):
    """The search distribution: independent normal distributions of the parameters, in units of the feature scale."""

    def __init__(self, options: CrossEntropy, setup: TrainingSetup) -> None:
        policy, played = (options.make_policy(setup.games[0], in_play) for in_play in (False, True))
        super().__init__(setup, policy, played, options.divisions, options.utility)
        self._options = options
        self._mean, self._deviation = np.zeros(self.policy.num_parameters), np.ones(self.policy.num_parameters)

    def parameters(self) -> Floats:
        return self._mean / self.feature_scale

    def arrays(self) -> Arrays:
        return {"mean": self._mean, "deviation": self._deviation}

    def load_arrays(self, arrays: Arrays) -> None:
        self._mean, self._deviation = arrays["mean"], arrays["deviation"]

    def iterate(self) -> dict[str, float]:
        scorers = self._mean + self._deviation * self.rng.standard_normal((self._options.population, len(self._mean)))
        utilities = self.evaluate(scorers / self.feature_scale, self._options.episodes)
        deviation = utilities.std(axis=0)
        fitness = ((utilities - utilities.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)).mean(axis=1)
        elites = scorers[np.argsort(-fitness, kind="stable")[: self._options.elites]]
        noise = NOISE * max(0.0, 1 - self.progress / NOISE_SHARE)
        self._mean, self._deviation = elites.mean(axis=0), np.sqrt(elites.var(axis=0) + noise)
        return {"utility": float(utilities.mean()), "deviation": float(self._deviation.mean())}

    def evaluate(self, parameters: Floats, episodes: int) -> Floats:
        """Return the utilities float64[n, episodes] of scorers float64[n, P] in the same episodes."""
        weights = np.tile(self.sample_weights(episodes), (len(parameters), 1))
        rollout = self.play(parameters.repeat(episodes, axis=0), weights, np.tile(np.arange(episodes), len(parameters)))
        return self.compute_utilities(rollout.returns, weights).reshape(len(parameters), episodes)
