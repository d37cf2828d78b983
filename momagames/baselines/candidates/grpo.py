"""Group relative policy optimization of a scorer of candidate actions (extra `learn`: PyTorch)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from momagames.baselines.candidates.grpo_options import GrpoOptions
from momagames.baselines.candidates.policy import MAX_POLICIES, Scorer, restore_policy, restore_scorer
from momagames.baselines.trainer import TrainerMethod
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.weight_lattice import check_lattice_size
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy

if TYPE_CHECKING:
    from momagames.baselines.candidates.grpo_trainer import GrpoTrainer


@dataclass(frozen=True)
class Grpo(GrpoOptions, TrainerMethod):
    """One scorer of candidate actions with a hidden layer for all weights of the objectives, without a critic.

    Groups of episodes have the same start position, seat, opponent and weights; the advantage of all decisions of an episode is
    the utility of its return, standardized within its group. Policies sample from the softmax of the scores in training, and
    take the highest score afterwards.

    See `GrpoOptions` for the options.

    Source: Shao et al., "DeepSeekMath", 2024; clipping, Schulman et al., "Proximal policy optimization algorithms", 2017.
    """

    name: ClassVar[str] = GrpoOptions.name
    default_budget: ClassVar[int] = 30_000_000
    plays_itself: ClassVar[bool] = False
    package: ClassVar[str] = "torch"
    extra: ClassVar[str] = "learn"

    def check_train(self, game: Game) -> None:
        self.make_policy(game)
        check_lattice_size(self.name, game, self.divisions, MAX_POLICIES)

    def make_trainer(self, setup: TrainingSetup) -> GrpoTrainer:
        """Return a trainer."""
        self.check_installed()
        from momagames.baselines.candidates.grpo_trainer import GrpoTrainer

        return GrpoTrainer(self, setup)

    def restore_policies(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> Scorer:
        return restore_scorer(self.make_policy(game, in_play=True), self.name, arrays)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
        return restore_policy(self.make_policy(game, in_play=True), label, arrays)
