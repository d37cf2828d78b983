"""Where the time of training goes, and frames a second beside the same learner on momaland's loop, and morl-baselines.

python benchmarks/learning/throughput.py                      # MO-SameGame 15x15x5, 1024 games side by side
python benchmarks/learning/throughput.py --num-envs 256 --updates 2 --threads 1

momaland's environment is stepped agent by agent through its AEC loop, with a forward pass of the same network for each step;
its updates are those of ours, which cost the same for each decision. morl-baselines (extra `morl`) trains with its own loop on
our Gymnasium door: Envelope with the settings that it comes with, one update for each step.
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
from momagames.baselines.moppo.method import USUAL, Moppo
from momagames.baselines.moppo.trainer import Trainer

BOARD = {"board_width": 15, "board_height": 15, "num_colors": 5}


def ours(trainer: Trainer, updates: int) -> dict[str, float]:
    """Seconds for each decision: in the games, in the network that plays, in updates, and in all."""
    trainer.advance()  # compiles, and makes the optimizer's arrays
    before, decisions, began = dict(trainer.seconds), 0.0, time.perf_counter()
    for _ in range(updates):
        decisions += trainer.advance()["decisions"]
    spent = {name: (trainer.seconds[name] - before[name]) / decisions for name in before}
    return {**spent, "all": (time.perf_counter() - began) / decisions}


def through_momaland(trainer: Trainer, frames: int) -> float:
    """Seconds for each frame of momaland's AEC loop, the forward pass included."""
    from momaland.envs.samegame import mosame_game_v0

    env: Any = mosame_game_v0.env(**BOARD)
    weights = np.full((1, len(trainer.game.objectives)), 1 / len(trainer.game.objectives), np.float32)
    nobody = np.zeros(1, np.int64)
    env.reset(seed=0)
    began, done = time.perf_counter(), 0
    while done < frames:
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
            continue
        rows = np.ascontiguousarray(np.asarray(observation["observation"], np.int8).transpose(2, 0, 1)).reshape(1, -1)
        with torch.no_grad():
            logits, _ = trainer._ask(rows.view(np.uint8)[None], nobody, nobody, nobody, weights)
        legal = torch.from_numpy(np.asarray(observation["action_mask"]) != 0)
        env.step(int(torch.distributions.Categorical(logits=torch.where(legal, logits[0], -1e9)).sample()))
        done += 1
    return (time.perf_counter() - began) / frames


def through_morl_baselines(frames: int, updates: int) -> float:
    """Seconds for each frame of the training loop of morl-baselines, with this many updates after each."""
    from gymnasium.wrappers import FlattenObservation
    from morl_baselines.multi_policy.envelope.envelope import Envelope

    from momagames.wrappers import HandleIllegal

    env = FlattenObservation(HandleIllegal(momagames.make("mo-samegame-v0", api="gymnasium", **BOARD), "next"))
    agent = Envelope(env, learning_starts=1, gradient_updates=updates, buffer_size=10_000, seed=0, log=False)
    agent.train(10)  # compiles
    began = time.perf_counter()
    agent.train(frames)
    return (time.perf_counter() - began) / frames


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num-envs", type=int, default=1024)
    parser.add_argument("--updates", type=int, default=2)
    parser.add_argument("--frames", type=int, default=500, help="of momaland and morl-baselines; 0: leave them out")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    game = momagames.spec("mo-samegame-v0", **BOARD)
    options = Moppo(**{**USUAL, "num_envs": given.num_envs, "rollout": 8})
    trainer = Trainer(game, options, [0], [], 10**9, 0)
    spent = ours(trainer, given.updates)
    machine = f"torch {torch.__version__}, {given.threads} threads, load {os.getloadavg()[0]:.1f}"
    print(f"{machine}; {given.num_envs} games, options as `momagames train`")
    print("| | us a decision | share |\n|---|---|---|")
    for name, seconds in spent.items():
        print(f"| {name} | {seconds * 1e6:.1f} | {seconds / spent['all']:.1%} |")
    print(f"\n{1 / spent['all']:,.0f} decisions a second, {1 / (spent['all'] - spent['update']):,.0f} without updates")
    if given.frames:
        if find_spec("morl_baselines"):
            idle, busy = through_morl_baselines(given.frames, 0), through_morl_baselines(max(1, given.frames // 10), 1)
            print(f"Envelope of morl-baselines: {1 / idle:,.0f} frames a second without updates, {1 / busy:,.0f} with its own")
        frame = through_momaland(trainer, given.frames)
        print(
            f"momaland through its AEC loop: {1 / frame:,.0f} frames a second without updates, "
            f"{1 / (frame + spent['update']):,.0f} with ours"
        )


if __name__ == "__main__":
    main()
