"""MaskablePPO of sb3-contrib on weighted sums of the rewards: one network for each weight vector, or one for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from momagames.baselines.morl.learned_policy import Chooser, LearnedPolicy, Situations, append_row
from momagames.baselines.morl.method import WeightConditionedLearner, make_weighted_policy, within_budget
from momagames.baselines.morl.networks import Arrays, extract_layers, read_network, softmax
from momagames.baselines.morl.training_env import TrainingEnv
from momagames.contract import Game
from momagames.errors import check_range

UNLIMITED = 10**9  # steps; the budget ends the training


@dataclass(frozen=True)
class MaskablePpo(WeightConditionedLearner):
    """MaskablePPO of sb3-contrib, on weighted sums of the rewards for the weights of a lattice. It never plays illegal actions.

    shared           whether one network, conditioned on weights that are drawn for each episode, serves all weights; else each
                     has a network, and an equal part of the budget
    net_arch         units of the hidden layers
    learning_rate    of Adam
    num_steps        decisions between updates
    batch_size       decisions of a minibatch
    update_epochs    passes over the decisions of an update
    ent_coef         coefficient of the entropy bonus
    greedy           whether policies play the likeliest action instead of sampling one

    Source: Huang and Ontañón, "A closer look at invalid action masking in policy gradient algorithms", FLAIRS 2022.
    """

    name: ClassVar[str] = "maskable_ppo"
    package: ClassVar[str] = "sb3_contrib"
    module: ClassVar[str] = "sb3_contrib"
    shared: bool
    net_arch: tuple[int, ...]
    learning_rate: float
    num_steps: int
    batch_size: int
    update_epochs: int
    ent_coef: float
    greedy: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(f"{self.name}: number of layers in net_arch", len(self.net_arch), 1)
        check_range(f"{self.name}: units in net_arch", min(self.net_arch), 1)
        check_range(f"{self.name}: learning_rate", self.learning_rate, 0, above=True)
        check_range(f"{self.name}: num_steps", self.num_steps, 2)
        check_range(f"{self.name}: batch_size", self.batch_size, 2, self.num_steps)
        check_range(f"{self.name}: update_epochs", self.update_epochs, 1)
        check_range(f"{self.name}: ent_coef", self.ent_coef, 0)

    def learn(self, env: TrainingEnv, seed: int) -> list[LearnedPolicy]:
        if self.shared:
            return self.make_policies(env.game, self._train(env, None, seed))
        budget, lattice = env.budget, self.list_weights(env.game)
        first, last = budget.used, budget.limit or 0
        policies = []
        for number, row in enumerate(lattice):
            budget.limit = first + (last - first) * (number + 1) // len(lattice)
            policies.append(make_weighted_policy(row, self._train(env, row, seed + number)))
        return policies

    def _train(self, env: TrainingEnv, weights: NDArray[np.float64] | None, seed: int) -> Arrays:
        """Return the arrays of a network that is trained for these weights, or for random ones."""
        from sb3_contrib import MaskablePPO

        model = MaskablePPO(
            "MlpPolicy", WeightsInObservation(env, weights, seed), gamma=self.gamma, learning_rate=self.learning_rate,
            n_steps=self.num_steps, batch_size=self.batch_size, n_epochs=self.update_epochs, ent_coef=self.ent_coef, seed=seed,
            device="cpu", policy_kwargs={"net_arch": list(self.net_arch)},
        )  # fmt: skip
        with within_budget():
            model.learn(UNLIMITED)
        return extract_actor(model)

    def make_chooser(self, game: Game, arrays: Mapping[str, NDArray[Any]], seats: int = 1) -> Chooser:
        return make_masked_chooser(arrays, self.greedy)


class WeightsInObservation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Flat observations are followed by the weights of the episode; the reward is the weighted sum.

    weights   None: drawn uniformly from the simplex for each episode
    """

    def __init__(self, env: Any, weights: NDArray[np.float64] | None, seed: int) -> None:
        super().__init__(env)
        self._fixed, self._rng = weights, np.random.default_rng(seed)
        self._objectives = len(env.get_wrapper_attr("game").objectives)
        size = env.observation_space.shape[0] + self._objectives
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)

    def action_masks(self) -> NDArray[np.int8]:
        """Return the legal actions, int8[M]."""
        mask: NDArray[np.int8] = self.env.get_wrapper_attr("action_masks")()
        return mask

    def _append_weights(self, observation: NDArray[Any]) -> NDArray[np.float32]:
        return np.concatenate([observation, self._weights], dtype=np.float32)

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        self._weights = self._rng.dirichlet(np.ones(self._objectives)) if self._fixed is None else self._fixed
        observation, info = self.env.reset(**options)
        return self._append_weights(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(int(action))
        utility = float(np.asarray(reward) @ self._weights)
        return self._append_weights(observation), utility, terminated, truncated, info


def extract_actor(model: Any) -> Arrays:
    """Return the arrays of the actor of a model of sb3-contrib with the policy "MlpPolicy"."""
    return extract_layers("actor", model.policy.mlp_extractor.policy_net, model.policy.action_net)


def make_masked_chooser(arrays: Mapping[str, NDArray[Any]], greedy: bool) -> Chooser:
    """Return the chooser of an actor for weights: the likeliest legal action, or a random one with its probabilities."""
    network, weights = read_network("actor", arrays, np.tanh), arrays["weights"]

    def choose(situations: Situations) -> NDArray[np.int64]:
        logits = np.where(situations.masks, network(append_row(situations.observations, weights)), -np.inf)
        actions: NDArray[np.int64] = np.argmax(logits, axis=1) if greedy else sample_actions(softmax(logits), situations.draws)
        return actions

    return Chooser(choose)


def sample_actions(probabilities: NDArray[Any], draws: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a random action of each row of probabilities [n, M], by a random number in [0, 1) for each."""
    sums = np.cumsum(probabilities, axis=1)
    actions: NDArray[np.int64] = np.argmax(sums > draws[:, None] * sums[:, -1:], axis=1)
    return actions
