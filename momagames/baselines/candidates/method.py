"""What the methods that train a scorer of candidate actions have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from momagames.baselines.candidates.policy import (
    MAX_POLICIES,
    MAX_SAMPLES,
    CandidatePolicy,
    Scorer,
    restore_policy,
    restore_scorer,
)
from momagames.baselines.trainer import TrainerMethod
from momagames.baselines.utilities import UTILITIES
from momagames.baselines.weight_lattice import check_lattice_size
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.errors import check_choice, check_range


@dataclass(frozen=True, kw_only=True)
class CandidateMethod(TrainerMethod):
    """Training of a scorer of candidate actions. A value out of range raises InvalidParameter.

    divisions        of the simplex lattice of the weights: C(divisions + K - 1, K - 1) policies for K objectives
    samples          copies on which an action is tried in training, in games with chance during play
    greedy           whether the policies take the highest score instead of sampling from the softmax of the scores
    utility          of the return of an episode: "linear", the weighted sum of scaled returns; "log", of their logarithms, for
                     balanced returns; or "chebyshev", see `momagames.baselines.utilities`
    play_samples     as samples, in play; 0: as in training
    extra_features   read the game's extra features as well: better and slower decisions, in games that declare some
    """

    default_budget: ClassVar[int] = 30_000_000
    plays_itself: ClassVar[bool] = False
    divisions: int = 4
    samples: int = 1
    greedy: bool = True
    utility: str = "linear"
    play_samples: int = 0
    extra_features: bool = False

    def __post_init__(self) -> None:
        check_range(f"{self.name}: divisions", self.divisions, 1, 100, whole=True)
        check_choice(f"{self.name}: greedy", self.greedy, (True, False))
        check_range(f"{self.name}: samples", self.samples, 1, MAX_SAMPLES, whole=True)
        check_range(f"{self.name}: play_samples", self.play_samples, 0, MAX_SAMPLES, whole=True)
        check_choice(f"{self.name}: utility", self.utility, UTILITIES)

    @property
    def num_hidden(self) -> int:
        """Units of the hidden layer; 0: the scorer is linear."""
        return 0

    def make_policy(self, game: Game, in_play: bool = False) -> CandidatePolicy:
        """Return the candidate policy that it trains, or that it makes of the trained scorer (`in_play`)."""
        samples = self.play_samples if in_play and self.play_samples else self.samples
        return CandidatePolicy(game, self.num_hidden, samples, self.extra_features)

    def check_train(self, game: Game) -> None:
        self.make_policy(game)
        check_lattice_size(self.name, game, self.divisions, MAX_POLICIES)

    def restore_policies(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> Scorer:
        return restore_scorer(self.make_policy(game, in_play=True), self.name, arrays)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
        return restore_policy(self.make_policy(game, in_play=True), label, arrays)
