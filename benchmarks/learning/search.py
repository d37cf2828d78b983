"""Searches with a trained policy against searches without one, on single instances at equal CPU time.

python -m benchmarks.learning.search                                  # 10 CPU-seconds on each of 5 instances of MO-SameGame
python -m benchmarks.learning.search --seconds 30 --instances 10 --board 15 15 5
python -m benchmarks.learning.search --methods beam nrpa

The policy is the champion of the package; its training, on other instances, is not part of the CPU time. Each search gets as
many environment steps as it makes in that time, estimated on an instance of its own. Prints the hypervolume of each search
over that of the first one, on each instance and in the mean of the logarithms, and the CPU seconds that were used.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import momagames
from benchmarks.learning.baselines import FIRST_INSTANCE
from momagames.analysis.indicators import hypervolume
from momagames.baselines import method
from momagames.baselines.base import Method
from momagames.baselines.checkpoint_policy import CHAMPION
from momagames.contract import Game
from momagames.engine.playouts import generate_starts

NRPA = {"divisions": 3, "levels": 1, "iterations": 10_000, "alpha": 0.5}
PARETO = {"num_policies": 16, "levels": 1, "iterations": 10_000, "alpha": 0.5}
SEARCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("beam", {"width": 4096, "estimate": "present"}),
    ("beam", {"width": 4096, "estimate": "champion"}),
    ("local_search", {"divisions": 4, "keep": 0.8, "greed": 0.2, "patience": 1000}),
    ("greedy", {"divisions": 4, "estimate": "both"}),
    ("nrpa", NRPA),
    ("pareto_nrpa", PARETO),
    ("nrpa", {**NRPA, "bias": "champion"}),
    ("pareto_nrpa", {**PARETO, "bias": "champion"}),
)
FIRST_STEPS = (
    10_000  # budget of the first estimate, doubled until it takes half of the time: batches of episodes are played whole
)


def measure(chosen: Method, game: Game, start: NDArray[Any], budget: int, seed: int) -> tuple[float, float, int]:
    """Return the hypervolume, the CPU seconds and the environment steps of a search."""
    begin = time.process_time()
    found = chosen.plan(game, start, budget, seed)
    return hypervolume(found.values, game.reference_point).value, time.process_time() - begin, found.steps


def calibrate(chosen: Method, game: Game, start: NDArray[Any], seconds: float) -> int:
    """Return the environment steps that a search makes in that many CPU seconds."""
    chosen.plan(game, start, 1, 0)  # compiles
    budget, used, steps = FIRST_STEPS, 0.0, FIRST_STEPS
    while used < seconds / 2 and steps > budget / 2:  # a search that has seen everything needs no more steps
        budget *= 2
        _, used, steps = measure(chosen, game, start, budget, 0)
    return round(steps * seconds / used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU seconds of a search on an instance (10)")
    parser.add_argument("--instances", type=int, default=5, help="number of instances (5)")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the searches (0)")
    parser.add_argument("--methods", nargs="+", choices=sorted({name for name, _ in SEARCHES}), help="methods (all)")
    parser.add_argument("--board", type=int, nargs=3, default=(15, 15, 5), metavar=("W", "H", "C"), help="(15 15 5)")
    given = parser.parse_args()
    width, height, colors = given.board
    game = momagames.spec("mo-samegame-v0", board_width=width, board_height=height, num_colors=colors)
    starts = generate_starts(game, np.arange(FIRST_INSTANCE, FIRST_INSTANCE + given.instances + 1, dtype=np.uint64))
    first, first_label = None, ""
    for name, options in SEARCHES:
        if given.methods and name not in given.methods:
            continue
        chosen = method(name)(**options)
        budget = calibrate(chosen, game, starts[-1:], given.seconds)
        runs = [measure(chosen, game, starts[i : i + 1], budget, given.seed) for i in range(given.instances)]
        volumes = np.array([volume for volume, _, _ in runs])
        trained = [option for option in ("bias", "estimate") if options.get(option) == CHAMPION]
        label = f"{name}({CHAMPION})" if trained else name
        if first is None:
            first, first_label = volumes, label
        ratios = volumes / first
        print(
            f"{label}: {np.exp(np.log(ratios).mean()):.2f} times the hypervolume of {first_label} "
            f"({', '.join(f'{ratio:.2f}' for ratio in ratios)}), mean hypervolume {volumes.mean():.3g}, "
            f"{np.mean([used for _, used, _ in runs]):.2f} CPU s, {budget:,} steps",
            flush=True,
        )


if __name__ == "__main__":
    main()
