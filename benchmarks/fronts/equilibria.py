"""Outcomes of all Pareto-Nash and subgame perfect equilibria of MO-Breakthrough boards.

python benchmarks/fronts/equilibria.py                      # win and captures on 3x5: columns x rows
python benchmarks/fronts/equilibria.py --speed 3x5 3x6 4x5  # win and speed, from the guaranteed fronts of both players
"""

from __future__ import annotations

import argparse
import time

import momagames
from momagames.benchmark.choices import GameChoice
from momagames.engine.playouts import generate_starts
from momagames.fronts import SearchLimits, guaranteed_front
from momagames.games.breakthrough.solver.equilibria import Outcome, find_speed_outcome, solve_equilibria
from momagames.kernels.rng import random_words


def format_outcomes(outcomes: tuple[Outcome, ...]) -> str:
    """Return for each winner the pairs of captures, of player_0 and of player_1."""
    parts = []
    for winner in (0, 1):
        pairs = [f"{first[1]}:{second[1]}" for first, second in outcomes if (first, second)[winner][0] > 0]
        parts.append(f"player_{winner} wins: {' '.join(pairs) or 'none'}")
    return "; ".join(parts)


def describe_speed(board: str, limits: SearchLimits) -> str:
    """Return the only outcome for win and speed."""
    width, height = (int(part) for part in board.split("x"))
    choice = GameChoice(
        id="mo-breakthrough-v0", params={"board_width": width, "board_height": height, "objectives": ["win", "speed"]}
    )
    began = time.process_time()
    solved = [guaranteed_front(choice, 0, agent, limits).values for agent in ("player_0", "player_1")]
    winner, speed = find_speed_outcome(solved)
    seconds = time.process_time() - began
    return f"{board}: player_{winner} wins with speed {speed:.6g} in every equilibrium; {seconds:.1f} s CPU"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boards", nargs="*", default=("3x5",), help="Columns x rows.")
    parser.add_argument("--max-states", type=int, default=100_000_000)
    parser.add_argument("--max-gigabytes", type=float, default=8.0)
    parser.add_argument("--speed", action="store_true", help="The objectives win and speed.")
    given = parser.parse_args()
    if given.speed:
        limits = SearchLimits(given.max_states, int(given.max_gigabytes * 2**30))
        for board in given.boards:
            print(describe_speed(board, limits), flush=True)
        return
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
