"""Winners of MO-Breakthrough boards: nodes and nodes a second of the solver, beside plain C of the same algorithm.

python benchmarks/fronts/win_loss.py                 # boards up to 5x5
python benchmarks/fronts/win_loss.py 4x6 6x5 --bits 26

Boards are columns x rows. Times are CPU time of one core. Without a C compiler there is no C column.
"""

from __future__ import annotations

import argparse
import ctypes
import tempfile
import time
from pathlib import Path
from typing import Any

import momagames
from benchmarks.speed.c_loop import compiled
from momagames.engine.playouts import generate_starts
from momagames.games.breakthrough.solver.proof_number import Limits, ProofNumberSearch, make_win_goal
from momagames.kernels.rng import random_words

BOARDS = ("3x5", "3x6", "4x5", "3x7", "5x5")
SOURCE = Path(__file__).with_name("win_loss.c")


def measure_solver(width: int, height: int, bits: int) -> tuple[int, int, float]:
    """Return the winner, the number of nodes and the seconds of CPU time of the package's solver."""
    game = momagames.spec("mo-breakthrough-v0", board_width=width, board_height=height, objectives=("win",))
    start = generate_starts(game, random_words(0, 1))
    search = ProofNumberSearch(game, Limits(max_bytes=32 << bits), 1 << bits)
    began = time.process_time()
    winner = 0 if search.can_force(start[0], 0, make_win_goal()) else 1
    return winner, search.nodes, time.process_time() - began


def measure_c(library: Any, width: int, height: int, bits: int) -> tuple[int, int, float]:
    """Return the same of plain C."""
    nodes = ctypes.c_uint64()
    began = time.process_time()
    winner = library.solve(width, height, bits, ctypes.byref(nodes))
    return winner, nodes.value, time.process_time() - began


def format_row(board: str, name: str, found: tuple[int, int, float]) -> str:
    winner, nodes, seconds = found
    return (
        f"{board}  {name:9}  player_{winner} wins  {nodes:13,} nodes  {seconds:9.2f} s  {nodes / seconds / 1e6:6.2f} M nodes/s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boards", nargs="*", default=BOARDS)
    parser.add_argument("--bits", type=int, default=24, help="Logarithm of the slots of the tables (32 and 24 bytes each).")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder, source=SOURCE)
        measure_solver(3, 5, 10)  # loads the compiled code
        for board in given.boards:
            width, height = (int(part) for part in board.split("x"))
            print(format_row(board, "momagames", measure_solver(width, height, given.bits)), flush=True)
            if library is not None:
                print(format_row(board, "C", measure_c(library, width, height, given.bits)), flush=True)


if __name__ == "__main__":
    main()
