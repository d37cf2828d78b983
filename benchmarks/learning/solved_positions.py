"""Won positions of MO-Breakthrough that stay won after the move of a policy.

python benchmarks/learning/solved_positions.py                 # 3x5, 3x6, 4x5 and 5x5
python benchmarks/learning/solved_positions.py 4x5 --games 100 --budget 2e7

Positions are those of games at random and of games of uct(100) with itself, after four random moves, in which some moves win
and others lose. `ntuple` is trained for each board, for winning alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import momagames
from momagames.baselines import batch_policy
from momagames.baselines.ntuple.method import Ntuple
from momagames.baselines.ntuple.tables import PatternTables
from momagames.baselines.trainer import train_to_end
from momagames.benchmark.training import Training
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import BatchPolicy, SeatedPolicies
from momagames.games.breakthrough.solver.proof_number import ProofNumberSearch, make_win_goal
from momagames.kernels.rng import random_words

FIRST_INSTANCE = 2_000_000  # seed, which chose nothing
OPENING = 4  # random moves before a game
BOARDS = ("3x5", "3x6", "4x5", "5x5")
PLAYERS: dict[str, dict[str, int]] = {"random": {}, "uct": {"simulations": 100}}
SEED = 10

Shares = dict[str, float]


def make_openings(game: Game, count: int) -> NDArray[np.void]:
    """Return positions after OPENING random moves, record[count], each twice in a row."""
    batch = Batch(game, count // 2, autoreset="disabled")
    batch.load(generate_starts(game, np.arange(count // 2, dtype=np.uint64)))
    words = random_words(FIRST_INSTANCE, count // 2)
    for _ in range(OPENING):
        batch.step(batch.sample_actions(words))
    return batch.states.repeat(2)


def collect_positions(game: Game, policy: BatchPolicy, games: int) -> NDArray[np.void]:
    """Return the distinct positions, record[N], of games that a policy plays with itself after random openings."""
    batch = Batch(game, games, autoreset="disabled")
    batch.load(make_openings(game, games))
    seated, found = SeatedPolicies(batch, [policy], [0, 0], FIRST_INSTANCE), []
    while not batch.states["over"].all():
        found.append(batch.states[batch.states["over"] == 0])
        batch.step(seated.act())
    states = np.concatenate(found)
    keys = np.column_stack([states["pieces"].reshape(len(states), -1), states["to_move"]])
    return states[np.unique(keys, axis=0, return_index=True)[1]]


def choose_actions(game: Game, policy: BatchPolicy, states: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the action of the policy in each position, int64[N]."""
    batch = Batch(game, len(states), autoreset="disabled")
    batch.load(states)
    return SeatedPolicies(batch, [policy], [0, 0], FIRST_INSTANCE).act()[:, 0, 0]


def measure_wins(
    game: Game, search: ProofNumberSearch, player: BatchPolicy, policies: Mapping[str, BatchPolicy], games: int
) -> tuple[int, Shares]:
    """Return the number of positions, and for each policy the share that stay won after its move.

    The positions are those of games of a player with itself, in which some moves win and others lose.
    """
    states = collect_positions(game, player, games)
    legal, won = search.find_good_moves(states, 0, make_win_goal())
    matters = won.any(axis=1) & (legal & ~won).any(axis=1)
    states, won = states[matters], won[matters]
    rows = np.arange(len(states))
    return len(states), {
        name: float(won[rows, choose_actions(game, policy, states)].mean()) for name, policy in policies.items()
    }


def measure_board(width: int, height: int, games: int, budget: int) -> dict[str, tuple[int, Shares]]:
    """Return for each player the number of positions and the share that stay won after the move of each policy."""
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
        name: measure_wins(game, search, batch_policy(name, game, **options), policies, games)
        for name, options in PLAYERS.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boards", nargs="*", default=BOARDS, help="Columns x rows.")
    parser.add_argument("--games", type=int, default=200, help="Games of each player with itself.")
    parser.add_argument("--budget", type=float, default=2e7, help="Environment steps of training.")
    given = parser.parse_args()
    columns: dict[str, tuple[int, Shares]] = {}
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
