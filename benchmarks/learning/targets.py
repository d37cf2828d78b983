"""What MOPPO is asked to reach, and whether it does: trains with several seeds and prints a line for each.

python benchmarks/learning/targets.py                               # the names of the targets
python benchmarks/learning/targets.py breakthrough --seeds 5        # trains, or goes on where it was broken off
python benchmarks/learning/targets.py robotmail --seeds 1 --threads 2
python benchmarks/learning/targets.py --archive                     # what --out holds into reached.json, for docs/results

Folders of training lie under --out (learning-targets/NAME-SEED), each with a report.json of what was reached; that is played in
games of its own. Seeds, and with them the deals of targets of one deal, begin with 10: those before served to choose options.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import momagames
from momagames.analysis.indicators import hypervolume
from momagames.baselines import member, method
from momagames.baselines.archive import is_nondominated
from momagames.baselines.base import sides
from momagames.baselines.exact import exact_front
from momagames.baselines.moppo.method import USUAL, Moppo
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.benchmark import training as sessions
from momagames.benchmark.plan import Opponent
from momagames.benchmark.training import Training
from momagames.contract import Game
from momagames.engine.policies import Member

REPORT = "report.json"  # in the folder of a training
ARCHIVE = Path(__file__).with_name("reached.json")
GAMES = 500  # that are reported, against each opponent from each seat
SEED = 7  # of these games
FIRST = 10  # seed of training that is reported, where a target has no other; options were chosen with those before
FINE = {3: 20, 5: 6}  # divisions of the lattice of weights whose policies make a front, by number of objectives
EXACT = {"max_states": 10**7, "max_bytes": 1 << 30}


def rival(name: str) -> Opponent:
    return Opponent(name=name, options={"weights": []} if name == "greedy" else {})


@dataclass(frozen=True)
class Target:
    """What is trained on, how, whom it meets, and what is reported of the training.

    one_deal    whether all games are one deal, that of the seed of the training
    first       seed of training that is reported
    remark      what a reader of the results should know
    curve       what is shown over the steps: "hypervolume" of the policies of the lattice, or an objective, of the best of them
    """

    id: str
    params: dict[str, Any]
    options: dict[str, Any]
    budget: int
    opponents: tuple[str, ...]
    report: Callable[[Training, Callable[..., Member]], dict[str, float]]
    asked: str
    curve: str
    one_deal: bool = False
    first: int = FIRST
    remark: str = ""


def only(wanted: Training, objective: str) -> list[float]:
    """Weights of somebody who wants one objective."""
    return [float(goal.name == objective) for goal in wanted.game.objectives]


def lattice(wanted: Training, divisions: int) -> list[list[float]]:
    return simplex_lattice(len(wanted.game.objectives), divisions).tolist()


def volume(wanted: Training, points: NDArray[np.float64]) -> float:
    return hypervolume(points, wanted.game.reference_point).value


def wins(wanted: Training, policy: Callable[..., Member]) -> dict[str, float]:
    """Shares of games that the policy which wants nothing else wins against each opponent, and that this wins against it."""
    ours = policy(only(wanted, wanted.game.objectives[0].name))

    def share(one: Member, other: Member) -> float:
        return float((sessions.returns_of(wanted, [one], GAMES, SEED, [other])[0, :, 0] > 0).mean())

    found = {}
    for opponent in wanted.opponents:
        theirs = opponent.member(wanted.game)
        found |= {f"wins against {opponent.name}": share(ours, theirs), f"losses to {opponent.name}": share(theirs, ours)}
    return found


def deliveries(wanted: Training, policy: Callable[..., Member]) -> dict[str, float]:
    """Deliveries as a share of those of astar in the same seats and games, and the energy that the front spans."""
    members = [policy([w, 1 - w]) for w in np.linspace(0, 1, 11)]
    returns = sessions.returns_of(wanted, [*members, member("astar", wanted.game)], 50, SEED).mean(axis=1)
    front = returns[:-1][is_nondominated(returns[:-1])]
    return {
        "deliveries": float(returns[:-1, 0].max()),
        "of astar's": float(returns[:-1, 0].max() / returns[-1, 0]),
        "points": float(len(front)),
        "least energy": float(front[:, 1].max()),
        "most energy": float(front[:, 1].min()),
    }


def front_of_a_deal(wanted: Training, policy: Callable[..., Member]) -> dict[str, float]:
    """Hypervolumes of one game of each policy, and of the games of greedy for the same weights with as many steps."""
    divisions = FINE[len(wanted.game.objectives)]
    found = sessions.returns_of(wanted, [policy(weights) for weights in lattice(wanted, divisions)], 1)[:, 0]
    start = wanted.starts(np.zeros(1, np.uint64))
    greedy = method("greedy")(divisions=divisions).plan(wanted.game, start, wanted.budget, wanted.seed).values
    return {
        "hypervolume": volume(wanted, found),
        "greedy": volume(wanted, greedy),
        "points": float(is_nondominated(found).sum()),
    }


def beside_exact(wanted: Training, policy: Callable[..., Member]) -> dict[str, float]:
    """The same as shares of the exact front's hypervolume."""
    exact = volume(wanted, exact_front(wanted.game, seed=wanted.deal or 0, **EXACT).points)
    reached = front_of_a_deal(wanted, policy)
    return {
        "exact hypervolume": exact,
        "of the exact hypervolume": reached["hypervolume"] / exact,
        "greedy": reached["greedy"] / exact,
        "points": reached["points"],
    }


