"""Perft: how many sequences of legal actions lead from a position to each depth.

    python -m tests.perft.count      count again by the oracles and write the .json files beside this one

The numbers come from the oracles (tests/games/*/naive.py); the tests count again by the compiled rules.
"""

import copy
import json
from pathlib import Path

from tests.cases import PERFT, cases_of

FOLDER = Path(__file__).parent
ORACLES = {id: cases_of(id).ORACLE for id in PERFT}
POSITIONS = PERFT


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
