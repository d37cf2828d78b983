"""Search settings that are trade-offs: sets of objectives, opponents and sizes, by training and simple policies.

    python benchmarks/learning/find_tradeoffs.py FILE [NAME ...] [--budget N] [--seed N] [--episodes N]

Each candidate trains one learner for a lattice of weights, plays its policies and all simple ones in episodes that training
did not use, and appends a line of JSON to FILE: points, and what the front shows (`momagames.analysis.tradeoffs`). Candidates
that FILE has are left out, so that an interrupted search goes on. NAME selects candidates whose names start with it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import momagames
from momagames.analysis.arrays import Array
from momagames.analysis.tradeoffs import measure_tradeoffs
from momagames.baselines import batch_policy, method
from momagames.baselines.training_setup import TrainingSetup
from momagames.benchmark.episodes import play_from_starts
from momagames.benchmark.simple_policies import list_simple_policies
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import BatchPolicy

DIVISIONS = {2: 20, 3: 6, 4: 4, 5: 3}  # of the lattice of weights, by number of objectives
HARDENED, SIMPLE = ("safe:simple",), ("simple",)
DUEL, FFA, TEAM = "mo-pommerman-duel-v0", "mo-pommerman-ffa-v0", "mo-pommerman-team-v0"
SHORT: dict[str, Any] = {"max_steps": 200}  # instead of 800
POMMERMAN: list[tuple[str, dict[str, Any], tuple[str, ...], list[str]]] = [
    (DUEL, {}, HARDENED, [
        "outcome movement", "outcome bombs", "outcome items", "outcome explore", "outcome kicks", "outcome survival",
        "kills survival", "kills movement", "kills bombs", "wood movement", "items movement", "wood items", "wood survival",
        "explore movement", "wood items movement", "kicks bombs", "wood bombs",
    ]),
    (DUEL, {}, SIMPLE, [
        "outcome kills", "outcome items", "outcome movement", "outcome items movement", "kills items", "kills movement",
        "items bombs", "items movement",
    ]),
    (DUEL, SHORT, HARDENED, ["kicks bombs"]),
    (FFA, {}, HARDENED, ["outcome movement"]),
    (FFA, SHORT, HARDENED, ["kicks bombs"]),
    (TEAM, SHORT, HARDENED, ["kicks bombs"]),
]  # fmt: skip
ROBOTMAIL = {
    "mo-robotmail-2-v0": [
        "delivery energy", "delivery blocked", "delivery balance", "delivery rivalry", "delivery energy balance",
        "delivery energy blocked", "delivery energy charge", "pickup delivery energy", "delivery rivalry energy",
    ],
    "mo-robotmail-4-v0": [
        "delivery energy", "delivery energy balance", "delivery energy blocked", "delivery rivalry energy",
    ],
}  # fmt: skip
TILEBLAST = {"goals move score": range(2, 13), "goals score": (2, 6, 12)}
BREAKTHROUGH = [
    "win speed captures losses", "win captures", "win losses", "captures losses", "win captures losses", "speed captures",
    "speed captures losses",
]  # fmt: skip

INGENIOUS, CONNECT4 = "mo-ingenious-v0", "mo-connect4-v0"
TILES = [
    {"num_colors": 3, "rack_size": 3, "board_size": 3}, {"num_colors": 3, "rack_size": 3, "board_size": 4},
    {"num_colors": 4, "rack_size": 3, "board_size": 4},
]  # fmt: skip
SMALL, WIDE = {"board_width": 5, "board_height": 4}, {"board_width": 7, "board_height": 6}
COLUMNS: list[tuple[dict[str, Any], str, list[str]]] = [
    (SMALL, "alphabeta", ["win column_0", "speed column_0 column_1", "column_0 column_2 column_4"]),
    (SMALL, "safe:random", ["speed column_0", "speed column_0 column_4"]),
    (WIDE, "safe:random", ["speed column_0 column_4"]),
]


@dataclass(frozen=True)
class Candidate:
    """A setting to try: the policies play the team of the first agent against the opponents, in turn."""

    id: str
    params: dict[str, Any]
    opponents: tuple[str, ...] = ()
    learner: str = "moppo"
    budget: int = 1_000_000

    @property
    def name(self) -> str:
        changed = [f"{name}={value}" for name, value in self.params.items() if name != "objectives"]
        words = [self.id, *changed, "+".join(self.params.get("objectives", ["all"])), "vs", "+".join(self.opponents) or "none"]
        return " ".join(words)


def list_candidates() -> Iterator[Candidate]:
    for id, params, opponents, sets in POMMERMAN:
        for objectives in sets:
            yield Candidate(id, {**params, "objectives": objectives.split()}, opponents)
    for id, sets in ROBOTMAIL.items():
        for objectives in sets:
            yield Candidate(id, {"objectives": objectives.split()}, ("astar",))
    for objectives, levels in TILEBLAST.items():
        for level in levels:  # look-ahead counts as steps
            yield Candidate("mo-tileblast-v0", {"level": level, "objectives": objectives.split()}, (), "grpo", 5_000_000)
    for objectives in BREAKTHROUGH:
        for width in (5, 6):
            size = {"board_width": width, "board_height": width}
            yield Candidate("mo-breakthrough-v0", {**size, "objectives": objectives.split()}, ("greedy",))
    for size in TILES:
        yield Candidate(INGENIOUS, {**size, "reward_mode": "collaborative", "fully_observable": True})
        for name in ("greedy", "min_color"):
            yield Candidate(INGENIOUS, {**size, "fully_observable": True}, (name,))
    for size, name, sets in COLUMNS:
        for objectives in sets:
            yield Candidate(CONNECT4, {**size, "objectives": objectives.split()}, (name,), "grpo")


def try_candidate(candidate: Candidate, budget: int, seed: int, episodes: int) -> dict[str, Any]:
    """Train, play, and return the line of a candidate."""
    game = momagames.spec(candidate.id, **candidate.params)
    learner = method(candidate.learner)
    own = {"divisions": DIVISIONS[len(game.objectives)], "device": "cpu"}
    options = learner.default_options(game)
    options |= {name: value for name, value in own.items() if name in options}
    opponents = [batch_policy(name, game) for name in candidate.opponents]
    started = time.process_time()
    setup = TrainingSetup([game], budget, seed, [0], opponents)
    made = learner(**options)
    made.check_setup(setup)
    policies = made.train(setup).policies
    seconds = time.process_time() - started
    rng = np.random.default_rng([seed, 1])
    starts = generate_starts(game, rng.integers(2**63, size=episodes, dtype=np.uint64))
    words = rng.integers(2**63, size=(episodes, len(game.agents)), dtype=np.uint64)

    def play(players: tuple[BatchPolicy, ...]) -> Array:
        found = [
            play_from_starts(game, players, one, 0, starts, words)
            .returns[:, 0]
            .reshape(len(players), episodes, -1)
            .mean(axis=1)
            for one in opponents or [batch_policy("random", game)]
        ]
        return np.mean(found, axis=0)

    simple = list_simple_policies(game)
    points, baselines = play(policies), play(simple)
    shows = measure_tradeoffs(np.concatenate([points, baselines]), baselines)
    return {
        "name": candidate.name, **asdict(candidate), "budget": budget, "options": options, "seed": seed, "episodes": episodes,
        "cpu_seconds": round(seconds, 1), "lacking": shows.list_failures(), **asdict(shows),
        "returns": points.round(4).tolist(),
        "simple": {one.label: row for one, row in zip(simple, baselines.round(4).tolist(), strict=True)},
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--budget", type=float, help="instead of that of the candidate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=300)
    given = parser.parse_args()
    known = {json.loads(line)["name"] for line in given.file.read_text().splitlines()} if given.file.exists() else set()
    for candidate in list_candidates():
        if candidate.name in known or (given.names and not candidate.name.startswith(tuple(given.names))):
            continue
        line = try_candidate(candidate, int(given.budget or candidate.budget), given.seed, given.episodes)
        with given.file.open("a") as out:
            out.write(json.dumps(line) + "\n")
        print(
            f"{line['name']}: one policy {line['single_share']:.2f}, {line['points']} points, loss {min(line['losses']):.2f}, "
            f"simple {line['simple_share']:.2f}; {', '.join(line['lacking']) or 'a trade-off'} ({line['cpu_seconds']:.0f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
