"""Learners of morl-baselines on one deal of MO-SameGame whose exact front is known, beside what they cost.

python benchmarks/learning/morl.py                                         # all of them, 5x5x3, deal 3, 50,000 steps
python benchmarks/learning/morl.py pcn envelope --budget 20000 --seeds 3

For each learner and seed: the hypervolume of the policies that it ends with, played once each, as a share of that of the exact
front; that of the mean return of random play is printed first. The budget counts steps of training, what a learner plays to
evaluate itself left out. Needs the extra `morl`.
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


def game(deal: int, width: int, height: int, colors: int) -> Any:
    """One deal, in which an illegal action plays the next legal one."""
    board = {"board_width": width, "board_height": height, "num_colors": colors}
    env = momagames.make("mo-samegame-v0", api="gymnasium", **board)
    return HandleIllegal(FixedInstance(env, deal), "next")


def by_weights(agent: Any, env: Any) -> Points:
    """The returns of the policies of a learner that is told weights."""
    from morl_baselines.common.evaluation import eval_mo
    from morl_baselines.common.weights import equally_spaced_weights

    return np.array([eval_mo(agent, env, weights)[2] for weights in equally_spaced_weights(env.unwrapped.reward_dim, 36)])


def values(budget: int, seed: int) -> dict[str, Any]:
    """Settings that GPI-LS and Envelope share: exploration falls over the first half."""
    return {
        "gamma": 1.0, "net_arch": [128, 128], "batch_size": 64, "learning_rate": 1e-3, "initial_epsilon": 1.0,
        "final_epsilon": 0.05, "epsilon_decay_steps": budget // 2, "buffer_size": budget, "seed": seed, "log": False,
    }  # fmt: skip


def envelope(env: Any, front: Points, budget: int, seed: int) -> Points:
    from morl_baselines.multi_policy.envelope.envelope import Envelope

    flat = FlattenObservation(env)
    agent = Envelope(flat, **values(budget, seed))
    agent.train(budget)
    return by_weights(agent, flat)


def gpi_ls(env: Any, front: Points, budget: int, seed: int) -> Points:
    from morl_baselines.multi_policy.gpi_pd.gpi_pd import GPILS

    flat = FlattenObservation(env)
    agent = GPILS(flat, **values(budget, seed), gradient_updates=1, num_nets=1, drop_rate=0.0)
    agent.train(
        budget,
        flat,
        np.zeros(front.shape[1]),
        timesteps_per_iter=budget // 10,
        num_eval_episodes_for_front=1,
        checkpoints=False,
    )
    return by_weights(agent, flat)


def pcn(env: Any, front: Points, budget: int, seed: int) -> Points:
    from morl_baselines.multi_policy.pcn.pcn import PCN

    flat, most = FlattenObservation(env), front.max(axis=0).astype(np.float32)
    scale = np.append(1 / most, 1 / env.unwrapped.game.max_episode_steps)
    agent = PCN(flat, scaling_factor=scale, hidden_dim=128, learning_rate=1e-2, seed=seed, log=False)
    agent.train(
        budget, flat, np.zeros(front.shape[1]), max_return=most, num_er_episodes=100, num_step_episodes=20,
        num_model_updates=20, max_buffer_size=200, num_points_pf=1,
    )  # fmt: skip
    return np.array(agent.evaluate(flat, most, n=100)[0])


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


def trained(name: str, env: Any, front: Points, budget: int, seed: int) -> tuple[Points, float]:
    """The returns of the policies found, and the seconds that it took; what the learner prints and saves is thrown away."""
    for seed_it in (random.seed, np.random.seed, torch.manual_seed, env.action_space.seed):
        seed_it(seed)
    here, began = os.getcwd(), time.perf_counter()
    with tempfile.TemporaryDirectory() as aside, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(aside)
        try:
            found = LEARNERS[name](env, front, budget, seed)
        finally:
            os.chdir(here)
    return found, time.perf_counter() - began


def by_chance(env: Any, games: int) -> Points:
    """The mean return of random legal play, [1, K]."""
    rng, total = np.random.default_rng(0), np.zeros(env.unwrapped.reward_dim)
    for _ in range(games):
        _, info = env.reset()
        over = False
        while not over:
            _, reward, over, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
            total += reward
    return np.asarray(total / games)[None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("learners", nargs="*", default=list(LEARNERS), metavar="|".join(LEARNERS))
    parser.add_argument("--budget", type=int, default=50_000, help="steps of training")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--deal", type=int, default=3)
    parser.add_argument("--board", default="5x5x3", help="width x height x colors")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    unknown = set(given.learners) - set(LEARNERS)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(LEARNERS)}")
    torch.set_num_threads(given.threads)
    env = game(given.deal, *map(int, given.board.split("x")))
    env.reset()
    front = np.array(env.unwrapped.pareto_front(), np.float64)
    measure = moocore.Hypervolume(ref=np.zeros(front.shape[1]), maximise=True)
    best = measure(front)
    print(
        f"{given.board}, deal {given.deal}: {len(front)} points; {given.budget:,} steps, torch {torch.__version__}", flush=True
    )
    print(f"random play: {measure(by_chance(env, 500)) / best:.3f}", flush=True)
    for name in given.learners:
        for seed in range(given.seeds):
            found, seconds = trained(name, env, front, given.budget, seed)
            print(
                f"{name:10s} seed {seed}: {measure(found) / best:.3f} of the exact hypervolume, "
                f"{len(np.unique(found, axis=0))} points, {seconds:.0f} s, {given.budget / seconds:,.0f} steps a second "
                f"(load {os.getloadavg()[0]:.1f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
