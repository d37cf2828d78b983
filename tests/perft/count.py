"""Perft: how many sequences of legal actions lead from a position to each depth.

    python -m tests.perft.count      count again by the oracles and write the .json files beside this one

The numbers come from the oracles (tests/games/*/naive.py); the tests count again by the compiled rules.
"""

import copy
import json
from pathlib import Path

from tests.games.breakthrough.naive import Breakthrough
from tests.games.samegame.naive import SameGame

FOLDER = Path(__file__).parent
ORACLES = {"mo-samegame-v0": SameGame, "mo-breakthrough-v0": Breakthrough}

# (parameters, board, index of the agent to move, depth)
POSITIONS = {
    "mo-samegame-v0": [
        ({"board_width": 3, "board_height": 3, "num_colors": 2}, ["121", "211", "221"], 0, 9),
        ({"board_width": 4, "board_height": 4, "num_colors": 3}, ["1233", "1122", "3312", "2231"], 0, 9),
        ({"board_width": 7, "board_height": 3, "num_colors": 3, "num_agents": 3}, ["1122331", "2113312", "2212113"], 1, 3),
        ({"board_width": 3, "board_height": 6, "num_colors": 4}, ["1.1", "412", "423", "233", "132", "111"], 0, 5),
        ({"board_width": 6, "board_height": 5, "num_colors": 10}, ["a99...", "a88...", "776655", "776a55", "444a33"], 0, 4),
    ],
    "mo-breakthrough-v0": [
        ({"board_width": 3, "board_height": 5}, ["111", "111", "...", "222", "222"], 0, 5),
        ({"board_width": 8, "board_height": 8}, ["1" * 8] * 2 + ["." * 8] * 4 + ["2" * 8] * 2, 0, 3),
        ({"board_width": 4, "board_height": 6}, ["1...", ".11.", "2.21", "1.2.", "22.2", ".2.."], 1, 4),
        ({"board_width": 9, "board_height": 8}, ["1" * 9] * 2 + ["." * 9] * 4 + ["2" * 9] * 2, 0, 3),  # 72 cells: two words
        ({"board_width": 5, "board_height": 5}, ["1....", "2.1..", "..2.1", ".1..2", "...2."], 0, 7),
    ],
}


def count(game, depth):
    """Sequences of each length from 1 to `depth`; an ended game has no longer ones."""
    counts = [0] * depth
    for action in sorted(game.legal(game.mover)) if depth else ():
        counts[0] += 1
        after = copy.deepcopy(game)
        after.step(action)
        for i, more in enumerate(count(after, depth - 1)):
            counts[1 + i] += more
    return counts


def main():
    for id, oracle in ORACLES.items():
        lines = []
        for params, board, first, depth in POSITIONS[id]:
            counts = count(oracle.given(board, first, **params), depth)
            lines.append(json.dumps({"params": params, "board": board, "first": first, "counts": counts}))
            print(id, counts)
        (FOLDER / f"{id}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
