"""Share of won positions of small MO-Breakthrough boards that stay won after the move of a policy.

python benchmarks/learning/solved_positions.py                 # 3x5, 3x6, 4x5 and 5x5
python benchmarks/learning/solved_positions.py 4x5 --games 100 --budget 2e7

Positions are those of games at random and of games of uct(100) with itself, after four random moves, in which some moves win
and others lose. `ntuple` is trained for each board, for winning alone.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import momagames
from benchmarks.learning.evaluations import Results, measure_kept_wins
from momagames.baselines import batch_policy
from momagames.baselines.ntuple.method import Ntuple
from momagames.baselines.ntuple.tables import PatternTables
from momagames.baselines.trainer import train_to_end
from momagames.benchmark.training import Training
from momagames.engine.policies import BatchPolicy
from momagames.games.breakthrough.solver.proof_number import ProofNumberSearch

BOARDS = ("3x5", "3x6", "4x5", "5x5")
PLAYERS: dict[str, dict[str, int]] = {"random": {}, "uct": {"simulations": 100}}
SEED = 10


def measure_board(width: int, height: int, games: int, budget: int) -> dict[str, tuple[int, Results]]:
    """Return for each player the number of positions and the share that each policy keeps."""
    game = momagames.spec("mo-breakthrough-v0", board_width=width, board_height=height, objectives=("win",))
    policies: dict[str, BatchPolicy] = {name: batch_policy(name, game) for name in ("random", "greedy")}
    for name in ("uct", "pareto_uct"):
        policies |= {f"{name}({n})": batch_policy(name, game, simulations=n) for n in (100, 1000)}
    training = Training(game, Ntuple(), SEED, budget, game.agents, (), None, (1.0,))
    trainer = training.options.make_trainer(training.make_setup())
    train_to_end(trainer)
    trained = trainer.make_policies()
    assert isinstance(trained, PatternTables)
    for depth in (1, 3):
        (policies[f"ntuple, depth {depth}"],) = training.select_policies(replace(trained, depth=depth))
    policies["solved"] = batch_policy("solved", game)
    search = ProofNumberSearch(game)
    return {
        name: measure_kept_wins(game, search, batch_policy(name, game, **options), policies, games)
        for name, options in PLAYERS.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boards", nargs="*", default=BOARDS, help="Columns x rows.")
    parser.add_argument("--games", type=int, default=200, help="Games of each player with itself.")
    parser.add_argument("--budget", type=float, default=2e7, help="Environment steps of training.")
    given = parser.parse_args()
    columns: dict[str, tuple[int, Results]] = {}
    for board in given.boards:
        width, height = (int(part) for part in board.split("x"))
        found = measure_board(width, height, given.games, int(given.budget))
        columns |= {f"{board} {name}": column for name, column in found.items()}
    print("| policy | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
    for policy in next(iter(columns.values()))[1]:
        print(f"| {policy} | " + " | ".join(f"{shares[policy]:.3f}" for _, shares in columns.values()) + " |")
    print("| positions | " + " | ".join(f"{count:,}" for count, _ in columns.values()) + " |")


if __name__ == "__main__":
    main()
