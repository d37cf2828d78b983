"""Training of the estimate of beam search by what the search finds with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import moocore
import numpy as np
from numpy.typing import NDArray

from momagames.baselines.candidates.cross_entropy import CrossEntropy, CrossEntropyTrainer
from momagames.baselines.candidates.policy import LinearScorer
from momagames.baselines.candidates.trainer import Floats
from momagames.baselines.search.beam import ESTIMATES, MAX_WIDTH, score_children, search_once
from momagames.baselines.search.learned_estimate import make_estimate, reads_feature
from momagames.baselines.training_setup import TrainingSetup
from momagames.contract import Game
from momagames.errors import check_choice, check_range

MIN_SHARE = 1e-3  # of the best hypervolume, added to all before the logarithm
UNIT = 0.1  # first deviation of a factor, as a share of the one with which its feature changes as much as a reward
FITTED = 64  # start positions to which the first factors are fitted


@dataclass(frozen=True)
class BeamEstimate(CrossEntropy):
    """A linear scorer as the estimate of `beam`, by the cross-entropy method, in games without chance during play.

    The search starts at the heuristic `present`, as far as the features can express it, or at 0. Every generation searches
    fresh start positions with each scorer, in one pass of beam search. The fitness of a scorer is the mean of the logarithms
    of the hypervolumes that it finds, each standardized over the scorers of the generation. What is trained is the estimate of
    `beam(estimate=CHECKPOINT)`. The scorer also plays, like one by `cross_entropy`, but was not trained for that.

    width       of the beam in training
    episodes    start positions of a generation

    See `CrossEntropy` for the other options. `samples`, `play_samples` and `utility` belong to play and have their defaults.
    """

    name: ClassVar[str] = "beam_estimate"
    serves: ClassVar[str] = "estimate of beam"
    default_budget: ClassVar[int] = 100_000_000
    episodes: int = 8
    width: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: width", self.width, 1, MAX_WIDTH, whole=True)
        for option in ("samples", "play_samples", "utility"):
            check_choice(f"{self.name}: {option}", getattr(self, option), (getattr(CrossEntropy, option),))

    def check_train(self, game: Game) -> None:
        self.check_one_return(game)
        super().check_train(game)

    def make_trainer(self, setup: TrainingSetup) -> BeamEstimateTrainer:
        """Return a trainer."""
        return BeamEstimateTrainer(self, setup)


class BeamEstimateTrainer(CrossEntropyTrainer):
    """The search distribution of the factors that the estimate reads.

    Factors of the rewards, weighted, are 1, so that a score is the return plus what is learned; those that the estimate does
    not read are 0.
    """

    def __init__(self, options: BeamEstimate, setup: TrainingSetup) -> None:
        super().__init__(options, setup)
        self._width, names = options.width, self.policy.features.names
        self._is_return = np.array([name.startswith("reward ") and name.endswith(" weighted") for name in names])
        self.feature_scale /= UNIT * self.feature_scale[self._is_return].mean()
        self.feature_scale[[not reads_feature(name) for name in names]] = np.inf
        if self.game.search.present is not None:
            self._start_at_present()

    def _start_at_present(self) -> None:
        """Fit the first factors to the scores with the heuristic, by least squares."""
        starts, _ = self.draw_starts(FITTED)
        searched = np.flatnonzero(~self._is_return & np.isfinite(self.feature_scale))
        units = np.eye(len(self.feature_scale))
        columns = [self._score(starts, units[p]) for p in searched]
        target = score_children(self.game, starts, ESTIMATES.index("present")).ravel()
        fitted = np.linalg.lstsq(np.transpose(columns), target - self._score(starts, self._is_return.astype(float)))[0]
        self._mean[searched] = fitted * self.feature_scale[searched]

    def _score(self, positions: NDArray[np.void], parameters: Floats) -> Floats:
        """Return the scores of all positions after one move, for all objectives."""
        estimate = make_estimate(self.game, LinearScorer(self.policy, parameters))
        return score_children(self.game, positions, estimate).ravel()

    def parameters(self) -> Floats:
        return self._complete(super().parameters())

    def _complete(self, parameters: Floats) -> Floats:
        """Return parameters float64[..., P] with the factors of the rewards."""
        completed: Floats = np.where(self._is_return, 1.0, parameters)
        return completed

    def evaluate(self, parameters: Floats, episodes: int) -> Floats:
        """Return the logarithms of the hypervolumes float64[n, episodes] that beams with these scorers find."""
        starts, _ = self.draw_starts(episodes)
        volumes = np.zeros((len(parameters), episodes))
        for i, row in enumerate(self._complete(parameters)):
            estimate = make_estimate(self.game, LinearScorer(self.policy, row))
            for j in range(episodes):
                values, steps = search_once(self.game, starts[j : j + 1], self._width, estimate)
                volumes[i, j] = moocore.hypervolume(values, ref=self.reference, maximise=True)
                self.steps += steps
                self.decisions += steps  # each is scored
        best = volumes.max(axis=0)
        logarithms: Floats = np.log(volumes / np.where(best > 0, best, 1.0) + MIN_SHARE)
        return logarithms
