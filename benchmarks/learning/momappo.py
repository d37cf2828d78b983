"""momaland's MOMAPPO on MO-RoboticMail through the parallel door, beside random play.

python benchmarks/learning/momappo.py                                   # three weight vectors, 100,000 steps each
python benchmarks/learning/momappo.py --weights 2 --steps 250000 --seed 1

A policy is trained for each weight vector, which optimistic linear support chooses, with the settings that MOMAPPO comes with;
only nothing is discounted. Printed are the team's mean returns, MOMAPPO's by its own evaluations, and the hypervolume of what
is not dominated. Needs the extra `morl`.
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

NAME = "mail"  # by which MOMAPPO makes the game
GAME = {"layout": "tiny", "num_players": 2, "max_step": 30, "objectives": ["energy", "delivery"]}
FLOOR = (-30, 0)  # reference point of the team's returns
GAMES = 200  # of random play

Points = NDArray[np.float64]


class Mail:
    """What momaland's table has for a game."""

    @staticmethod
    def parallel_env() -> Any:
        env = Flatten(HandleIllegal(momagames.make("mo-robotmail-v0", api="parallel", **GAME), "next"))
        return observation_lambda_v0(env, lambda seen, space: seen["observation"], lambda space: space["observation"])


def random_play(seed: int) -> Points:
    """The team's mean returns float64[1, K] by chance."""
    env, rng, total = Mail.parallel_env(), np.random.default_rng(seed), np.zeros(len(FLOOR))
    for game in range(GAMES):
        env.reset(seed=game)
        while env.agents:
            rewards = env.step({agent: rng.integers(env.action_space(agent).n) for agent in env.agents})[1]
            total += sum(rewards.values())
    return total[None] / GAMES


def momappo(weights: int, steps: int, seed: int) -> Points:
    """The team's mean returns float64[weights, K] of the policies, one for each weight vector."""
    settings = (
        f"--env-id {NAME} --ref-point {FLOOR[0]} {FLOOR[1]} --seed {seed} --gamma 1 --num-weights {weights} "
        f"--timesteps-per-weight {steps}"
    )
    all_environments[NAME], sys.argv = Mail, ["momappo", *settings.split()]
    with contextlib.redirect_stdout(io.StringIO()):
        found = runpy.run_module("momaland.learning.cooperative_momappo.discrete_momappo", run_name="__main__")
    return np.array(found["value"], np.float64)


def tell(name: str, play: Callable[[], Points]) -> None:
    began = time.perf_counter()
    points = play()
    seconds = time.perf_counter() - began
    reached = "; ".join(f"{energy:.2f} energy, {delivery:.2f} deliveries" for energy, delivery in points)
    volume = hypervolume(points[is_nondominated(points)], FLOOR).value
    print(f"{name}: {reached}; hypervolume {volume:.2f}; {seconds:.0f} s (load {os.getloadavg()[0]:.1f})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=int, default=3)
    parser.add_argument("--steps", type=int, default=100_000, help="for each weight vector")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tell("random play", lambda: random_play(given.seed))
    tell("MOMAPPO", lambda: momappo(given.weights, given.steps, given.seed))


if __name__ == "__main__":
    main()
