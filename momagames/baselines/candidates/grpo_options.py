"""Options of GRPO: their defaults, ranges and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from momagames.baselines.candidates.policy import MAX_HIDDEN, MAX_SAMPLES, CandidatePolicy
from momagames.baselines.utilities import UTILITIES
from momagames.contract import Game
from momagames.errors import check_choice, check_range


@dataclass(frozen=True)
class GrpoOptions:
    """Options of GRPO. A value out of range raises InvalidParameter.

    hidden           units of the hidden layer
    groups           groups of a rollout
    group_size       episodes of a group
    update_epochs    epochs of an update
    num_minibatches  minibatches of an epoch
    learning_rate    initial learning rate of Adam; it is annealed linearly to 0 over the budget
    clip_coef        clipping range of the probability ratio
    divisions        of the simplex lattice of the weights: C(divisions + K - 1, K - 1) policies for K objectives
    samples          copies on which an action is tried in training, in games with chance during play
    play_samples     the same in play; 0: as in training
    utility          of the return of an episode: "linear", the weighted sum of scaled returns; "log", of their logarithms, for
                     balanced returns; or "chebyshev", see `momagames.baselines.utilities`
    greedy           whether the policies take the highest score instead of sampling from the softmax of the scores
    extra_features   read the game's extra features as well: better and slower decisions, in games that declare some
    """

    name: ClassVar[str] = "grpo"
    hidden: int = 32
    groups: int = 64
    group_size: int = 8
    update_epochs: int = 3
    num_minibatches: int = 4
    learning_rate: float = 1e-2
    clip_coef: float = 0.2
    divisions: int = 4
    samples: int = 1
    greedy: bool = True
    utility: str = "linear"
    play_samples: int = 0
    extra_features: bool = False

    def __post_init__(self) -> None:
        check_range(f"{self.name}: hidden", self.hidden, 1, MAX_HIDDEN, whole=True)
        check_range(f"{self.name}: groups", self.groups, 1, 65_536, whole=True)
        check_range(f"{self.name}: group_size", self.group_size, 2, 1024, whole=True)
        check_range(f"{self.name}: update_epochs", self.update_epochs, 1, 100, whole=True)
        check_range(f"{self.name}: num_minibatches", self.num_minibatches, 1, 4096, whole=True)
        check_range(f"{self.name}: learning_rate", self.learning_rate, 0, 1, above=True)
        check_range(f"{self.name}: clip_coef", self.clip_coef, 0, 10, above=True)
        check_range(f"{self.name}: divisions", self.divisions, 1, 100, whole=True)
        check_range(f"{self.name}: samples", self.samples, 1, MAX_SAMPLES, whole=True)
        check_range(f"{self.name}: play_samples", self.play_samples, 0, MAX_SAMPLES, whole=True)
        check_choice(f"{self.name}: utility", self.utility, UTILITIES)

    def make_policy(self, game: Game, in_play: bool = False) -> CandidatePolicy:
        """Return the candidate policy that it trains, or that it makes of the trained scorer (`in_play`)."""
        samples = self.play_samples if in_play and self.play_samples else self.samples
        return CandidatePolicy(game, self.hidden, samples, self.extra_features)
