"""Pattern tables (`ntuple`) on MO-Breakthrough: speed, wins, depth, time of training, search, captures against losses.

python benchmarks/learning/tables.py                                   # 8x8, a minute and five minutes of training, one seed
python benchmarks/learning/tables.py --seconds 60 300 --seeds 0 1 --uct 1000:200 10000:20
python benchmarks/learning/tables.py --only front --front-seconds 30
python benchmarks/learning/tables.py --only search --games 200         # tree search with the values of the champion
python benchmarks/learning/tables.py --only self-play --seconds 120    # self-play with search, at equal times

Times are CPU seconds of one thread. Opponents play from the start position, in either seat; tables play against tables from
positions after a few random moves, each from both sides.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import momagames
from momagames.baselines import batch_policy
from momagames.baselines.archive import is_nondominated
from momagames.baselines.checkpoint_policy import load_stored_policies
from momagames.baselines.ntuple.method import Ntuple
from momagames.baselines.ntuple.self_play import SelfPlay
from momagames.baselines.ntuple.tables import PatternTables, make_policy, round_tables
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.contract import Game
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import BatchPolicy, CompiledPolicy, play_policies
from momagames.kernels.rng import random_words

ID = "mo-breakthrough-v0"
METHOD = Ntuple()
WIN = np.ones(1)
OPENING = 4  # random moves before a game of tables against tables
SEARCH_SHARE = 0.2  # of the time of training
FRONT = ("win", "captures", "losses")
WIN_ALONE = np.array([1.0, 0.0, 0.0, 0.0])
DEPTHS = (1, 2, 3, 4)  # of look-ahead with the champion
PILOT, SPEED_GAMES = 30, 10  # playouts, and games, that a speed is measured with
SEARCHES: dict[str, dict[str, Any]] = {
    "random playouts": {},
    "champion's values": {"exploration": 0.1, "value": "champion"},
    "champion's values and priors": {"exploration": 0.6, "value": "champion", "prior_temperature": 0.3},
}


def make_openings(game: Game, count: int, seed: int) -> NDArray[np.void]:
    """Return positions after OPENING random moves, record[count], each twice in a row."""
    batch = Batch(game, count // 2, autoreset="disabled")
    batch.load(generate_starts(game, np.arange(count // 2, dtype=np.uint64)))
    words = random_words(seed, count // 2)
    for _ in range(OPENING):
        batch.step(batch.sample_actions(words))
    return batch.states.repeat(2)


def play_match(
    game: Game, first: BatchPolicy, second: BatchPolicy, starts: NDArray[np.void], seed: int
) -> tuple[NDArray[np.float64], float, float]:
    """Play from each start, in alternate seats; an even number of starts.

    Returns the returns of the first policy, float64[N, K], its share of wins, and decisions of both per CPU second.
    """
    count = len(starts)
    seats = np.array([[0, 1], [1, 0]] * (count // 2))
    words = random_words(seed, 2 * count).reshape(count, 2)
    play_policies(game, starts[:2], (first, second), seats[:2], words[:2])  # compiles
    begin = time.process_time()
    played = play_policies(game, starts, (first, second), seats, words)
    seconds = time.process_time() - begin
    returns = played.returns[np.arange(count), seats[:, 0]]
    return returns, float((returns[:, 0] > 0).mean()), played.lengths.sum() / seconds


def train_for(playing: SelfPlay, seconds: float) -> float:
    """Play until so many CPU seconds are used, in pieces of 0.2 million environment steps; return the seconds."""
    begin = time.process_time()
    while (used := time.process_time() - begin) < seconds:
        playing.play(playing.steps + 200_000)
    return used


def start(game: Game, weights: NDArray[np.float64], seed: int) -> SelfPlay:
    """Return a self-play whose loops are compiled."""
    METHOD.start_self_play(game, weights, seed).play(1)
    return METHOD.start_self_play(game, weights, seed)


def make_tables_policy(game: Game, weights: NDArray[np.float64], playing: SelfPlay, depth: int = 1) -> CompiledPolicy:
    """Return the policy of the tables so far."""
    return make_policy(game, METHOD.windows, depth, weights, round_tables(playing.tables))


def measure_wins(game: Game, seconds: Sequence[float], seed: int, games: int, uct: Sequence[tuple[int, int]]) -> None:
    """Print the share of wins after each time of training, and those of depths and times against each other."""
    playing, used, snapshots = start(game, WIN, seed), 0.0, []
    for limit in seconds:
        used += train_for(playing, limit - used)
        policy = make_tables_policy(game, WIN, playing)
        snapshots.append(policy)
        print(
            f"seed {seed}, trained {used:.1f} s: {playing.games:,} games, {playing.moves / used:,.0f} moves/s, "
            f"{playing.steps / used:,.0f} environment steps/s",
            flush=True,
        )
        opponents = [(name, batch_policy(name, game), games) for name in ("random", "greedy")]
        opponents += [(f"uct({n})", batch_policy("uct", game, simulations=n), count) for n, count in uct]
        for name, opponent, count in opponents:
            starts = generate_starts(game, np.zeros(count, np.uint64))
            _, wins, _ = play_match(game, policy, opponent, starts, seed)
            print(f"  against {name}: {wins:.3f} won of {count}", flush=True)
    for policy, limit in zip(snapshots[1:], seconds[1:], strict=True):
        _, wins, _ = play_match(game, policy, snapshots[0], make_openings(game, games, 1), seed)
        print(f"  {limit:g} s against {seconds[0]:g} s: {wins:.3f} won of {games}", flush=True)
    deep = [make_tables_policy(game, WIN, playing, depth) for depth in (1, 2, 3)]
    for depth, policy in enumerate(deep, start=1):
        _, wins, _ = play_match(game, policy, deep[max(0, depth - 2)], make_openings(game, games, 2), seed)
        _, _, alone = play_match(game, policy, policy, make_openings(game, games, 2), seed)
        text = f"{wins:.3f} won of {games} against depth {depth - 1}, " if depth > 1 else ""
        print(f"  depth {depth}: {text}{alone:,.0f} decisions/s", flush=True)


def measure_self_play(game: Game, seconds: float, seed: int, games: int) -> None:
    """Print the wins of tables whose self-play ends or begins with search, against plain self-play for the same time."""
    plain = start(game, WIN, seed)
    train_for(plain, seconds * (1 - SEARCH_SHARE))
    late, always = (replace(METHOD, depth=2).start_self_play(game, WIN, seed) for _ in range(2))
    late.load_state_dict(*plain.state_dict())
    late.search_from, always.search_from = late.steps, 0
    train_for(plain, seconds * SEARCH_SHARE)
    train_for(late, seconds * SEARCH_SHARE)
    train_for(always, seconds)
    opponents = [make_tables_policy(game, WIN, plain, depth) for depth in (1, 2, 3)]
    print(f"seed {seed}, {seconds:g} s each: shares of {games} games won against plain self-play at depth 1, 2, 3", flush=True)
    trained = {"plain": plain, f"search in the last {SEARCH_SHARE:.0%}": late, "search from the start": always}
    for name, playing in trained.items():
        for depth in (1, 2, 3):
            policy = make_tables_policy(game, WIN, playing, depth)
            wins = [play_match(game, policy, one, make_openings(game, games, 4), seed)[1] for one in opponents]
            print(f"  {name}, {playing.games:,} games, at depth {depth}: {np.round(wins, 3)}", flush=True)


def measure_front(game: Game, seconds: float, divisions: int, seed: int, games: int) -> None:
    """Print the mean returns of policies for several weights against random and greedy play and the tables for winning."""
    opponents = {name: batch_policy(name, game) for name in ("random", "greedy")}
    policies = []
    for weights in simplex_lattice(len(game.objectives), divisions):
        playing = start(game, weights, seed)
        train_for(playing, seconds)
        policies.append(make_tables_policy(game, weights, playing))
    opponents[f"tables for {policies[0].label}"] = policies[0]
    for name, opponent in opponents.items():
        print(f"seed {seed}, {seconds:g} s each, against {name}: mean {', '.join(FRONT)}; share of wins", flush=True)
        means = []
        for policy in policies:
            returns, wins, _ = play_match(game, policy, opponent, make_openings(game, games, 3), seed)
            means.append(returns.mean(axis=0))
            print(f"  {policy.label}: {np.round(means[-1], 3)}; {wins:.3f}", flush=True)
        points = np.array(means)[:, 1:]
        points = np.round(points[is_nondominated(points)], 3)
        print(f"  non-dominated captures and losses: {points[np.argsort(points[:, 0])].tolist()}", flush=True)


def measure_search(seed: int, games: int) -> None:
    """Print tree searches with the values of the champion, and without, against the look-ahead of the same tables.

    Searches have as many playouts as take the time of a look-ahead of two moves or more.
    """
    game = momagames.spec(ID)
    stored = load_stored_policies(game, "champion", PatternTables, "value", METHOD.name)
    own, tables = stored.find_nearest(WIN_ALONE)
    deep: list[BatchPolicy] = [make_policy(game, stored.windows, depth, own, tables) for depth in DEPTHS]
    openings = make_openings(game, games, seed)
    columns = [f"won against depth {DEPTHS[0]}", *(f"depth {depth}" for depth in DEPTHS[1:]), "`uct` of equal time"]
    print(f"| policy | microseconds a decision | {' | '.join(columns)} |\n|---|--:{'|--:' * len(columns)}|")
    for depth in DEPTHS[1:]:
        target = measure_speed(game, deep[depth - 1], seed)
        rows = {f"depth {depth}": deep[depth - 1]}
        for name, options in SEARCHES.items():
            pilot = batch_policy("uct", game, weights=WIN_ALONE, simulations=PILOT, **options)
            simulations = max(1, round(PILOT * measure_speed(game, pilot, seed) / target))
            search = batch_policy("uct", game, weights=WIN_ALONE, simulations=simulations, **options)
            rows[f"`uct`, {name}, {simulations:,} playouts"] = search
        plain = list(rows.values())[1]
        for label, policy in rows.items():
            wins = [f"{play_match(game, policy, one, openings, seed)[1]:.0%}" for one in (*deep, plain)]
            print(f"| {label} | {1e6 / measure_speed(game, policy, seed):,.0f} | {' | '.join(wins)} |", flush=True)


def measure_speed(game: Game, policy: BatchPolicy, seed: int) -> float:
    """Return decisions per CPU second, over games of a policy with itself."""
    return play_match(game, policy, policy, make_openings(game, SPEED_GAMES, seed), seed)[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("wins", "self-play", "front", "search"), help="part to run")
    parser.add_argument("--board", type=int, nargs=2, default=[8, 8], help="columns and rows")
    parser.add_argument("--seconds", type=float, nargs="+", default=[60, 300], help="CPU seconds of training, ascending")
    parser.add_argument("--front-seconds", type=float, default=30, help="CPU seconds of training for each weight vector")
    parser.add_argument("--divisions", type=int, default=4, help="of the lattice of weights")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--games", type=int, default=1000, help="games of a match, an even number")
    parser.add_argument("--uct", nargs="*", default=["100:200", "1000:200"], help="simulations:games of opponents")
    words = parser.parse_args()
    board = {"board_width": words.board[0], "board_height": words.board[1]}
    pairs = [text.split(":") for text in words.uct]
    uct = [(int(simulations), int(games)) for simulations, games in pairs]
    for seed in words.seeds:
        if words.only in (None, "search"):
            measure_search(seed, words.games)
        if words.only in (None, "wins"):
            measure_wins(momagames.spec(ID, objectives=("win",), **board), words.seconds, seed, words.games, uct)
        if words.only in (None, "self-play"):
            game = momagames.spec(ID, objectives=("win",), **board)
            measure_self_play(game, words.seconds[-1], seed, words.games)
        if words.only in (None, "front"):
            game = momagames.spec(ID, objectives=FRONT, **board)
            measure_front(game, words.front_seconds, words.divisions, seed, words.games)


if __name__ == "__main__":
    main()
