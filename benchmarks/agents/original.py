"""An agent of the original Pommerman package against a policy of momagames: wins in each kind of game.

    python benchmarks/agents/original.py --games 1000

The original package must be importable, see docs/agents.md. Each player has two of four agents, or one of two; the seats
rotate, so that each start position is played twice. Ties are not played again. The interval is the 95 % score interval (Wilson)
of the share of decided games that the agent wins: 50 % in it means that the two are level.
"""

from __future__ import annotations

import argparse
import time
from math import sqrt

from momagames.benchmark import match

MODES = ("ffa", "ffa-collapse", "team", "team-full", "team-collapse", "radio", "duel")
AGENT, POLICY = "original:pommerman.agents:SimpleAgent", "simple"
NORMAL_QUANTILE = 1.959964  # of a 95 % interval


def score_interval(wins: int, games: int) -> tuple[float, float]:
    """Return the 95 % score interval of a share."""
    if games == 0:
        return 0.0, 1.0
    share, z = wins / games, NORMAL_QUANTILE
    middle, width = share + z * z / (2 * games), z * sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return (middle - width) / (1 + z * z / games), (middle + width) / (1 + z * z / games)


def play_mode(mode: str, agent: str, policy: str, games: int, seed: int) -> str:
    """Return the row of a kind of game."""
    began = time.process_time()
    result = match(f"mo-pommerman-{mode}-v0", [agent, policy], games, seed, max_reruns=0)
    wins, losses = result.wins.tolist()
    low, high = score_interval(wins, wins + losses)
    share = wins / max(1, wins + losses)
    steps = sum(one.games[0].steps for one in result.bouts) / games
    seconds = time.process_time() - began
    return (
        f"| {mode} | {games:,} | {wins} | {losses} | {result.ties} | {share:.1%} ({low:.1%} to {high:.1%}) "
        f"| {steps:.0f} | {seconds:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modes", nargs="*", default=MODES, help=f"kinds of game: {', '.join(MODES)}")
    parser.add_argument("--games", type=int, default=1000, help="number of games of each kind")
    parser.add_argument("--agent", default=AGENT, help="policy whose wins are counted")
    parser.add_argument("--policy", default=POLICY, help="the other policy")
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    given = parser.parse_args()
    print(f"{given.agent} against {given.policy}, seed {given.seed}\n")
    print("| game | games | wins | losses | ties | wins of decided games | steps of a game | CPU seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for mode in given.modes:
        print(play_mode(mode, given.agent, given.policy, given.games, given.seed), flush=True)


if __name__ == "__main__":
    main()
