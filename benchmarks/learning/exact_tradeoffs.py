"""Measure on their exact fronts whether games of one decision maker are trade-offs, with scripted policies for all weights.

python benchmarks/learning/exact_tradeoffs.py             # maps and steps of MO-ItemGathering
python benchmarks/learning/exact_tradeoffs.py corners:8
"""

from __future__ import annotations

import argparse

import numpy as np
from find_tradeoffs import list_simple_policies

import momagames
from momagames.analysis.tradeoffs import measure_tradeoffs
from momagames.benchmark.choices import GameChoice
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import play_policies
from momagames.fronts import SearchLimits, returns_front
from momagames.kernels.rng import random_words

SETTINGS = ("corners:7", "corners:8", "corners:9", "orchard:6", "orchard:7", "orchard:8")
EPISODES = 50


def describe(setting: str) -> str:
    """Return a row of the table."""
    name, steps = setting.split(":")
    params = {"initial_map": name, "num_timesteps": int(steps), "control": "central"}
    front = returns_front(GameChoice(id="mo-item-gathering-v0", params=params), 0, SearchLimits(10**7, 4 << 30)).values
    game = momagames.spec("mo-item-gathering-v0", **params)
    starts, words = generate_starts(game, random_words(0, EPISODES)), random_words(1, EPISODES)[:, None]
    simple = [
        play_policies(game, starts, [one], np.zeros(1, np.int64), words).returns.mean(axis=(0, 1))
        for one in list_simple_policies(game)
    ]
    found = measure_tradeoffs(front, simple=simple)
    verdict = ", ".join(found.list_failures()) or "a trade-off"
    return f"| {setting} | {found.single_share:.2f} | {found.points} | {found.simple_share:.2f} | {verdict} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", default=SETTINGS)
    print("| setting | one policy | points | simple | verdict |")
    print("|---|---:|---:|---:|---|")
    for setting in parser.parse_args().settings:
        print(describe(setting), flush=True)


if __name__ == "__main__":
    main()