def beside_greedy(wanted: Training, policy: Callable[..., Member], games: int) -> list[NDArray[np.float64]]:
    """Returns float64[weights, games, K] of policies and of greedy, for the same weights of a lattice and the same deals."""
    weights = lattice(wanted, 4)
    both = [policy(w) for w in weights], [member("greedy", wanted.game, weights=w) for w in weights]
    return [sessions.returns_of(wanted, members, games, SEED) for members in both]


def front_of_many(wanted: Training, policy: Callable[..., Member]) -> dict[str, float]:
    """Hypervolumes of the mean returns of policies and of greedy, for the same weights and deals."""
    found, greedy = (volume(wanted, returns.mean(axis=1)) for returns in beside_greedy(wanted, policy, GAMES // 5))
    return {"hypervolume": found, "greedy": greedy, "of greedy's": found / greedy}


def levels(wanted: Training, policy: Callable[..., Member]) -> dict[str, float]:
    """Share of the games in which all goals are reached: the best over the weights, of policies and of greedy."""
    win = [goal.name for goal in wanted.game.objectives].index("win")
    won = [returns[:, :, win].mean(axis=1).max() for returns in beside_greedy(wanted, policy, GAMES)]
    return {"completed": float(won[0]), "greedy": float(won[1])}


QUICK = {"channels": 16, "layers": 1, "epochs": 2, "minibatches": 16, "learning_rate": 2e-3, "entropy": 0.005}
LARGE = {"divisions": 2, "utility": "chebyshev", "self_imitation": 0.3, "entropy": 0.01}


def board(size: int, budget: int, first: int = FIRST) -> Target:
    return Target(
        "mo-samegame-v0", {"board_width": size, "board_height": size, "num_colors": 3},
        {**QUICK, "utility": "chebyshev", "self_imitation": 0.2}, budget, (), beside_exact,
        "hypervolume: 0.90 of the exact front's, and more than greedy's", "hypervolume", one_deal=True, first=first,
    )  # fmt: skip


def level(number: int, budget: int) -> Target:
    return Target(
        "mo-tileblast-v0", {"level": number, "objectives": ["goals", "win", "step"]}, QUICK, budget, (), levels,
        "games in which all goals are reached: as many as greedy", "win",
    )  # fmt: skip


TARGETS = {
    "samegame5": board(5, 1_000_000, first=11),  # on deal 10 a color pays nothing, so that its front has no volume
    "samegame6": board(6, 2_000_000),
    "samegame15": Target(
        "mo-samegame-v0", {}, {**QUICK, **LARGE}, 1_000_000, (), front_of_a_deal, "hypervolume: more than greedy's",
        "hypervolume", one_deal=True,
    ),
    "samegame15-any": Target(
        "mo-samegame-v0", {}, {**QUICK, "divisions": 2, "utility": "chebyshev"}, 1_000_000, (), front_of_many,
        "hypervolume on any deal, by one network: more than greedy's", "hypervolume",
        remark="Missed, and still rising when the budget is spent: 13,000 games are few, and weights change too little of what "
        "the network does, where greedy's games are spread over all five colors. With a linear utility 0.23 of greedy's; with "
        "0.3 to 0.4 million steps, weights that favor single objectives, trace=1, fewer games side by side and a network with "
        "channels scaled by the weights did no better than that.",
    ),
    "breakthrough": Target(
        "mo-breakthrough-v0", {"board_width": 6, "board_height": 6}, {"concentration": 0.5, "entropy": 0.02}, 1_000_000,
        ("random", "greedy"), wins, "wins: 0.95 against random, 0.70 against greedy", "win",
    ),
    "robotmail": Target(
        "mo-robotmail-v0", {"objectives": ["delivery", "energy"]},
        {
            "num_envs": 256, "rollout": 64, "epochs": 2, "minibatches": 16, "gamma": 0.95, "entropy": 0.01,
            "concentration": 0.5, "scaling": "running", "divisions": 10,
        },
        3_000_000, ("astar",), deliveries,
        "deliveries: 0.70 of astar's, and several points", "delivery",
    ),
    "tileblast1": level(1, 100_000),
    "tileblast2": level(2, 400_000),
    "tileblast3": level(3, 600_000),
    "duel": Target(
        "mo-pommerman-duel-v0", {"objectives": ["outcome", "wood"]},
        {
            **QUICK, "layers": 2, "learning_rate": 1e-3, "num_envs": 256, "gamma": 0.99, "entropy": 0.01, "concentration": 0.5,
            "self_play": 0.0, "pool": 0, "teacher": "simple", "lessons": 0.08, "greedy": False,
        },
        3_000_000, ("static", "simple"), wins, "wins: more than static, as many as simple", "outcome",
    ),
}  # fmt: skip


def carry_out(target: Target, seed: int, folder: Path) -> dict[str, float]:
    """Train, play the games of the report, and write them to the folder."""
    game = momagames.spec(target.id, **target.params)
    rivals = tuple(rival(name) for name in target.opponents)
    options = Moppo(**{**USUAL, **target.options})
    wanted = Training(game, options, seed, target.budget, sides(game), rivals, seed if target.one_deal else None)
    saved = sessions.train(wanted, folder, evaluations=20, episodes=16)
    network, minutes = saved.network(), sum(saved.head["trainer"]["seconds"].values()) / 60
    reached = target.report(wanted, lambda weights: network.member("reported", weights, options.greedy))
    record = {
        "head": {**wanted.head(), "steps": saved.head["steps"], "version": saved.head["version"]},
        "minutes": minutes, "load": os.getloadavg()[0], "threads": torch.get_num_threads(), "torch": torch.__version__,
        "reached": reached, "curve": curve(folder, target.curve, game),
    }  # fmt: skip
    (folder / REPORT).write_text(json.dumps(record))
    return {"minutes": minutes, **reached}


def curve(folder: Path, shown: str, game: Game) -> list[tuple[int, float]]:
    """Steps, and what is shown there of the evaluations in the log of training."""
    goals = [goal.name for goal in game.objectives]
    points = []
    for line in (folder / sessions.LOG).read_text().splitlines():
        told = json.loads(line)
        found = told["evaluation"]
        best = found[shown] if shown in found else max(p[goals.index(shown)] for p in found["points"].values())
        points.append((told["steps"], best))
    return points


def archive(out: Path) -> None:
    """The reports of all trainings that are finished, in one file; of targets without any, those that it has."""
    known, found = json.loads(ARCHIVE.read_text()), {}
    for name, target in TARGETS.items():
        runs = [json.loads(report.read_text()) for report in sorted(out.glob(f"{name}-[0-9]*/{REPORT}"))]
        if not runs and name in known:
            runs = known[name]["runs"]
        if runs:
            found[name] = {"asked": target.asked, "remark": target.remark, "curve": target.curve, "runs": runs}
    ARCHIVE.write_text(json.dumps(found, separators=(",", ":")) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=sorted(TARGETS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("learning-targets"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--archive", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.archive:
        archive(given.out)
        return
    if given.name is None:
        for name, target in TARGETS.items():
            print(f"{name:16s}{target.id} {target.params}: {target.asked}")
        return
    target = TARGETS[given.name]
    print(
        f"{given.name}: {target.asked}; {target.budget:,} steps, {given.threads} threads, torch {torch.__version__}", flush=True
    )
    for seed in range(target.first, target.first + given.seeds):
        found = carry_out(target, seed, given.out / f"{given.name}-{seed}")
        told = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
        print(f"seed {seed}: {told} (load {os.getloadavg()[0]:.1f})", flush=True)


if __name__ == "__main__":
    main()
