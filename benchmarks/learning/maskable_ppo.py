"""MaskablePPO of sb3-contrib, conditioned on weights like the learners of the package, for comparisons in equal time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import momagames
from momagames.adapters.spaces import observation_space
from momagames.benchmark.training import Training
from momagames.contract import Game
from momagames.engine.policies import PythonPolicy
from momagames.engine.policy_sources import ObservationPolicy
from momagames.wrappers.flatten import FlatObservation


class WeightsInObservation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Observations are flat and followed by the weights of the episode; the reward is the weighted sum.

    weights   None: drawn uniformly from the simplex for each episode
    """

    def __init__(self, env: Any, weights: NDArray[np.float64] | None, seed: int) -> None:
        super().__init__(env)
        self._fixed, self._rng = weights, np.random.default_rng(seed)
        self._flat = FlatObservation(env.observation_space, env.action_space, "observation")
        size = self._flat.space["observation"].shape[0] + len(env.unwrapped.game.objectives)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)

    def action_masks(self) -> NDArray[np.int8]:
        return self.env.unwrapped.action_masks()

    def _flatten(self, observation: Any) -> NDArray[np.float32]:
        numbers = self._flat.flatten(observation, self.action_masks())["observation"]
        return np.concatenate([numbers, self._weights], dtype=np.float32)

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        objectives = len(self.env.unwrapped.game.objectives)
        self._weights = self._rng.dirichlet(np.ones(objectives)) if self._fixed is None else self._fixed
        observation, info = self.env.reset(**options)
        return self._flatten(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(int(action))
        return self._flatten(observation), float(reward @ self._weights), terminated, truncated, info


class StopAfter(BaseCallback):
    """Stops the training after so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end = time.perf_counter() + seconds

    def _on_step(self) -> bool:
        return time.perf_counter() < self._end


@dataclass(frozen=True)
class TrainedMaskablePpo:
    """The policies of a trained model."""

    game: Game
    model: Any

    def compile(self, label: str, weights: Sequence[float], greedy: bool) -> PythonPolicy:
        """Return the policy for these weights."""
        flat = FlatObservation(observation_space(self.game), gymnasium.spaces.Discrete(self.game.actions[0]), "observation")

        def choose(observation: Any, mask: NDArray[np.int8], rng: np.random.Generator) -> int:
            row = np.concatenate([flat.flatten(observation, mask)["observation"], weights], dtype=np.float32)
            return int(self.model.predict(row, action_masks=mask, deterministic=greedy)[0])

        return PythonPolicy(label, lambda game, agent: ObservationPolicy(choose, game, agent))


def train_maskable_ppo(training: Training, seconds: float, units: Sequence[int]) -> tuple[TrainedMaskablePpo, int]:
    """Train from the first seat against the first opponent; return the policies and the steps.

    units   of the hidden layers
    """
    game = training.game
    options = {"agent": training.seats[0], "others": training.opponents[0].name} if training.opponents else {}
    weights = None if training.weights is None else np.array(training.weights) / np.sum(training.weights)
    env = WeightsInObservation(momagames.make(game.id, api="gymnasium", **game.params, **options), weights, training.seed)
    model = MaskablePPO("MlpPolicy", env, gamma=1.0, seed=training.seed, device="cpu", policy_kwargs={"net_arch": list(units)})
    model.learn(10**9, StopAfter(seconds))
    return TrainedMaskablePpo(game, model), model.num_timesteps
