"""Value networks of morl-baselines that are conditioned on weights: Envelope and GPI-LS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.baselines.morl.learned_policy import Chooser, LearnedPolicy, Situations, append_row
from momagames.baselines.morl.method import WeightConditionedLearner, within_budget
from momagames.baselines.morl.networks import extract_layers, read_network, relu
from momagames.baselines.morl.training_env import TrainingEnv
from momagames.contract import Game
from momagames.errors import check_range

MAX_ACTIONS = 256  # the replay buffers store actions as bytes
LEARNING_STARTS = 100  # steps of random play before the first update


@dataclass(frozen=True)
class ValueLearner(WeightConditionedLearner):
    """Options of value networks.

    net_arch         units of the hidden layers
    learning_rate    of Adam
    batch_size       transitions of an update, one in each step
    buffer_size      transitions in the replay buffer
    exploration      share of the budget over which the rate of random actions falls from 1 to 0.05
    """

    max_actions: ClassVar[int | None] = MAX_ACTIONS
    net_arch: tuple[int, ...]
    learning_rate: float
    batch_size: int
    buffer_size: int
    exploration: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: number of layers in net_arch", len(self.net_arch), 2)
        check_range(f"{self.name}: units in net_arch", min(self.net_arch), 1)
        check_range(f"{self.name}: learning_rate", self.learning_rate, 0, above=True)
        check_range(f"{self.name}: batch_size", self.batch_size, 1)
        check_range(f"{self.name}: buffer_size", self.buffer_size, self.batch_size)
        check_range(f"{self.name}: exploration", self.exploration, 0, 1, above=True)

    def library_options(self, env: TrainingEnv, seed: int) -> dict[str, Any]:
        """Return the arguments that all learners of this kind share."""
        steps = (env.budget.limit or 0) - env.budget.used
        return {
            "env": env, "gamma": self.gamma, "net_arch": list(self.net_arch), "learning_rate": self.learning_rate,
            "batch_size": self.batch_size, "buffer_size": self.buffer_size, "initial_epsilon": 1.0, "final_epsilon": 0.05,
            "epsilon_decay_steps": max(1, int(self.exploration * steps)), "learning_starts": LEARNING_STARTS, "seed": seed,
            "device": "cpu", "log": False,
        }  # fmt: skip


@dataclass(frozen=True)
class Envelope(ValueLearner):
    """Envelope Q-learning of morl-baselines: one network for all weights, with targets from the envelope of sampled weights.

    Source: Yang, Sun and Narasimhan, "A generalized algorithm for multi-objective reinforcement learning and policy
    adaptation", NeurIPS 2019.
    """

    name: ClassVar[str] = "envelope"
    module: ClassVar[str] = "morl_baselines.multi_policy.envelope.envelope"

    def learn(self, env: TrainingEnv, seed: int) -> list[LearnedPolicy]:
        from morl_baselines.multi_policy.envelope.envelope import Envelope as Learner

        agent = Learner(**self.library_options(env, seed))
        with within_budget():
            agent.train(env.budget.limit)
        return self.make_policies(env.game, extract_layers("q", agent.q_net.net))

    def make_chooser(self, game: Game, arrays: Mapping[str, NDArray[Any]], seats: int = 1) -> Chooser:
        network, weights = read_network("q", arrays, relu), arrays["weights"]

        def choose(situations: Situations) -> NDArray[np.int64]:
            values = network(append_row(situations.observations, weights))
            actions: NDArray[np.int64] = np.argmax(weigh(values.reshape(len(values), -1, len(weights)), weights), axis=1)
            return actions

        return Chooser(choose)


@dataclass(frozen=True)
class GpiLs(ValueLearner):
    """GPI-LS of morl-baselines: generalized policy improvement, with weights by linear support.

    iterations         number of weights that are chosen, with equal parts of the budget
    eval_episodes      episodes in which the policy for a weight is evaluated during the training; they are part of the budget
    gradient_updates   updates in each step

    Source: Alegre, Bazzan, Roijers, Nowé and da Silva, "Sample-efficient multi-objective learning via generalized policy
    improvement prioritization", AAMAS 2023.
    """

    name: ClassVar[str] = "gpi_ls"
    module: ClassVar[str] = "morl_baselines.multi_policy.gpi_pd.gpi_pd"
    iterations: int
    eval_episodes: int
    gradient_updates: int

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("iterations", "eval_episodes", "gradient_updates"):
            check_range(f"{self.name}: {name}", getattr(self, name), 1)

    def learn(self, env: TrainingEnv, seed: int) -> list[LearnedPolicy]:
        from morl_baselines.multi_policy.gpi_pd.gpi_pd import GPILS

        agent = GPILS(**self.library_options(env, seed), gradient_updates=self.gradient_updates)
        steps = max(1, ((env.budget.limit or 0) - env.budget.used) // self.iterations)
        agent.set_weight_support(list(np.eye(env.reward_dim)))
        with within_budget():
            agent.train(
                steps * self.iterations,
                eval_env=env.make_evaluation_env(),
                ref_point=np.array(env.game.reference_point),
                timesteps_per_iter=steps,
                num_eval_episodes_for_front=self.eval_episodes,
                checkpoints=False,
            )
        network = agent.q_nets[0]
        arrays = {
            **extract_layers("state", network.state_features),
            **extract_layers("weight", network.weights_features),
            **extract_layers("q", network.net),
            "support": np.array([row.numpy() for row in agent.weight_support], np.float32),
        }
        return self.make_policies(env.game, arrays)

    def make_chooser(self, game: Game, arrays: Mapping[str, NDArray[Any]], seats: int = 1) -> Chooser:
        weights, support = arrays["weights"], arrays["support"]
        state_network, network = read_network("state", arrays, relu, relu), read_network("q", arrays, relu)
        features = read_network("weight", arrays, relu, relu)(support)

        def choose(situations: Situations) -> NDArray[np.int64]:
            states = state_network(situations.observations)
            pairs = (states[:, None] * features).reshape(-1, states.shape[1])  # each state with each weight vector
            values = network(pairs).reshape(len(states), len(support), -1, len(weights))
            actions: NDArray[np.int64] = np.argmax(weigh(values, weights).max(axis=1), axis=1)
            return actions

        return Chooser(choose)


def weigh(values: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the weighted sums over the last axis, in the same order for every number of rows."""
    return np.asarray(sum(values[..., k] * weights[k] for k in range(len(weights))))
