"""EUPG of morl-baselines on FishWood of MO-Gymnasium, the benchmark of its authors: expected utility beside the exact optimum.

python -m benchmarks.learning.fishwood              # four seeds with 200,000 steps: about four minutes
python -m benchmarks.learning.fishwood --steps 0    # policies before training

In each of 200 steps the agent is in the woods (where it finds wood with probability 0.9) or fishes (a fish with probability
0.1), and chooses where it is next. The utility of an episode is the number of meals: a fish and two pieces of wood make one.
The optimum, which knows the step, the fish and the wood, and the best play that fishes at random with one probability are
computed by dynamic programming. Needs the extra `morl`.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import mo_gymnasium
import numpy as np
from numpy.typing import NDArray

from momagames.baselines.morl.method import use_library

STEPS = 200
FISH_RATE, WOOD_RATE = 0.1, 0.9
MAX_FISH = 80  # more are as good as 80: 200 steps bring 20 on average
LEARNING_RATE, GAMMA, UNITS = 0.001, 0.99, 50  # as in the library's example and defaults


def compute_utility(select: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
    """Return the expected utility of play from the start.

    select    returns values [fish, wood] of the next step from those of the two places, [place, fish, wood]
    """
    meals = np.minimum(np.arange(MAX_FISH + 1)[:, None], np.arange(STEPS + 1) // 2).astype(np.float64)
    values = np.stack([meals, meals])
    for _ in range(STEPS):
        following = select(values)
        with_fish = np.concatenate([following[1:], following[-1:]])
        with_wood = np.concatenate([following[:, 1:], following[:, -1:]], axis=1)
        values = np.stack(
            [FISH_RATE * with_fish + (1 - FISH_RATE) * following, WOOD_RATE * with_wood + (1 - WOOD_RATE) * following]
        )
    return float(values[1, 0, 0])  # an episode starts in the woods


def compute_random_utility(rate: float) -> float:
    """Return the expected utility of play that fishes next with one probability."""
    return compute_utility(lambda values: rate * values[0] + (1 - rate) * values[1])


def count_meals(rewards: Any, _: Any = None) -> Any:
    """Return the utility of rewards [..., 2]: fish, wood."""
    import torch

    fish, wood = torch.as_tensor(rewards).unbind(-1)
    return torch.minimum(fish, torch.div(wood, 2, rounding_mode="floor"))


def evaluate(agent: Any, episodes: int) -> tuple[float, float]:
    """Return the mean utility of episodes in which the policy samples its actions, and its standard error."""
    env = mo_gymnasium.make("fishwood-v0")
    env.reset(seed=1)
    utilities = []
    for _ in range(episodes):
        (observation, _), value, is_over = env.reset(), np.zeros(2, np.float32), False
        while not is_over:
            observation, reward, is_over, _, _ = env.step(agent.eval(observation, value))
            value = value + reward
        utilities.append(float(count_meals(value)))
    return float(np.mean(utilities)), float(np.std(utilities) / np.sqrt(episodes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200_000, help="Environment steps of a training.")
    parser.add_argument("--seeds", type=int, default=4, help="Number of seeds.")
    parser.add_argument("--episodes", type=int, default=500, help="Episodes of an evaluation.")
    arguments = parser.parse_args()
    utility, best = max((compute_random_utility(rate), rate) for rate in np.linspace(0, 1, 101))
    print(
        f"optimum {compute_utility(lambda values: values.max(axis=0)):.3f}, random play {compute_random_utility(0.5):.3f}, "
        f"random play that fishes with probability {best:.2f} {utility:.3f}",
        flush=True,
    )
    for seed in range(arguments.seeds):
        started = time.perf_counter()
        with use_library(seed):
            from morl_baselines.single_policy.esr.eupg import EUPG

            env = mo_gymnasium.make("fishwood-v0")
            env.reset(seed=seed)
            agent = EUPG(
                env, count_meals, buffer_size=STEPS + 1, net_arch=[UNITS], gamma=GAMMA, learning_rate=LEARNING_RATE, log=False,
                device="cpu", seed=seed,
            )  # fmt: skip
            agent.train(arguments.steps)
            mean, error = evaluate(agent, arguments.episodes)
        print(
            f"eupg, seed {seed}: {mean:.3f} ± {error:.3f} in {arguments.episodes:,} episodes; {arguments.steps:,} steps, "
            f"{time.perf_counter() - started:.0f} s (load {os.getloadavg()[0]:.1f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
