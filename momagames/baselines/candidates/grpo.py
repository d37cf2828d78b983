"""Group relative policy optimization of a scorer of candidate actions (extra `learn`: PyTorch)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from momagames.baselines.candidates.grpo_options import GrpoOptions
from momagames.baselines.training_setup import TrainingSetup

if TYPE_CHECKING:
    from momagames.baselines.candidates.grpo_trainer import GrpoTrainer


@dataclass(frozen=True)
class Grpo(GrpoOptions):
    """One scorer of candidate actions with a hidden layer for all weights of the objectives, without a critic.

    Groups of episodes have the same start position, seat, opponent and weights; the advantage of all decisions of an episode is
    the utility of its return, standardized within its group. Policies sample from the softmax of the scores in training, and
    take the highest score afterwards.

    See `GrpoOptions` for the options.

    Source: Shao et al., "DeepSeekMath", 2024; clipping, Schulman et al., "Proximal policy optimization algorithms", 2017.
    """

    name: ClassVar[str] = GrpoOptions.name
    package: ClassVar[str] = "torch"
    extra: ClassVar[str] = "learn"

    def make_trainer(self, setup: TrainingSetup) -> GrpoTrainer:
        """Return a trainer."""
        self.check_installed()
        from momagames.baselines.candidates.grpo_trainer import GrpoTrainer

        return GrpoTrainer(self, setup)
