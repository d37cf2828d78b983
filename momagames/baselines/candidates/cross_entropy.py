"""The cross-entropy method on the parameters of a linear scorer of candidate actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.candidates.policy import (
    MAX_POLICIES,
    MAX_SAMPLES,
    CandidatePolicy,
    Scorer,
    restore_policy,
    restore_scorer,
)
from momagames.baselines.candidates.trainer import CandidateTrainer, Floats
from momagames.baselines.trainer import Arrays, TrainerMethod
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.utilities import UTILITIES
from momagames.baselines.weight_lattice import check_lattice_size
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.errors import check_choice, check_range

NOISE = 0.1  # variance added to that of the elites, so that the search does not converge early; it falls linearly
NOISE_SHARE = 2 / 3  # and is 0 after this share of the budget


@dataclass(frozen=True)
class CrossEntropy(TrainerMethod):
    """One linear scorer of candidate actions for all weights of the objectives, by the cross-entropy method.

    Every generation plays fresh start positions with fresh weights, the same for all its scorers. A scorer's fitness is the
    mean of its utilities, each standardized over the scorers of the generation. The final mean of the search distribution is
    the result, so that no policy is selected on the episodes that trained it.

    population   scorers in a generation
    elites       scorers from which the next search distribution is estimated
    episodes     episodes of each scorer in a generation
    divisions    of the simplex lattice of the weights: C(divisions + K - 1, K - 1) policies for K objectives
    samples      copies on which an action is tried in training, in games with chance during play
    play_samples the same in play; 0: as in training
    utility      of the return of an episode: "linear", the weighted sum of scaled returns; "log", of their logarithms, for
                 balanced returns; or "chebyshev", see `momagames.baselines.utilities`
    greedy       whether the policies take the highest score instead of sampling from the softmax of the scores
    extra_features   read the game's extra features as well: better and slower decisions, in games that declare some

    Source: Rubinstein, "The cross-entropy method for combinatorial and continuous optimization", Methodol. Comput. Appl.
    Probab. 1, 1999; noise, Szita and Lőrincz, "Learning Tetris using the noisy cross-entropy method", Neural Comp. 18, 2006.
    """

    name: ClassVar[str] = "cross_entropy"
    default_budget: ClassVar[int] = 30_000_000
    plays_itself: ClassVar[bool] = False
    population: int = 40
    elites: int = 8
    episodes: int = 16
    divisions: int = 4
    samples: int = 1
    greedy: bool = True
    utility: str = "linear"
    play_samples: int = 0
    extra_features: bool = False

    def __post_init__(self) -> None:
        check_range(f"{self.name}: population", self.population, 4, 1024, whole=True)
        check_range(f"{self.name}: elites", self.elites, 2, self.population, whole=True)
        check_range(f"{self.name}: episodes", self.episodes, 1, 4096, whole=True)
        check_range(f"{self.name}: divisions", self.divisions, 1, 100, whole=True)
        check_range(f"{self.name}: samples", self.samples, 1, MAX_SAMPLES, whole=True)
        check_range(f"{self.name}: play_samples", self.play_samples, 0, MAX_SAMPLES, whole=True)
        check_choice(f"{self.name}: utility", self.utility, UTILITIES)

    def make_policy(self, game: Game, in_play: bool = False) -> CandidatePolicy:
        """Return the candidate policy that it trains, or that it makes of the trained scorer (`in_play`)."""
        samples = self.play_samples if in_play and self.play_samples else self.samples
        return CandidatePolicy(game, 0, samples, self.extra_features)

    def check_train(self, game: Game) -> None:
        self.make_policy(game)
        check_lattice_size(self.name, game, self.divisions, MAX_POLICIES)

    def make_trainer(self, setup: TrainingSetup) -> CrossEntropyTrainer:
        """Return a trainer."""
        return CrossEntropyTrainer(self, setup)

    def restore_policies(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> Scorer:
        return restore_scorer(self.make_policy(game, in_play=True), self.name, arrays)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
        return restore_policy(self.make_policy(game, in_play=True), label, arrays)


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
        population, episodes = self._options.population, self._options.episodes
        scorers = self._mean + self._deviation * self.rng.standard_normal((population, len(self._mean)))
        weights = np.tile(self.sample_weights(episodes), (population, 1))
        parameters = (scorers / self.feature_scale).repeat(episodes, axis=0)
        rollout = self.play(parameters, weights, np.tile(np.arange(episodes), population))
        utilities = self.compute_utilities(rollout.returns, weights).reshape(population, episodes)
        deviation = utilities.std(axis=0)
        fitness = ((utilities - utilities.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)).mean(axis=1)
        elites = scorers[np.argsort(-fitness, kind="stable")[: self._options.elites]]
        noise = NOISE * max(0.0, 1 - self.progress / NOISE_SHARE)
        self._mean, self._deviation = elites.mean(axis=0), np.sqrt(elites.var(axis=0) + noise)
        return {"utility": float(utilities.mean()), "deviation": float(self._deviation.mean())}
