"""MOPPO as a method of the benchmark: one policy for each weight vector of a simplex lattice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from momagames.baselines import SAFE
from momagames.baselines.base import Plans
from momagames.baselines.candidates.policy import CandidatePolicy, Scorer, restore_scorer
from momagames.baselines.candidates.policy import restore_policy as restore_candidate_policy
from momagames.baselines.moppo.candidate_views import is_made_for_candidates, make_candidates
from momagames.baselines.moppo.encoder import make_network_encoder
from momagames.baselines.moppo.network_policy import MAX_OBJECTIVES, NetworkPolicy, check_caution, restore_policy
from momagames.baselines.moppo.options import DEFAULT_OPTIONS, MoppoOptions
from momagames.baselines.safe import MAX_CAUTION
from momagames.baselines.trainer import TrainerMethod, train_to_end
from momagames.baselines.training_setup import TrainingSetup
from momagames.baselines.weight_lattice import check_lattice_size
from momagames.contract import Game
from momagames.engine.policies import CompiledPolicy
from momagames.errors import InvalidParameter

if TYPE_CHECKING:
    from momagames.baselines.moppo.trainer import MoppoTrainer

MAX_POLICIES = 1024


@dataclass(frozen=True)
class Moppo(MoppoOptions, TrainerMethod):
    """Multi-objective PPO: one network for all weights of the objectives (extra `learn`: PyTorch).

    The network is conditioned on the observation, the agent id, and weights that are sampled for each team and episode; or it
    reads an egocentric view, or scores candidate actions by one step of look-ahead, which counts as a step (`network`). The
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
    # since 2: initial values that do not depend on the number of threads; since 3: views of boards from the side of the agent
    revision: ClassVar[int] = 3
    file_option: ClassVar[str] = "expert"
    former_options: ClassVar[Mapping[str, Any]] = {"safe_inputs": False, "symmetries": False, "league_size": 0}
    default_budget: ClassVar[int] = 1_000_000
    package: ClassVar[str] = "torch"
    extra: ClassVar[str] = "learn"

    def check_plan(self, game: Game) -> None:
        self.check_one_return(game)
        self._check_game(game)

    def plan(self, game: Game, start: NDArray[Any], budget: int, seed: int) -> Plans:
        """Train from this start position alone. All training episodes and one final episode of each policy are plans."""
        self.check_installed()
        self.check_plan(game)
        trainer = self.make_trainer(TrainingSetup([game], budget, seed, range(len(game.agents)), starts=start))
        train_to_end(trainer)
        trainer.play_policies(self.select_policies(game, trainer.make_policies()))
        archive = trainer.archive
        return Plans(archive.front(), trainer.steps, info=trainer.summarize(), dominated=archive.dominated)

    @classmethod
    def default_options(cls, game: Game) -> dict[str, Any]:
        own: dict[str, Any] = {}
        if is_made_for_candidates(game):  # most steps are look-ahead: few decisions, which a small network learns from fast
            own = {"num_steps": 16, "num_minibatches": 8, "learning_rate": 2e-2, "gae_lambda": 0.98, "concentration": 1.0}
            own |= {"hidden": 32}
        elif game.learning.egocentric_view:  # small networks, efficient in large batches
            own = {"num_envs": 512, "update_epochs": 2, "num_minibatches": 8, "gamma": 0.997, "greedy": False}
        if game.learning.clear_unsafe_actions:
            own |= {"caution": MAX_CAUTION, "expert": f"{SAFE}{next(iter(game.policies), 'random')}"}
        return {**DEFAULT_OPTIONS, **own, **cls.declared_defaults(game).options}

    def check_setup(self, setup: TrainingSetup) -> None:
        if setup.starts is not None and len(setup.starts) == 1:
            setup.check_one_game(self.name)
            self.check_plan(setup.game)
            return
        sizes = set()
        for game in setup.games:
            self.check_train(game)
            sizes.add(self._count_inputs(game))
        if len(sizes) > 1:
            raise InvalidParameter(
                f"{self.name}: networks for {' and '.join(one.id for one in setup.games)} differ in their inputs: expected "
                "games with equal observations and agents, with an egocentric view, or with candidate actions"
            )

    def make_trainer(self, setup: TrainingSetup) -> MoppoTrainer:
        """Return a trainer."""
        self.check_installed()
        from momagames.baselines.moppo.trainer import MoppoTrainer

        return MoppoTrainer(self, setup)

    def _count_inputs(self, game: Game) -> tuple[int, ...]:
        """Return the sizes of the inputs of the network for a game."""
        if candidates := make_candidates(game, self):
            return (candidates.features.count,)
        encoder = make_network_encoder(game, self)
        return encoder.rows, encoder.columns, len(encoder.planes), encoder.features

    def make_responder(self) -> Moppo:
        return replace(self, self_play=0.0, opponent_pool_size=0, utility="linear", expert=None, reward_scaling="random")

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
        elif self.reward_scaling == "expert":
            raise InvalidParameter(
                f"{self.name}: invalid reward_scaling='expert': expected 'random' or 'running' without an expert"
            )
        check_lattice_size(self.name, game, self.divisions, MAX_POLICIES)
        check_caution(game, self.caution)
        self._count_inputs(game)

    def restore_policies(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> NetworkPolicy | Scorer:
        if "parameters" in arrays:
            return restore_scorer(CandidatePolicy(game, self.hidden), self.name, arrays)
        return NetworkPolicy(game, arrays)

    def restore(self, game: Game, label: str, arrays: Mapping[str, NDArray[Any]]) -> CompiledPolicy:
        if "parameters" in arrays:
            return restore_candidate_policy(CandidatePolicy(game, self.hidden), label, arrays)
        return restore_policy(game, label, arrays)
