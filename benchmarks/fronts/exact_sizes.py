"""Cost of exact fronts of single-agent MO-SameGame by board size: CPU time, positions, memory.

python benchmarks/fronts/exact_sizes.py                    # default sizes
python benchmarks/fronts/exact_sizes.py 8x8x3:2 6x6x5:50   # rows x columns x colors : boards
python benchmarks/fronts/exact_sizes.py --bounded 8x8x3:12 # by branch and bound, as `momagames front make` does
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import momagames
from momagames.baselines.exact import Front, branch_and_bound_front, pareto_front
from momagames.errors import TooLarge

SIZES = ("5x5x3:100", "6x6x3:50", "7x7x3:10", "8x8x3:1")


def measure_size(size: str, solve: Callable[..., Front], max_states: int, max_bytes: int) -> str:
    """Return a row of the table; the boards have seeds 1, 2, ..."""
    shape, _, boards = size.partition(":")
    height, width, colors = (int(part) for part in shape.split("x"))
    game = momagames.spec("mo-samegame-v0", board_height=height, board_width=width, num_colors=colors)
    small = momagames.spec("mo-samegame-v0", board_height=5, board_width=5, num_colors=colors)
    for seed in range(50):  # loads the compiled code, including that of growing tables
        solve(small, seed=seed, max_states=max_states, max_bytes=max_bytes)
    seconds, states, points, density = [], [], [], []
    too_large = 0
    for seed in range(1, int(boards or 1) + 1):
        started = time.process_time()
        try:
            front = solve(game, seed=seed, max_states=max_states, max_bytes=max_bytes)
        except TooLarge:
            too_large += 1
            continue
        seconds.append(time.process_time() - started)
        states.append(front.states)
        points.append(len(front.points))
        density.append(front.bytes / front.states)
    if not seconds:
        return f"| {shape} | 0 of {too_large} | | | | | |"
    largest = int(np.argmax(states))
    return (
        f"| {shape} | {len(seconds)} of {len(seconds) + too_large} | {np.median(seconds):.4f} / {max(seconds):.4f} | "
        f"{np.median(states):,.0f} / {max(states):,} | {np.median(points):.0f} / {max(points)} | "
        f"{sum(states) / sum(seconds) / 1e6:.2f} | {density[largest]:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", default=SIZES)
    parser.add_argument("--bounded", action="store_true")
    parser.add_argument("--max-states", type=int, default=40_000_000)
    parser.add_argument("--max-gigabytes", type=float, default=4.0)
    given = parser.parse_args()
    solve = branch_and_bound_front if given.bounded else pareto_front
    print("| rows x columns x colors | boards | CPU s median / max | positions | points | M positions/s | bytes/position |")
    print("|---|---|---|---|---|---|---|")
    for size in given.sizes:
        print(measure_size(size, solve, given.max_states, int(given.max_gigabytes * 2**30)), flush=True)


if __name__ == "__main__":
    main()
