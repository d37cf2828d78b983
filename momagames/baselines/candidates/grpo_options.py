"""Options of GRPO: their defaults, ranges and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from momagames.baselines.candidates.method import CandidateMethod
from momagames.baselines.candidates.policy import MAX_HIDDEN
from momagames.errors import check_range


@dataclass(frozen=True)
class GrpoOptions(CandidateMethod):
    """Options of GRPO. A value out of range raises InvalidParameter. See `CandidateMethod` for the other options.

    hidden           units of the hidden layer
    groups           groups of a rollout
    group_size       episodes of a group
    update_epochs    epochs of an update
    num_minibatches  minibatches of an epoch
    learning_rate    initial learning rate of Adam; it is annealed linearly to 0 over the budget
    clip_coef        clipping range of the probability ratio
    """

    name: ClassVar[str] = "grpo"
    hidden: int = 32
    groups: int = 64
    group_size: int = 8
    update_epochs: int = 3
    num_minibatches: int = 4
    learning_rate: float = 1e-2
    clip_coef: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: hidden", self.hidden, 1, MAX_HIDDEN, whole=True)
        check_range(f"{self.name}: groups", self.groups, 1, 65_536, whole=True)
        check_range(f"{self.name}: group_size", self.group_size, 2, 1024, whole=True)
        check_range(f"{self.name}: update_epochs", self.update_epochs, 1, 100, whole=True)
        check_range(f"{self.name}: num_minibatches", self.num_minibatches, 1, 4096, whole=True)
        check_range(f"{self.name}: learning_rate", self.learning_rate, 0, 1, above=True)
        check_range(f"{self.name}: clip_coef", self.clip_coef, 0, 10, above=True)

    @property
    def num_hidden(self) -> int:
        return self.hidden
