"""Learners of morl-baselines on one instance of MO-SameGame with a known exact front: results and training time.

python benchmarks/learning/morl.py                                         # all of them, 5x5x3, instance 3, 50,000 steps
python benchmarks/learning/morl.py pcn envelope --budget 20000 --seeds 3

For each learner and seed the script prints the hypervolume of the final policies, one episode each, as a share of that of the
exact front. It first prints that of the mean return of random play. The budget counts training steps, without evaluation
episodes of the learner. Needs the extra `morl`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import tempfile
import time
from collections.abc import Callable
from typing import Any

import moocore
import numpy as np
import torch
from gymnasium.wrappers import FlattenObservation
from numpy.typing import NDArray

import momagames
from momagames.wrappers import FixedInstance, HandleIllegal, TabularObservation

Points = NDArray[np.float64]


def make_env(seed: int, width: int, height: int, colors: int) -> Any:
    """Return an environment with one instance, in which an illegal action plays the next legal one."""
    board = {"board_width": width, "board_height": height, "num_colors": colors}
    env = momagames.make("mo-samegame-v0", api="gymnasium", **board)
    return HandleIllegal(FixedInstance(env, seed), "next")


def evaluate_weights(agent: Any, env: Any) -> Points:
    """Return the returns of the policies of a learner that is conditioned on weights."""
    from morl_baselines.common.evaluation import eval_mo
    from morl_baselines.common.weights import equally_spaced_weights

    return np.array([eval_mo(agent, env, weights)[2] for weights in equally_spaced_weights(env.unwrapped.reward_dim, 36)])


def value_settings(budget: int, seed: int) -> dict[str, Any]:
    """Return the settings of GPI-LS and Envelope: exploration decays over the first half."""
    return {
        "gamma": 1.0, "net_arch": [128, 128], "batch_size": 64, "learning_rate": 1e-3, "initial_epsilon": 1.0,
        "final_epsilon": 0.05, "epsilon_decay_steps": budget // 2, "buffer_size": budget, "seed": seed, "log": False,
    }  # fmt: skip


def envelope(env: Any, front: Points, budget: int, seed: int) -> Points:
    from morl_baselines.multi_policy.envelope.envelope import Envelope

    flat = FlattenObservation(env)
    agent = Envelope(flat, **value_settings(budget, seed))
    agent.train(budget)
    return evaluate_weights(agent, flat)


def gpi_ls(env: Any, front: Points, budget: int, seed: int) -> Points:
    from morl_baselines.multi_policy.gpi_pd.gpi_pd import GPILS

    flat = FlattenObservation(env)
    agent = GPILS(flat, **value_settings(budget, seed), gradient_updates=1, num_nets=1, drop_rate=0.0)
    agent.train(
        budget,
        flat,
        np.zeros(front.shape[1]),
        timesteps_per_iter=budget // 10,
        num_eval_episodes_for_front=1,
        checkpoints=False,
    )
    return evaluate_weights(agent, flat)


def pcn(env: Any, front: Points, budget: int, seed: int) -> Points:
    from morl_baselines.multi_policy.pcn.pcn import PCN

    flat, max_return = FlattenObservation(env), front.max(axis=0).astype(np.float32)
    scale = np.append(1 / max_return, 1 / env.unwrapped.game.max_episode_steps)
    agent = PCN(flat, scaling_factor=scale, hidden_dim=128, learning_rate=1e-2, seed=seed, log=False)
    agent.train(
        budget, flat, np.zeros(front.shape[1]), max_return=max_return, num_er_episodes=100, num_step_episodes=20,
        num_model_updates=20, max_buffer_size=200, num_points_pf=1,
    )  # fmt: skip
    return np.array(agent.evaluate(flat, max_return, n=100)[0])


def pql(env: Any, front: Points, budget: int, seed: int) -> Points:
    from morl_baselines.multi_policy.pareto_q_learning.pql import PQL

    table = TabularObservation(env, 20_000)
    reference = np.zeros(front.shape[1])
    agent = PQL(table, reference, gamma=1.0, final_epsilon=0.2, epsilon_decay_steps=budget, seed=seed, log=False)
    found = agent.train(budget, table)
    return np.array([agent.track_policy(point, table) for point in found])


LEARNERS: dict[str, Callable[[Any, Points, int, int], Points]] = {
    "envelope": envelope,
    "gpi-ls": gpi_ls,
    "pcn": pcn,
    "pql": pql,
}


def train(name: str, env: Any, front: Points, budget: int, seed: int) -> tuple[Points, float]:
    """Return the returns of the final policies and the training time in seconds; output of the learner is discarded."""
    for set_seed in (random.seed, np.random.seed, torch.manual_seed, env.action_space.seed):
        set_seed(seed)
    directory, started = os.getcwd(), time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(temporary)
        try:
            returns = LEARNERS[name](env, front, budget, seed)
        finally:
            os.chdir(directory)
    return returns, time.perf_counter() - started


def play_randomly(env: Any, episodes: int) -> Points:
    """Return the mean return of random legal play, [1, K]."""
    rng, total = np.random.default_rng(0), np.zeros(env.unwrapped.reward_dim)
    for _ in range(episodes):
        _, info = env.reset()
        over = False
        while not over:
            _, reward, over, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
            total += reward
    return np.asarray(total / episodes)[None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("learners", nargs="*", default=list(LEARNERS), metavar="|".join(LEARNERS))
    parser.add_argument("--budget", type=int, default=50_000, help="Number of environment steps.")
    parser.add_argument("--seeds", type=int, default=1, help="Number of seeds.")
    parser.add_argument("--instance-seed", type=int, default=3, help="Seed of the instance.")
    parser.add_argument("--board", default="5x5x3", help="Board: width x height x colors.")
    parser.add_argument("--threads", type=int, default=1, help="PyTorch threads.")
    arguments = parser.parse_args()
    unknown = set(arguments.learners) - set(LEARNERS)
    if unknown:
        parser.error(f"invalid learners {', '.join(sorted(unknown))}: expected {', '.join(LEARNERS)}")
    torch.set_num_threads(arguments.threads)
    env = make_env(arguments.instance_seed, *map(int, arguments.board.split("x")))
    env.reset()
    front = np.array(env.unwrapped.pareto_front(), np.float64)
    hypervolume = moocore.Hypervolume(ref=np.zeros(front.shape[1]), maximise=True)
    best = hypervolume(front)
    print(
        f"{arguments.board}, instance {arguments.instance_seed}: {len(front)} points; {arguments.budget:,} steps, "
        f"torch {torch.__version__}",
        flush=True,
    )
    print(f"random play: {hypervolume(play_randomly(env, 500)) / best:.3f}", flush=True)
    for name in arguments.learners:
        for seed in range(arguments.seeds):
            points, seconds = train(name, env, front, arguments.budget, seed)
            print(
                f"{name:10s} seed {seed}: {hypervolume(points) / best:.3f} of the exact hypervolume, "
                f"{len(np.unique(points, axis=0))} points, {seconds:.0f} s, {arguments.budget / seconds:,.0f} steps per second "
                f"(load {os.getloadavg()[0]:.1f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
