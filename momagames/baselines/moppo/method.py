"""MOPPO as a method of the benchmark: one policy for each weight vector of a simplex lattice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans, TrainingResult, check_deterministic
from momagames.baselines.moppo.encoder import make_network_encoder
from momagames.baselines.moppo.network_policy import MAX_OBJECTIVES, NetworkPolicy, check_caution, restore_policy
from momagames.baselines.moppo.options import MoppoOptions
from momagames.baselines.torch_threads import use_torch_threads
from momagames.baselines.weight_lattice import check_lattice_size, format_weights, simplex_lattice
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy, CompiledPolicy
from momagames.errors import InvalidParameter

if TYPE_CHECKING:
    from momagames.baselines.moppo.trainer import Trainer

MAX_POLICIES = 1024


@dataclass(frozen=True)
class Moppo(MoppoOptions, Method):
    """Multi-objective PPO: one network for all weights of the objectives (extra `learn`: PyTorch).

    The network is conditioned on the observation, the agent id, and weights that are sampled for each team and episode. The
    critic has one value for each objective; the advantage is the weighted sum of the advantages in the objectives. All
    learning agents share the network (IPPO). Illegal actions are masked. Rewards are divided by a scale (`reward_scaling`),
    and weights refer to scaled rewards. Truncated episodes are treated as terminated. See `MoppoOptions` for the options.

    Source: proximal policy optimization, Schulman et al., 2017; conditioned on weights, Abels et al., "Dynamic weights in
    multi-objective deep reinforcement learning", ICML 2019; vector values and weighted advantages, Xu et al.,
    "Prediction-guided multi-objective reinforcement learning for continuous robot control", ICML 2020; masks, Huang and
    Ontañón, "A closer look at invalid action masking in policy gradient algorithms", 2020; shared by agents, de Witt et al.,
    "Is independent learning all you need in the StarCraft multi-agent challenge?", 2020; replay of the best episodes, after
    Oh et al., "Self-imitation learning", ICML 2018.
    """

    name: ClassVar[str] = MoppoOptions.name
    trains: ClassVar[bool] = True
    package: ClassVar[str] = "torch"
    extra: ClassVar[str] = "learn"

    def check_plan(self, game: Game) -> None:
        check_deterministic(self.name, game)
        self._check_game(game)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        """Train from this start position alone. All training episodes and one final episode of each policy are plans."""
        self.check_installed()
        self.check_plan(game)
        from momagames.baselines.moppo.trainer import Trainer

        with use_torch_threads(1):  # each run has one core, and floating-point sums are equal on every executor
            trainer = Trainer(game, self, range(len(game.agents)), (), budget, seed, start)
            while not trainer.is_done:
                trainer.train_iteration()
        trainer.play_policies(self.make_policies(trainer.make_policy()))
        archive = trainer.archive
        return Plans(archive.front(), trainer.steps, info=_summarize(trainer), dominated=archive.dominated)

    def check_train(self, game: Game) -> None:
        if self.self_imitation_coef:
            raise InvalidParameter(
                f"{self.name}: invalid self_imitation_coef={self.self_imitation_coef}: expected 0, or training on one instance "
                "(`momagames train ID --instance-seed SEED`)"
            )
        self._check_game(game)

    def _check_game(self, game: Game) -> None:
        objectives = len(game.objectives)
        if objectives > MAX_OBJECTIVES:
            raise InvalidParameter(f"{self.name}: {game.id} has {objectives} objectives: expected at most {MAX_OBJECTIVES}")
        if self.critic == "centralized" and game.sequential:
            raise InvalidParameter(
                f"{self.name}: invalid critic='centralized' for {game.id}: expected 'decentralized', since agents move in turn"
            )
        if self.expert:
            from momagames.baselines import batch_policy

            batch_policy(self.expert, game)
        check_lattice_size(self.name, game, self.divisions, MAX_POLICIES)
        check_caution(game, self.caution)
        make_network_encoder(game, self.network, self.critic)

    def train(
        self, game: Game, learning_agents: Sequence[int], opponents: Sequence[BatchPolicy], budget: int, seed: int
    ) -> TrainingResult:
        self.check_installed()
        self.check_train(game)
        from momagames.baselines.moppo.trainer import Trainer

        with use_torch_threads(1):
            trainer = Trainer(game, self, learning_agents, opponents, budget, seed)
            while not trainer.is_done:
                trainer.train_iteration()
        return TrainingResult(self.make_policies(trainer.make_policy()), trainer.steps, _summarize(trainer))

    def make_policies(self, network: NetworkPolicy) -> tuple[CompiledPolicy, ...]:
        """Return the policies of a network, one for each weight vector of the lattice."""
        lattice = simplex_lattice(len(network.game.objectives), self.divisions)
        return tuple(network.compile(format_weights(weights), weights.tolist(), self.greedy) for weights in lattice)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
        return restore_policy(game, label, arrays)


def _summarize(trainer: Trainer) -> dict[str, Any]:
    return {
        "updates": trainer.progress.updates,
        "parameters": trainer.model.num_parameters,
        "reward_scale": trainer.utility.reward_scale.tolist(),
    }
