"""What MOPPO is asked to reach, and whether it does: trains with several seeds and prints a line for each.

python benchmarks/learning/targets.py                               # the names of the targets
python benchmarks/learning/targets.py breakthrough --seeds 5        # trains, or goes on where it was broken off
python benchmarks/learning/targets.py robotmail --seeds 1 --threads 2

Folders of training lie under --out (learning-targets/NAME-SEED); what is reported is played in games of their own.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import momagames
from momagames.baselines import member
from momagames.baselines.archive import undominated
from momagames.baselines.base import Member, sides
from momagames.baselines.learn.method import USUAL, Moppo
from momagames.experiments import training as sessions
from momagames.experiments.plan import Opponent
from momagames.experiments.training import Training

GAMES = 500  # that are reported, against each opponent from each seat
SEED = 7  # of these games


def rival(name: str) -> Opponent:
    return Opponent(name=name, options={"weights": []} if name == "greedy" else {})


@dataclass(frozen=True)
class Target:
    """What is trained on, how, whom it meets, and what is reported of the training."""

    id: str
    params: dict[str, Any]
    options: dict[str, Any]
    budget: int
    opponents: tuple[str, ...]
    report: Callable[[Training, Callable[..., Member]], dict[str, float]]
    asked: str


def wins(wanted: Training, policy: Callable[..., Member]) -> dict[str, float]:
    """Share of games won by the policy that wants nothing else, against each opponent."""
    first = policy([1.0] + [0.0] * (len(wanted.game.objectives) - 1))
    found = {}
    for name in [one.name for one in wanted.opponents]:
        returns = sessions.returns_of(replace(wanted, opponents=(rival(name),)), [first], GAMES, SEED)[0]
        found[f"wins against {name}"] = float((returns[:, 0] > 0).mean())
    return found


def deliveries(wanted: Training, policy: Callable[..., Member]) -> dict[str, float]:
    """Deliveries as a share of those of astar in the same seats and games, and the energy that the front spans."""
    members = [policy([w, 1 - w]) for w in np.linspace(0, 1, 11)]
    returns = sessions.returns_of(wanted, [*members, member("astar", wanted.game)], 50, SEED).mean(axis=1)
    front = returns[:-1][undominated(returns[:-1])]
    return {
        "deliveries": float(returns[:-1, 0].max()),
        "of astar's": float(returns[:-1, 0].max() / returns[-1, 0]),
        "points": float(len(front)),
        "least energy": float(front[:, 1].max()),
        "most energy": float(front[:, 1].min()),
    }


SMALL = {"channels": 16, "layers": 1}
TARGETS = {
    "breakthrough": Target(
        "mo-breakthrough-v0", {"board_width": 6, "board_height": 6}, {"concentration": 0.5, "entropy": 0.02}, 1_000_000,
        ("random", "greedy"), wins, "wins: 0.95 against random, 0.70 against greedy",
    ),
    "robotmail": Target(
        "mo-robotmail-v0", {"objectives": ["delivery", "energy"]},
        {"num_envs": 256, "rollout": 64, "gamma": 0.99, "entropy": 0.02}, 8_000_000, ("astar",), deliveries,
        "deliveries: 0.70 of astar's, and several points",
    ),
    "duel": Target(
        "mo-pommerman-duel-v0", {}, {**SMALL, "concentration": 0.5, "entropy": 0.02}, 4_000_000, ("static", "simple"), wins,
        "wins: more than static, as many as simple",
    ),
}  # fmt: skip


def carry_out(target: Target, seed: int, folder: Path) -> dict[str, float]:
    """Train, and play the games of the report."""
    game = momagames.spec(target.id, **target.params)
    rivals = tuple(rival(name) for name in target.opponents)
    wanted = Training(game, Moppo(**{**USUAL, **target.options}), seed, target.budget, sides(game), rivals)
    saved = sessions.train(wanted, folder, evaluations=20, episodes=16)
    network, minutes = saved.network(), sum(saved.head["trainer"]["seconds"].values()) / 60
    return {"minutes": minutes, **target.report(wanted, lambda weights: network.member("reported", weights, True))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=sorted(TARGETS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("learning-targets"))
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.name is None:
        for name, target in TARGETS.items():
            print(f"{name:14s}{target.id} {target.params}: {target.asked}")
        return
    target = TARGETS[given.name]
    print(
        f"{given.name}: {target.asked}; {target.budget:,} steps, {given.threads} threads, torch {torch.__version__}", flush=True
    )
    for seed in range(given.seeds):
        found = carry_out(target, seed, given.out / f"{given.name}-{seed}")
        told = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
        print(f"seed {seed}: {told} (load {os.getloadavg()[0]:.1f})", flush=True)


if __name__ == "__main__":
    main()
