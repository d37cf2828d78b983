"""MaskablePPO of sb3-contrib, conditioned on weights like the learners of the package, for comparisons in equal time."""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

import momagames
from momagames.baselines.morl.learned_policy import make_python_policy
from momagames.baselines.morl.maskable_ppo import UNLIMITED, WeightsInObservation, extract_actor, make_masked_chooser
from momagames.baselines.morl.method import make_weighted_policy
from momagames.baselines.morl.networks import Arrays
from momagames.baselines.morl.training_env import OBSERVATION
from momagames.benchmark.training import Training
from momagames.engine.policies import PythonPolicy
from momagames.wrappers import Flatten

NUM_ENVS = 16  # side by side, so that the network is asked once for all of them
DECISIONS = 2048  # between updates, as by default


class FlatVector(gymnasium.ObservationWrapper[Any, Any, Any]):
    """The vector of a flat observation, without its mask."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.observation_space = env.observation_space[OBSERVATION]

    def observation(self, observation: Any) -> NDArray[np.float32]:
        return observation[OBSERVATION]


class EpisodesInTurn(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The episodes of environments of equal spaces, one of each in turn; the generator draws their seeds."""

    def __init__(self, envs: Sequence[Any], rng: np.random.Generator) -> None:
        super().__init__(envs[0])
        self._envs, self._rng = itertools.cycle(envs), rng

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.env = next(self._envs)
        return self.env.reset(seed=int(self._rng.integers(2**31)), options=options)


class StopAfter(BaseCallback):
    """Stops the training after so many CPU seconds, so that other work on the machine takes nothing from it."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end = time.process_time() + seconds

    def _on_step(self) -> bool:
        return time.process_time() < self._end


@dataclass(frozen=True)
class TrainedMaskablePpo:
    """The policies of a trained model, by the arrays of its actor."""

    arrays: Arrays

    def compile(self, label: str, weights: Sequence[float], greedy: bool) -> PythonPolicy:
        """Return the policy for these weights."""
        policy = make_weighted_policy(np.array(weights), self.arrays)
        made = make_python_policy(policy, lambda: make_masked_chooser(policy.arrays, greedy), "next")
        return PythonPolicy(label, made.make)


def train_maskable_ppo(training: Training, seconds: float, units: Sequence[int]) -> tuple[TrainedMaskablePpo, int]:
    """Train from the first seat against the first opponent, in all games in turn; return the policies and the steps.

    Rewards are divided by the scale of the training's own method, and discounted by its factor if it has one.

    units   of the hidden layers
    """
    scale = training.options.make_trainer(training.make_setup()).return_scale
    env = DummyVecEnv([functools.partial(make_env, training, scale, number) for number in range(NUM_ENVS)])
    gamma, network = training.options.options().get("gamma", 1.0), {"net_arch": list(units)}
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=DECISIONS // NUM_ENVS, gamma=gamma, seed=training.seed, device="cpu", policy_kwargs=network
    )
    model.learn(UNLIMITED, StopAfter(seconds))
    return TrainedMaskablePpo(extract_actor(model)), model.num_timesteps


def make_env(training: Training, scale: NDArray[np.float64], number: int) -> WeightsInObservation:
    """Return one of the environments of a training, which begins with another one of its games than the one before."""
    options = {"agent": training.seats[0], "others": training.opponents[0].name} if training.opponents else {}
    weights = None if training.weights is None else np.array(training.weights) / np.sum(training.weights)
    envs = [momagames.make(game.id, api="gymnasium", **game.params, **options) for game in training.games]
    first, rng = number % len(envs), np.random.default_rng([training.seed, number])
    in_turn = EpisodesInTurn([FlatVector(Flatten(env, OBSERVATION)) for env in envs[first:] + envs[:first]], rng)
    scaled = gymnasium.wrappers.TransformReward(in_turn, lambda reward: reward / scale)
    return WeightsInObservation(scaled, weights, int(rng.integers(2**31)))
