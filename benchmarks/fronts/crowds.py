"""Whether teams of MO-Beach are trade-offs, from their exact fronts: settings of docs/settings.md.

python benchmarks/fronts/crowds.py                                     # agents by type, sections, capacity, steps
python benchmarks/fronts/crowds.py 35+15:5:3:2 70+30:8:3:3
"""

from __future__ import annotations

import argparse

import numpy as np

import momagames
from momagames.analysis.tradeoffs import measure_tradeoffs
from momagames.baselines import batch_policy
from momagames.benchmark.choices import GameChoice
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import play_policies
from momagames.fronts import SearchLimits, returns_front
from momagames.kernels.rng import random_words

SETTINGS = ("35+15:5:3:2", "35+15:5:3:4", "70+30:5:5:2", "70+30:5:5:4", "70+30:8:3:3")
POLICIES = ("best_response", "imitate", "overflow")
EPISODES = 50


def describe(setting: str) -> str:
    """Return a row of the table; the front is that of seed 0."""
    counts, *numbers = setting.split(":")
    types = [int(number) for number in counts.split("+")]
    sections, capacity, steps = map(int, numbers)
    params = {
        "num_agents": sum(types), "type_counts": types, "sections": sections, "capacity": capacity, "num_timesteps": steps,
        "reward_mode": "team",
    }  # fmt: skip
    front = returns_front(GameChoice(id="mo-beach-v0", params=params), 0, SearchLimits(10**8, 8 << 30)).values
    game = momagames.spec("mo-beach-v0", **params)
    starts, agents = generate_starts(game, random_words(0, EPISODES)), len(game.agents)
    words = random_words(1, EPISODES * agents).reshape(EPISODES, agents)
    options = [("random", {}), *((name, {"weights": [1 - k / 10, k / 10]}) for name in POLICIES for k in range(11))]
    simple = [
        play_policies(game, starts, [batch_policy(name, game, **given)], np.zeros(agents, np.int64), words).returns.mean(
            axis=(0, 1)
        )
        for name, given in options
    ]
    found = measure_tradeoffs(front, simple=simple)
    verdict = ", ".join(found.list_failures()) or "a trade-off"
    return f"| {setting} | {found.single_share:.2f} | {len(front)} | {found.points} | {found.simple_share:.2f} | {verdict} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", default=SETTINGS)
    print("| setting | one policy | points of the front | after rounding | simple | verdict |")
    print("|---|---:|---:|---:|---:|---|")
    for setting in parser.parse_args().settings:
        print(describe(setting), flush=True)


if __name__ == "__main__":
    main()
