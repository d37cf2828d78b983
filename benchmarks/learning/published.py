"""Learners of other libraries on benchmarks of MO-Gymnasium: what the methods of the package find, beside published fronts.

python -m benchmarks.learning.published                               # all learners with their budgets
python -m benchmarks.learning.published pcn envelope --seeds 3 --share 0.5

Each learner trains with the code of the method (`momagames.baselines.morl`) on its benchmark. Its policies are then evaluated
without discount, and their non-dominated returns are compared with the exact front that MO-Gymnasium publishes: by the share
of the hypervolume, by the expected utility, and by the number of points of the front that are reached. Weighted sums reach the
convex part of a front only; its share is printed, too. Options and budgets of Envelope and GPI-LS were chosen with seed 10.
Needs the extra `morl`.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from types import SimpleNamespace
from typing import Any, NamedTuple

import gymnasium
import mo_gymnasium
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from momagames.analysis.indicators import hypervolume
from momagames.analysis.utilities import expected_utility, sampled_weights
from momagames.baselines.archive import is_nondominated
from momagames.baselines.morl.learned_policy import LearnedPolicy, Situations
from momagames.baselines.morl.maskable_ppo import MaskablePpo
from momagames.baselines.morl.method import SCALE_SHARE, LibraryLearner, use_library
from momagames.baselines.morl.return_conditioned import Pcn
from momagames.baselines.morl.training_env import BudgetReached, StepBudget, estimate_return_scale
from momagames.baselines.morl.value_learners import Envelope, GpiLs

TOLERANCE = 1e-3  # of a return that is a point of the front

Points = NDArray[np.float64]


class Benchmark(NamedTuple):
    """An environment of MO-Gymnasium.

    options           arguments of the environment
    reference_point   of the hypervolume
    """

    id: str
    options: dict[str, Any]
    reference_point: tuple[float, ...]
    max_steps: int


# Reference point: https://github.com/LucasAlegre/morl-baselines/issues/43
CONVEX = Benchmark("deep-sea-treasure-v0", {}, (0.0, -50.0), 100)
FRUITS = Benchmark("fruit-tree-v0", {"depth": 6}, (-1.0,) * 6, 6)


class Case(NamedTuple):
    """A benchmark of a learner, with the environment steps of the training."""

    benchmark: Benchmark
    budget: int
    method: LibraryLearner


COMMON: dict[str, Any] = {"gamma": 1.0, "illegal": "next"}
VALUES: dict[str, Any] = {
    **COMMON, "gamma": 0.99, "net_arch": (128, 128, 128), "learning_rate": 1e-3, "batch_size": 64,
    "buffer_size": 20_000, "exploration": 0.5,
}  # fmt: skip
GPI: dict[str, Any] = {**VALUES, "divisions": 50, "iterations": 10, "eval_episodes": 1, "gradient_updates": 1}
COMMANDS: dict[str, Any] = {
    **COMMON, "num_policies": 100, "hidden_dim": 64, "learning_rate": 1e-2, "batch_size": 256, "random_episodes": 50,
    "episodes": 10, "updates": 50, "max_buffer_size": 200,
}  # fmt: skip
PPO: dict[str, Any] = {
    **COMMON, "divisions": 10, "shared": False, "net_arch": (64, 64), "learning_rate": 1e-3, "num_steps": 512, "batch_size": 64,
    "update_epochs": 10, "ent_coef": 0.01, "greedy": True,
}  # fmt: skip
CASES: dict[str, list[Case]] = {
    "pcn": [Case(FRUITS, 10_000, Pcn(**COMMANDS)), Case(CONVEX, 60_000, Pcn(**COMMANDS))],
    "envelope": [
        Case(FRUITS, 30_000, Envelope(**{**VALUES, "batch_size": 256}, divisions=8)),
        Case(CONVEX, 30_000, Envelope(**VALUES, divisions=50)),
    ],
    "gpi_ls": [Case(CONVEX, 40_000, GpiLs(**GPI))],
    "maskable_ppo": [Case(CONVEX, 100_000, MaskablePpo(**PPO))],
}


class BenchmarkEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A benchmark in the place of `TrainingEnv`: the same budget, and flat observations float32[F].

    returns   of the episodes since the end of the training
    """

    def __init__(self, benchmark: Benchmark, budget: StepBudget, seed: int) -> None:
        super().__init__(mo_gymnasium.make(benchmark.id, max_episode_steps=benchmark.max_steps, **benchmark.options))
        self._benchmark, self._seed, self.budget = benchmark, seed, budget
        self.reward_dim, self.reward_space = len(benchmark.reference_point), self.unwrapped.reward_space
        self.action_space.seed(seed)
        low, high = (self._flatten(end) for end in (self.env.observation_space.low, self.env.observation_space.high))
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self.return_scale: Points = np.ones(self.reward_dim)
        best = self.unwrapped.reward_space.high * benchmark.max_steps
        self.game = SimpleNamespace(
            id=benchmark.id, reference_point=benchmark.reference_point, max_episode_steps=benchmark.max_steps,
            actions=(int(self.action_space.n),), objectives=[SimpleNamespace(return_high=float(high)) for high in best],
        )  # fmt: skip
        self.returns: list[Points] = []

    def make_evaluation_env(self) -> BenchmarkEnv:
        env = BenchmarkEnv(self._benchmark, self.budget, self._seed + 1)
        env.return_scale = self.return_scale
        return env

    def _flatten(self, observation: Any) -> NDArray[np.float32]:
        flat: NDArray[np.float32] = np.ravel(observation).astype(np.float32)
        return flat

    def action_masks(self) -> NDArray[np.int8]:
        return np.ones(self.game.actions[0], np.int8)

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**options)
        self.value = np.zeros(self.reward_dim)
        return self._flatten(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.budget.check()
        observation, reward, terminated, truncated, info = self.env.step(int(action))
        self.budget.used += 1
        self.value = self.value + reward
        if (terminated or truncated) and self.budget.limit is None:
            self.returns.append(self.value)
        return self._flatten(observation), np.float32(reward / self.return_scale), terminated, truncated, info


def play_policy(env: BenchmarkEnv, method: LibraryLearner, policy: LearnedPolicy) -> Points:
    """Return the return of a policy in one episode, float64[K]."""
    choose, rng, seat = method.make_chooser(env.game, policy.arrays), np.random.default_rng(0), np.zeros(1, np.int64)
    observation, _ = env.reset()
    is_over = False
    while not is_over:
        situations = Situations(seat, observation[None], env.action_masks()[None], env.value[None], rng.random(1))
        observation, _, terminated, truncated, _ = env.step(choose(situations)[0])
        is_over = terminated or truncated
    return env.returns.pop()


def train(case: Case, budget: int, seed: int) -> Points:
    """Return the mean returns of the policies of a learner after its training, float64[n, K]."""
    env = BenchmarkEnv(case.benchmark, StepBudget(budget), seed)
    with use_library(case.method.module, seed):
        try:
            env.return_scale = estimate_return_scale(env, budget // SCALE_SHARE, np.random.default_rng(seed))
            policies = case.method.learn(env, seed)
        except BudgetReached:
            policies = []
    env.budget.limit = None
    played = [play_policy(env, case.method, policy) for policy in policies]
    return np.array(played, np.float64).reshape(-1, env.reward_dim)


def select_convex(front: Points) -> Points:
    """Return the points of a front that are best for some weights of the objectives."""
    best, objectives = [], front.shape[1]
    ones, bounds = [[*np.ones(objectives), 0.0]], [*[(0, 1)] * objectives, (None, None)]
    for i, point in enumerate(front):
        others = np.delete(front, i, axis=0)
        rows = np.column_stack([others - point, np.ones(len(others))])  # weights, and the margin over each other point
        margin = linprog([*np.zeros(objectives), -1.0], rows, np.zeros(len(others)), ones, [1.0], bounds)
        if margin.status == 0 and -margin.fun > 0:
            best.append(i)
    return front[best]


def describe(found: Points, front: Points, benchmark: Benchmark) -> str:
    """Return the hypervolume and expected utility of returns beside those of the front, and the points that are reached."""
    reference, front = benchmark.reference_point, front[is_nondominated(front)]
    found = found[(found > reference).all(axis=1)]
    volumes = [hypervolume(points, reference).value if len(points) else 0.0 for points in (found, front, select_convex(front))]
    weights = sampled_weights(front.shape[1])
    utilities = [expected_utility(points, weights) if len(points) else math.nan for points in (found, front)]
    return (
        f"hypervolume {volumes[0]:.2f} of {volumes[1]:.2f} ({volumes[0] / volumes[1]:.4f}; convex part "
        f"{volumes[2] / volumes[1]:.4f}), expected utility {utilities[0]:.4f} of {utilities[1]:.4f}, "
        f"{count_reached(found, front)} points"
    )


def count_reached(found: Points, points: Points) -> str:
    """Return how many points are equal to a return, up to the tolerance: "9 of 10"."""
    near = np.abs(points[:, None] - found[None]).max(axis=2).min(axis=1, initial=np.inf) < TOLERANCE
    return f"{int(near.sum())} of {len(points)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("learners", nargs="*", default=list(CASES), metavar="|".join(CASES))
    parser.add_argument("--seeds", type=int, default=1, help="Number of seeds.")
    parser.add_argument("--share", type=float, default=1.0, help="Share of the budget of each learner.")
    arguments = parser.parse_args()
    if unknown := set(arguments.learners) - set(CASES):
        parser.error(f"invalid learners {', '.join(sorted(unknown))}: expected {', '.join(CASES)}")
    for name in arguments.learners:
        for case in CASES[name]:
            environment = mo_gymnasium.make(case.benchmark.id, **case.benchmark.options)
            front = np.array(environment.unwrapped.pareto_front(gamma=1.0), np.float64)
            for seed in range(arguments.seeds):
                started, budget = time.perf_counter(), int(case.budget * arguments.share)
                found = train(case, budget, seed)
                print(
                    f"{name}, {case.benchmark.id}, seed {seed}: {describe(found, front, case.benchmark)}; "
                    f"{budget:,} steps, {time.perf_counter() - started:.0f} s (load {os.getloadavg()[0]:.1f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
