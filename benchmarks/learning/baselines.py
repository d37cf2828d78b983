"""What learners on unseen instances are measured against: greedy policies with an estimate, lookahead, filtered players.

python benchmarks/learning/baselines.py                          # MO-SameGame, MO-TileBlast, MO-Pommerman, MO-RoboticMail
python benchmarks/learning/baselines.py --episodes 10 samegame

Instances start at seed 2,000,000, which chose nothing: the factors of the estimate "both" were chosen on others.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import momagames
from momagames.analysis.indicators import hypervolume
from momagames.baselines import batch_policy
from momagames.baselines.greedy import Greedy
from momagames.contract import Game
from momagames.engine.playouts import ESTIMATES, generate_starts
from momagames.engine.policies import BatchPolicy, play_policies
from momagames.kernels.rng import random_words

FIRST_INSTANCE = 2_000_000
LEVELS = (2, 3, 4, 6, 8, 10, 12)
FILTERED: tuple[tuple[str, dict[str, int]], ...] = (
    ("random", {}),
    ("simple", {}),
    ("safe:random", {"caution": 1}),
    ("safe:simple", {"caution": 1}),
    ("safe:random", {"caution": 2}),
    ("safe:simple", {"caution": 2}),
)
ROBOTS = ("random", "nearest", "astar", "energy_saver")


def play(game: Game, policies: Sequence[BatchPolicy], episodes: int) -> tuple[NDArray[np.float64], float, int]:
    """Return float64[policies, episodes, K] on the same instances, the CPU seconds and the decisions."""
    count = len(policies)
    starts = generate_starts(game, np.arange(FIRST_INSTANCE, FIRST_INSTANCE + episodes, dtype=np.uint64)).repeat(count)
    seats = np.tile(np.arange(count), episodes)[:, None]
    words = random_words(1, count * episodes)[:, None]
    play_policies(game, starts[:count], policies, seats[:count], words[:count])  # compiles
    begin = time.process_time()
    played = play_policies(game, starts, policies, seats, words)
    seconds = time.process_time() - begin
    return played.returns[:, 0].reshape(episodes, count, -1).swapaxes(0, 1), seconds, int(played.lengths.sum())


def compare_on_samegame(episodes: int) -> None:
    """Print the hypervolume of the mean returns over a lattice of 70 weights, over that of greedy."""
    game = momagames.spec("mo-samegame-v0")
    volumes = {}
    for estimate in ESTIMATES:
        returns, seconds, decisions = play(game, Greedy(4, estimate).policies(game), episodes)
        volumes[estimate] = hypervolume(returns.mean(axis=1), game.reference_point).value
        print(
            f"{game.id}, {episodes} instances, greedy(estimate={estimate}): {volumes[estimate] / volumes['none']:.2f} times "
            f"the hypervolume of greedy, {decisions / seconds:,.0f} decisions/s",
            flush=True,
        )


def compare_on_tileblast(episodes: int) -> None:
    """Print the share of completed episodes in the mean over levels."""
    players = {"random": {}, "greedy": {}, "one_step_lookahead": {}}
    players |= {f"greedy(estimate={one})": {"estimate": one} for one in ESTIMATES[1:]}
    for name, options in players.items():
        shares = []
        for level in LEVELS:
            game = momagames.spec("mo-tileblast-v0", level=level)
            returns, _, _ = play(game, [batch_policy(name.partition("(")[0], game, **options)], episodes)
            shares.append(returns[0, :, [one.name for one in game.objectives].index("win")].mean())
        text = ", ".join(f"{share:.2f}" for share in shares)
        print(f"mo-tileblast-v0, {episodes} episodes a level, {name}: {np.mean(shares):.3f} completed ({text})", flush=True)


def compare_on_pommerman(episodes: int) -> None:
    """Print wins, ties and losses of filtered players against "simple", from every seat in turn."""
    for id in ("mo-pommerman-ffa-v0", "mo-pommerman-duel-v0", "mo-pommerman-team-full-v0"):
        game = momagames.spec(id)
        agents = len(game.agents)
        starts = generate_starts(game, np.arange(FIRST_INSTANCE, FIRST_INSTANCE + episodes, dtype=np.uint64))
        seat = np.arange(episodes) % agents
        teams = np.array(game.teams)
        is_enemy = teams[None] != teams[seat][:, None]
        for name, options in FILTERED:
            policies = [batch_policy(name, game, **options), batch_policy("simple", game)]
            words = random_words(1, episodes * agents).reshape(episodes, agents)
            ends = play_policies(game, starts, policies, is_enemy.astype(np.int64), words).states
            wins = ((ends["winners"] >> seat) & 1).mean()
            ties = (ends["winners"] == 0).mean()
            print(
                f"{id}, {episodes} games, {describe(name, options)}: {100 * wins:.1f} % won, {100 * ties:.1f} % tied, "
                f"{100 * (1 - wins - ties):.1f} % lost to simple",
                flush=True,
            )


def compare_on_robotmail(episodes: int) -> None:
    """Print what filtered robots deliver and use, and how many are without energy off the chargers at the end.

    All robots of a game have the same policy. Games have their full length: no player can win.
    """
    for robots in (2, 4, 12):
        game = momagames.spec(f"mo-robotmail-{robots}-v0", required_mail=1000, objectives=["delivery", "energy"])
        starts = generate_starts(game, np.arange(FIRST_INSTANCE, FIRST_INSTANCE + episodes, dtype=np.uint64))
        words = random_words(1, episodes * robots).reshape(episodes, robots)
        for name in ROBOTS:
            filtered = [(f"safe:{name}", {"caution": caution}) for caution in (1, 2)]
            for label, options in ((name, {}), *filtered):
                played = play_policies(
                    game, starts, [batch_policy(label, game, **options)], np.zeros((episodes, robots), np.int64), words
                )
                mails, energy = played.returns.sum(axis=1).mean(axis=0)
                stranded = count_stranded(played.states, robots) / episodes
                print(
                    f"{game.id}, {episodes} games, {describe(label, options)}: {mails:.2f} mails delivered, "
                    f"{-energy:.1f} units of energy used, {stranded:.3f} of {robots} robots stranded",
                    flush=True,
                )


def count_stranded(states: NDArray[Any], robots: int) -> int:
    """Return the number of robots of MO-RoboticMail without energy off the chargers."""
    is_docked = (states["docked"][:, None] >> np.arange(robots, dtype=np.uint64)) & np.uint64(1)
    return int(((states["battery"][:, :robots] == 0) & (is_docked == 0)).sum())


def describe(name: str, options: Mapping[str, int]) -> str:
    """Return the name of a policy with its options."""
    return f"{name}({', '.join(f'{key}={value}' for key, value in options.items())})" if options else name


PARTS = {
    "samegame": compare_on_samegame,
    "tileblast": compare_on_tileblast,
    "pommerman": compare_on_pommerman,
    "robotmail": compare_on_robotmail,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (all)")
    parser.add_argument("--episodes", type=int, default=100, help="instances, or episodes of a level (100)")
    given = parser.parse_args()
    for part in given.parts or PARTS:
        PARTS[part](given.episodes)


if __name__ == "__main__":
    main()
