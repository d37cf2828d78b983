"""momaland's MOMAPPO on MO-RoboticMail (Parallel API), beside random play.

python benchmarks/learning/momappo.py                                   # three weight vectors, 100,000 steps each
python benchmarks/learning/momappo.py --weights 2 --steps 250000 --seed 1

MOMAPPO trains a policy for each weight vector, chosen by optimistic linear support, with its default settings and no discount.
The script prints the mean returns of the team, those of MOMAPPO by its own evaluations, and the hypervolume of the
non-dominated points. Needs the extra `morl`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import runpy
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from momaland.utils.all_modules import all_environments
from numpy.typing import NDArray
from supersuit import observation_lambda_v0

import momagames
from momagames.analysis.indicators import hypervolume
from momagames.baselines.archive import is_nondominated
from momagames.wrappers import Flatten, HandleIllegal

NAME = "mail"  # in momaland's table of environments
GAME = {"layout": "tiny", "num_players": 2, "max_step": 30, "objectives": ["energy", "delivery"]}
REFERENCE_POINT = (-30, 0)  # of the returns of the team
EPISODES = 200  # of random play

Points = NDArray[np.float64]


class Mail:
    """An entry of momaland's table of environments."""

    @staticmethod
    def parallel_env() -> Any:
        env = Flatten(HandleIllegal(momagames.make("mo-robotmail-v0", api="parallel", **GAME), "next"))
        return observation_lambda_v0(
            env, lambda observation, space: observation["observation"], lambda space: space["observation"]
        )


def play_randomly(seed: int, episodes: int) -> Points:
    """Return the mean returns of the team in random play, float64[1, K]."""
    env, rng, total = Mail.parallel_env(), np.random.default_rng(seed), np.zeros(len(REFERENCE_POINT))
    for episode in range(episodes):
        env.reset(seed=episode)
        while env.agents:
            rewards = env.step({agent: rng.integers(env.action_space(agent).n) for agent in env.agents})[1]
            total += sum(rewards.values())
    return total[None] / episodes


def train_momappo(weights: int, steps: int, seed: int) -> Points:
    """Return the mean returns of the team, float64[weights, K], for one policy per weight vector."""
    settings = (
        f"--env-id {NAME} --ref-point {REFERENCE_POINT[0]} {REFERENCE_POINT[1]} --seed {seed} --gamma 1 "
        f"--num-weights {weights} --timesteps-per-weight {steps}"
    )
    all_environments[NAME], sys.argv = Mail, ["momappo", *settings.split()]
    with contextlib.redirect_stdout(io.StringIO()):
        variables = runpy.run_module("momaland.learning.cooperative_momappo.discrete_momappo", run_name="__main__")
    return np.array(variables["value"], np.float64)


def report(name: str, run: Callable[[], Points]) -> None:
    started = time.perf_counter()
    points = run()
    seconds = time.perf_counter() - started
    returns = "; ".join(f"{energy:.2f} energy, {delivery:.2f} deliveries" for energy, delivery in points)
    volume = hypervolume(points[is_nondominated(points)], REFERENCE_POINT).value
    print(f"{name}: {returns}; hypervolume {volume:.2f}; {seconds:.0f} s (load {os.getloadavg()[0]:.1f})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=int, default=3, help="Number of weight vectors; 0: random play only.")
    parser.add_argument("--steps", type=int, default=100_000, help="Environment steps per weight vector.")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="Episodes of random play.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed.")
    arguments = parser.parse_args()
    report("random play", lambda: play_randomly(arguments.seed, arguments.episodes))
    if arguments.weights:
        report("MOMAPPO", lambda: train_momappo(arguments.weights, arguments.steps, arguments.seed))


if __name__ == "__main__":
    main()
