"""Share of won positions of small MO-Breakthrough boards that stay won after the move of a policy.

python benchmarks/learning/solved_positions.py                 # 3x5, 3x6, 4x5 and 5x5
python benchmarks/learning/solved_positions.py 4x5 --games 100 --budget 2e7
python benchmarks/learning/solved_positions.py 5x5 --self-play 40 --seeds 0 1    # self-play with tree search, CPU seconds each

Positions are those of games at random and of games of uct(100) with itself, after four random moves, in which some moves win
and others lose. `ntuple` is trained for each board, for winning alone. With --self-play it is trained without search, with tree
search in the last fifth of the time, and with tree search all the time, for equal times.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import momagames
from benchmarks.learning.evaluations import Results, measure_kept_wins
from benchmarks.learning.tables import WIN, make_tables_policy, train_for
from momagames.baselines import batch_policy
from momagames.baselines.ntuple.method import Ntuple
from momagames.baselines.ntuple.self_play import SelfPlay
from momagames.baselines.ntuple.tables import PatternTables
from momagames.baselines.trainer import train_to_end
from momagames.benchmark.training import Training
from momagames.contract import Game
from momagames.engine.policies import BatchPolicy
from momagames.games.breakthrough.solver.proof_number import ProofNumberSearch

SIMULATIONS, SEARCH_SHARE = 16, 0.2  # of self-play with tree search
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


def train_variants(game: Game, seconds: float, seed: int) -> dict[str, SelfPlay]:
    """Train without and with tree search, for equal times."""
    searching = replace(Ntuple(), search_fraction=1.0, simulations=SIMULATIONS)
    plain, late, always = (method.start_self_play(game, WIN, seed) for method in (Ntuple(), searching, searching))
    for one in (plain, late, always):
        one.search_from = 0 if one is not plain else one.search_from
        one.play(1)  # compiles
    train_for(plain, seconds * (1 - SEARCH_SHARE))
    late.load_state_dict(*plain.state_dict())
    train_for(plain, seconds * SEARCH_SHARE)
    train_for(late, seconds * SEARCH_SHARE)
    train_for(always, seconds)
    return {"plain": plain, f"search in the last {SEARCH_SHARE:.0%}": late, "search from the start": always}


def compare_self_play(width: int, height: int, games: int, seconds: float, seeds: Sequence[int]) -> None:
    """Print the games of each self-play, and the shares that its tables keep."""
    game = momagames.spec("mo-breakthrough-v0", board_width=width, board_height=height, objectives=("win",))
    search = ProofNumberSearch(game)
    for seed in seeds:
        trained = train_variants(game, seconds, seed)
        policies: dict[str, BatchPolicy] = {
            f"{name}, depth {depth}": make_tables_policy(game, WIN, one, depth)
            for name, one in trained.items()
            for depth in (1, 3)
        }
        counts = ", ".join(f"{name} {one.games:,} games" for name, one in trained.items())
        print(f"{width}x{height}, seed {seed}, {seconds:g} s each: {counts}", flush=True)
        for name, options in PLAYERS.items():
            count, shares = measure_kept_wins(game, search, batch_policy(name, game, **options), policies, games)
            print(
                f"  {count:,} positions, {name}: " + ", ".join(f"{one} {share:.3f}" for one, share in shares.items()),
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boards", nargs="*", default=BOARDS, help="Columns x rows.")
    parser.add_argument("--games", type=int, default=200, help="Games of each player with itself.")
    parser.add_argument("--budget", type=float, default=2e7, help="Environment steps of training.")
    parser.add_argument("--self-play", type=float, metavar="SECONDS", help="Compare self-play with tree search instead.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="Seeds of --self-play.")
    given = parser.parse_args()
    columns: dict[str, tuple[int, Results]] = {}
    for board in given.boards:
        width, height = (int(part) for part in board.split("x"))
        if given.self_play:
            compare_self_play(width, height, given.games, given.self_play, given.seeds)
            continue
        found = measure_board(width, height, given.games, int(given.budget))
        columns |= {f"{board} {name}": column for name, column in found.items()}
    if not columns:
        return
    print("| policy | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
    for policy in next(iter(columns.values()))[1]:
        print(f"| {policy} | " + " | ".join(f"{shares[policy]:.3f}" for _, shares in columns.values()) + " |")
    print("| positions | " + " | ".join(f"{count:,}" for count, _ in columns.values()) + " |")


if __name__ == "__main__":
    main()
