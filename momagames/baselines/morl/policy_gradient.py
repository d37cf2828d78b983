"""Policies of morl-baselines that are trained one for each weight vector: MORL/D."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.morl.learned_policy import LearnedPolicy, Situation
from momagames.baselines.morl.method import LibraryLearner, make_weighted_policy, within_budget
from momagames.baselines.morl.networks import extract_layers, read_network, relu, softmax
from momagames.baselines.morl.training_env import IdleEnv, TrainingEnv
from momagames.contract import Game
from momagames.errors import InvalidParameter, check_range, invalid_value


@dataclass(frozen=True)
class MorlD(LibraryLearner):
    """MORL/D of morl-baselines: soft actor-critics for evenly spaced weights, which share a replay buffer.

    population          policies
    exchanges           parts of the budget: one policy trains in each, in turn
    net_arch            units of the hidden layers
    learning_rate       of Adam, of actor and critics
    batch_size          transitions of an update
    buffer_size         transitions in the replay buffer
    learning_starts     steps of random play at first
    update_frequency    steps between updates
    target_frequency    steps between copies of the critics to the target networks, a multiple of `update_frequency`
    alpha               coefficient of the entropy of the policy, in units of the scaled rewards

    The policies sample their actions.

    Source: Felten, Talbi and Danoy, "Multi-objective reinforcement learning based on decomposition: a taxonomy and framework",
    JAIR 79, 2024.
    """

    name: ClassVar[str] = "morl_d"
    module: ClassVar[str] = "morl_baselines.multi_policy.morld.morld"
    population: int
    exchanges: int
    net_arch: tuple[int, ...]
    learning_rate: float
    batch_size: int
    buffer_size: int
    learning_starts: int
    update_frequency: int
    target_frequency: int
    alpha: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: population", self.population, 2)
        check_range(f"{self.name}: exchanges", self.exchanges, self.population)
        check_range(f"{self.name}: number of layers in net_arch", len(self.net_arch), 2)
        check_range(f"{self.name}: units in net_arch", min(self.net_arch), 1)
        check_range(f"{self.name}: learning_rate", self.learning_rate, 0, above=True)
        for name in ("batch_size", "buffer_size", "learning_starts", "update_frequency"):
            check_range(f"{self.name}: {name}", getattr(self, name), 1)
        if self.target_frequency < 1 or self.target_frequency % self.update_frequency:
            expected = f"a positive multiple of update_frequency={self.update_frequency}"
            raise InvalidParameter(invalid_value(f"{self.name}: target_frequency", self.target_frequency, expected))
        check_range(f"{self.name}: alpha", self.alpha, 0)

    def learn(self, env: TrainingEnv, seed: int) -> list[LearnedPolicy]:
        from morl_baselines.multi_policy.morld.morld import MORLD

        budget = env.budget.limit or 0
        agent = MORLD(
            env, gamma=self.gamma, pop_size=self.population, seed=seed, policy_name="MOSACDiscrete",
            exchange_every=max(1, (budget - env.budget.used) // self.exchanges), shared_buffer=True,
            weight_init_method="uniform", device="cpu", log=False,
            policy_args={
                "net_arch": list(self.net_arch), "policy_lr": self.learning_rate, "q_lr": self.learning_rate,
                "batch_size": self.batch_size, "buffer_size": self.buffer_size, "learning_starts": self.learning_starts,
                "update_frequency": self.update_frequency, "target_net_freq": self.target_frequency,
                "alpha": self.alpha, "autotune": False, "device": "cpu",
            },
        )  # fmt: skip
        idle = IdleEnv(env)
        with within_budget():
            agent.train(budget, idle, np.array(env.game.reference_point), num_eval_episodes_for_front=1, checkpoints=False)
        return [
            make_weighted_policy(
                one.weights, extract_layers("actor", one.wrapped.actor.feature_extractor, one.wrapped.actor.net)
            )
            for one in agent.population
        ]

    def make_chooser(self, game: Game, arrays: Mapping[str, NDArray[Any]]) -> Any:
        network = read_network("actor", arrays, relu)

        def choose(situation: Situation) -> int:
            return sample_action(softmax(network(situation.observation)), situation.rng)

        return choose


def sample_action(probabilities: NDArray[Any], rng: np.random.Generator) -> int:
    """Return a random action with these probabilities."""
    drawn = int(np.searchsorted(np.cumsum(probabilities), rng.random(), side="right"))
    return min(drawn, len(probabilities) - 1)
