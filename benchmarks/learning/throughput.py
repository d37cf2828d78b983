"""Training time of MOPPO by part, and frames per second beside the loops of momaland and morl-baselines.

python benchmarks/learning/throughput.py                      # MO-SameGame 15x15x5, 1024 environments
python benchmarks/learning/throughput.py --num-envs 256 --updates 2 --threads 1

The environment of momaland is stepped through its AEC loop, with a forward pass of the same network per step; updates cost the
same per decision. morl-baselines (extra `morl`) trains with its own loop on the Gymnasium environment: Envelope with default
settings, one update per step.
"""

from __future__ import annotations

import argparse
import os
import time
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch

import momagames
from momagames.baselines.moppo.method import Moppo
from momagames.baselines.moppo.options import DEFAULT_OPTIONS
from momagames.baselines.moppo.trainer import MoppoTrainer
from momagames.baselines.training_setup import TrainingSetup

BOARD = {"board_width": 15, "board_height": 15, "num_colors": 5}


def measure_moppo(trainer: MoppoTrainer, updates: int) -> dict[str, float]:
    """Return seconds per decision: in the environments, in the network during rollouts, in updates, and in total."""
    trainer.train_iteration()  # compiles, and creates the state of the optimizer
    seconds = trainer.progress.seconds
    before, first, started = dict(seconds), trainer.decisions, time.perf_counter()
    for _ in range(updates):
        trainer.train_iteration()
    decisions = trainer.decisions - first
    spent = {name: (seconds[name] - before[name]) / decisions for name in before}
    return {**spent, "total": (time.perf_counter() - started) / decisions}


def measure_momaland(trainer: MoppoTrainer, frames: int) -> float:
    """Return seconds per frame of momaland's AEC loop, the forward pass included."""
    from momaland.envs.samegame import mosame_game_v0

    env: Any = mosame_game_v0.env(**BOARD)
    weights = np.full((1, len(trainer.game.objectives)), 1 / len(trainer.game.objectives), np.float32)
    zero = np.zeros(1, np.int64)
    env.reset(seed=0)
    started, done = time.perf_counter(), 0
    while done < frames:
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
            continue
        rows = np.ascontiguousarray(np.asarray(observation["observation"], np.int8).transpose(2, 0, 1)).reshape(1, -1)
        with torch.no_grad():
            logits, _ = trainer.model.forward(rows.view(np.uint8)[None], zero, zero, zero, weights)
        legal = torch.from_numpy(np.asarray(observation["action_mask"]) != 0)
        env.step(int(torch.distributions.Categorical(logits=torch.where(legal, logits[0], -1e9)).sample()))
        done += 1
    return (time.perf_counter() - started) / frames


def measure_morl_baselines(frames: int, updates: int) -> float:
    """Return seconds per frame of the training loop of morl-baselines, with this many updates per frame."""
    from gymnasium.wrappers import FlattenObservation
    from morl_baselines.multi_policy.envelope.envelope import Envelope

    from momagames.wrappers import HandleIllegal

    env = FlattenObservation(HandleIllegal(momagames.make("mo-samegame-v0", api="gymnasium", **BOARD), "next"))
    agent = Envelope(env, learning_starts=1, gradient_updates=updates, buffer_size=10_000, seed=0, log=False)
    agent.train(10)  # compiles
    started = time.perf_counter()
    agent.train(frames)
    return (time.perf_counter() - started) / frames


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num-envs", type=int, default=1024, help="Environments of the batch.")
    parser.add_argument("--updates", type=int, default=2, help="Measured updates.")
    parser.add_argument("--frames", type=int, default=500, help="Frames of momaland and morl-baselines; 0: skip them.")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="PyTorch threads.")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    game = momagames.spec("mo-samegame-v0", **BOARD)
    options = Moppo(**{**DEFAULT_OPTIONS, "num_envs": arguments.num_envs, "num_steps": 8})
    trainer = options.make_trainer(TrainingSetup([game], 10**9, threads=arguments.threads))
    spent = measure_moppo(trainer, arguments.updates)
    machine = f"torch {torch.__version__}, {arguments.threads} threads, load {os.getloadavg()[0]:.1f}"
    print(f"{machine}; {arguments.num_envs} environments, default options")
    print("| | us per decision | share |\n|---|---|---|")
    for name, seconds in spent.items():
        print(f"| {name} | {seconds * 1e6:.1f} | {seconds / spent['total']:.1%} |")
    print(f"\n{1 / spent['total']:,.0f} decisions per second, {1 / (spent['total'] - spent['update']):,.0f} without updates")
    if arguments.frames:
        if find_spec("morl_baselines"):
            idle = measure_morl_baselines(arguments.frames, 0)
            busy = measure_morl_baselines(max(1, arguments.frames // 10), 1)
            print(
                f"Envelope of morl-baselines: {1 / idle:,.0f} frames per second without updates, {1 / busy:,.0f} with updates"
            )
        frame = measure_momaland(trainer, arguments.frames)
        print(
            f"momaland through its AEC loop: {1 / frame:,.0f} frames per second without updates, "
            f"{1 / (frame + spent['update']):,.0f} with those of MOPPO"
        )


if __name__ == "__main__":
    main()
