"""Group relative policy optimization of a scorer of candidate actions (extra `learn`: PyTorch)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from momagames.baselines.base import Method, TrainingResult
from momagames.baselines.candidates.grpo_options import GrpoOptions
from momagames.baselines.candidates.policy import CandidatePolicy, restore_policy
from momagames.baselines.candidates.trainer import TrainingSetup
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy, CompiledPolicy

if TYPE_CHECKING:
    from momagames.baselines.candidates.grpo_trainer import GrpoTrainer


@dataclass(frozen=True)
class Grpo(GrpoOptions, Method):
    """One scorer of candidate actions with a hidden layer for all weights of the objectives, without a critic.

    Groups of episodes have the same start position, seat, opponent and weights; the advantage of all decisions of an episode is
    the utility of its return, standardized within its group. Policies sample from the softmax of the scores in training, and
    take the highest score afterwards.

    See `GrpoOptions` for the options.

    Source: Shao et al., "DeepSeekMath", 2024; clipping, Schulman et al., "Proximal policy optimization algorithms", 2017.
    """

    name: ClassVar[str] = GrpoOptions.name
    trains: ClassVar[bool] = True
    package: ClassVar[str] = "torch"
    extra: ClassVar[str] = "learn"

    def check_train(self, game: Game) -> None:
        CandidatePolicy(game, self.hidden, self.samples)

    def make_trainer(self, setup: TrainingSetup) -> GrpoTrainer:
        """Return a trainer."""
        self.check_installed()
        from momagames.baselines.candidates.grpo_trainer import GrpoTrainer

        return GrpoTrainer(self, setup)

    def train(
        self, game: Game, learning_agents: Sequence[int], opponents: Sequence[BatchPolicy], budget: int, seed: int
    ) -> TrainingResult:
        trainer = self.make_trainer(TrainingSetup([game], budget, seed, learning_agents, opponents))
        trainer.train()
        facts = {"updates": trainer.iterations, "moves": trainer.moves, "parameters": trainer.policy.num_parameters}
        return TrainingResult(trainer.policies(), trainer.steps, facts)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
        return restore_policy(game, label, arrays, self.hidden, self.samples)
