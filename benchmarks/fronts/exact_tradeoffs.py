"""Whether teams are trade-offs, from their exact fronts and scripted policies for many weights: nothing is trained.

python benchmarks/fronts/exact_tradeoffs.py                                    # settings of the pages of the documentation
python benchmarks/fronts/exact_tradeoffs.py mo-beach "mo-item-gathering-v0 initial_map=corners"    # those that start so
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np

import momagames
from momagames.analysis.tradeoffs import measure_tradeoffs
from momagames.benchmark.choices import GameChoice
from momagames.benchmark.simple_policies import list_simple_policies
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import play_policies
from momagames.fronts import SearchLimits, returns_front
from momagames.kernels.rng import random_words

EPISODES = 50
LIMITS = SearchLimits(10**8, 8 << 30)
BEACHES = [([35, 15], 5, 3, 2), ([35, 15], 5, 3, 4), ([70, 30], 5, 5, 2), ([70, 30], 5, 5, 4), ([70, 30], 8, 3, 3)]
MAPS = [(name, steps) for name, most in (("corners", 9), ("orchard", 8)) for steps in range(most - 2, most + 1)]
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    *(
        ("mo-item-gathering-v0", {"initial_map": name, "num_timesteps": steps, "control": "central"})
        for name, steps in MAPS
    ),
    *(
        ("mo-beach-v0", {"num_agents": sum(types), "type_counts": types, "sections": sections, "capacity": capacity,
                         "num_timesteps": steps, "reward_mode": "team"})
        for types, sections, capacity, steps in BEACHES
    ),
    ("mo-gem-mining-v0", {"reward_mode": "expected"}),
    ("mo-gem-mining-v0", {"num_agents": 10, "num_objectives": 3, "reward_mode": "expected"}),
]  # fmt: skip


def name_setting(id: str, params: Mapping[str, Any]) -> str:
    return " ".join([id, *(f"{key}={value}" for key, value in params.items())])


def describe(id: str, params: dict[str, Any]) -> str:
    """Return a row of the table; the front is that of seed 0."""
    front, game = returns_front(GameChoice(id=id, params=params), 0, LIMITS).values, momagames.spec(id, **params)
    agents = len(game.agents)
    starts = generate_starts(game, random_words(0, EPISODES))
    words = random_words(1, EPISODES * agents).reshape(EPISODES, agents)
    simple = [
        play_policies(game, starts, [policy], np.zeros(agents, np.int64), words).returns.mean(axis=(0, 1))
        for policy in list_simple_policies(game)
    ]
    found = measure_tradeoffs(front, simple=simple)
    verdict = ", ".join(found.list_failures()) or "a trade-off"
    shares = f"{found.single_share:.2f} | {len(front)} | {found.points} | {found.simple_share:.2f}"
    return f"| {name_setting(id, params)} | {shares} | {verdict} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[""])
    names = parser.parse_args().names
    print("| setting | one policy | points of the front | after rounding | simple | verdict |")
    print("|---|---:|---:|---:|---:|---|")
    for id, params in SETTINGS:
        if name_setting(id, params).startswith(tuple(names)):
            print(describe(id, params), flush=True)


if __name__ == "__main__":
    main()
