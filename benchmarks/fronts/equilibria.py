"""Outcomes of all Pareto-Nash and subgame perfect equilibria of MO-Breakthrough boards, for win and captures.

python benchmarks/fronts/equilibria.py        # 3x5: columns x rows
"""

from __future__ import annotations

import argparse
import time

import momagames
from momagames.engine.playouts import generate_starts
from momagames.games.breakthrough.solver.equilibria import Outcome, solve_equilibria
from momagames.kernels.rng import random_words


def format_outcomes(outcomes: tuple[Outcome, ...]) -> str:
    """Return for each winner the pairs of captures, of player_0 and of player_1."""
    parts = []
    for winner in (0, 1):
        pairs = [f"{first[1]}:{second[1]}" for first, second in outcomes if (first, second)[winner][0] > 0]
        parts.append(f"player_{winner} wins: {' '.join(pairs) or 'none'}")
    return "; ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boards", nargs="*", default=("3x5",), help="Columns x rows.")
    parser.add_argument("--max-states", type=int, default=100_000_000)
    parser.add_argument("--max-gigabytes", type=float, default=8.0)
    given = parser.parse_args()
    for board in given.boards:
        width, height = (int(part) for part in board.split("x"))
        game = momagames.spec("mo-breakthrough-v0", board_width=width, board_height=height, objectives=("win", "captures"))
        start, began = generate_starts(game, random_words(0, 1))[0], time.process_time()
        found = solve_equilibria(game, start, max_states=given.max_states, max_bytes=int(given.max_gigabytes * 2**30))
        print(f"{board}: {found.states:,} positions, {time.process_time() - began:.1f} s CPU; captures of player_0:player_1")
        print(f"Pareto-Nash       {format_outcomes(found.pareto_nash)}")
        print(f"subgame perfect   {format_outcomes(found.subgame_perfect)}", flush=True)


if __name__ == "__main__":
    main()
