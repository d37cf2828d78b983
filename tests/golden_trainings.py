"""Golden trainings: what a short training of each method gives in a game of each family, compared by its own test.

    python -m tests.golden_trainings [NAME ...]     write these entries of tests/golden/trainings.json again, or all

Stored runs are known by the revisions of their methods (`Method.revision`). A change of a method that gives other policies
raises the revision of that method, and its entries are written again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import llvmlite.binding
import numpy as np

import momagames
from momagames import datasets
from momagames.baselines import batch_policy, method
from momagames.baselines.base import Method, TrainingResult
from momagames.baselines.training_setup import TrainingSetup
from momagames.contract import Game
from momagames.datasets.learners import OfflineMethod
from momagames.errors import InvalidParameter
from tests.baselines.moppo.test_moppo import TINY
from tests.datasets.small import part, recipe

FILE = Path(__file__).parent / "golden" / "trainings.json"
GAMES: dict[str, dict[str, Any]] = {  # id -> parameters; one of each family
    "mo-samegame-v0": {"board_width": 4, "board_height": 4, "num_colors": 2},
    "mo-breakthrough-v0": {"board_width": 3, "board_height": 5, "objectives": ("win", "captures")},
    "mo-pommerman-duel-v0": {"max_steps": 40},
    "mo-tileblast-v0": {"level": 1, "objectives": ("win", "goals")},
    "mo-robotmail-2-v0": {"max_step": 40},
    "mo-gem-mining-v0": {"num_agents": 3},
}
BANDITS = ("bandit_ucb", "bandit_gradient", "bandit_joint")
ONE_STEP = ("mo-gem-mining-v0",)  # games for bandits alone
EVOLUTION = {"population": 4, "episodes": 1, "shared": True}
CLONING = {
    "tier": "random",
    "divisions": 1,
    "epochs": 2,
    "batch_size": 16,
    "channels": 4,
    "hidden": 8,
    "layers": 1,
    "learning_rate": 0.01,
    "greedy": True,
}
OPTIONS: dict[str, tuple[dict[str, Any], int]] = {  # method -> small options, budget
    "cross_entropy": ({"population": 6, "elites": 3, "episodes": 2}, 60_000),
    "beam_estimate": ({"population": 6, "elites": 3, "episodes": 2}, 60_000),
    "grpo": ({"hidden": 4, "groups": 4, "group_size": 4}, 60_000),
    "ntuple": ({"opening": 2}, 200_000),
    **dict.fromkeys(BANDITS, ({"divisions": 1}, 2_000)),
    "moppo": (TINY, 480),
    "nsga2": (EVOLUTION, 60_000),
    "cma": ({**EVOLUTION, "divisions": 1, "sigma": 0.5}, 60_000),
    "behavior_cloning": (CLONING, 60_000),
    "return_conditioned": (CLONING, 60_000),
}
CASE_OPTIONS = {"moppo mo-samegame-v0": {"network": "convolutional"}}  # no other game here trains this network
# Of means and standard deviations on other processors, which round otherwise, in standard deviations: without vector
# instructions the arrays of `moppo` differ by 0.0003, and those of `grpo` by 0.06; other initial values differ by 0.1
TOLERANCE, TOLERANCES = 0.01, {"grpo": 0.08}
LAST_BITS = 1e-9
ROUNDING = 1e-4  # of a single number, which has no deviation: a bias near 0


def make_game(id: str) -> Game:
    return momagames.spec(id, **GAMES[id])


def make_training(name: str, id: str) -> tuple[Method, TrainingSetup]:
    """Return a method and what it is trained on. Raises InvalidParameter where it cannot train; MissingExtra."""
    options, budget = OPTIONS[name]
    options = {**options, **CASE_OPTIONS.get(f"{name} {id}", {})}
    if issubclass(method(name), OfflineMethod):
        options = {**options, "data": make_data().name}
    game = make_game(id)
    setup, made = TrainingSetup([game], budget, 1, [0], [batch_policy("random", game)]), method(name)(**options)
    made.check_installed()
    made.check_setup(setup)
    return made, setup


@cache
def make_data() -> TemporaryDirectory[str]:
    """Make a dataset of random play in every game, in a folder that is removed when the program ends."""
    place = TemporaryDirectory()
    games = {id: params for id, params in GAMES.items() if id not in ONE_STEP}
    parts = [part("random", {"id": id, "params": params}, episodes=10) for id, params in games.items()]
    datasets.make(recipe(*parts), place.name)
    return place


def list_cases() -> list[str]:
    """Return every method and game that it trains in."""
    found = []
    for id in GAMES:
        make_game(id)  # errors of its parameters are no answers
        for name in BANDITS if id in ONE_STEP else OPTIONS:
            try:
                make_training(name, id)
            except InvalidParameter:
                continue
            found.append(f"{name} {id}")
    return found


def record(case: str) -> dict[str, Any]:
    """Train, and return the revision of the method, the hash of what was trained, and its summary."""
    made, setup = make_training(*case.split())
    return {"revision": made.revision, **describe(made.train(setup))}


def describe(result: TrainingResult) -> dict[str, Any]:
    """Return the steps, the hash of all policies, and mean and standard deviation of their arrays by name."""
    digest, every = hashlib.sha256(), {}
    for policy in result.policies:
        digest.update(policy.label.encode())
        for name, array in sorted(policy.arrays.items()):
            digest.update(f"{name}{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
            every.setdefault(name, []).append(array.ravel().astype(np.float64))
    values = {name: np.concatenate(arrays) for name, arrays in every.items()}
    summary = {name: [float(array.mean()), float(array.std())] for name, array in values.items()}
    return {"steps": result.steps, "policies": len(result.policies), "sha256": digest.hexdigest(), "summary": summary}


def is_rounding(stored: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether summaries differ in their last bits alone, as they do between machines whose processors have equal names."""
    if stored.keys() != now.keys():
        return False
    old, new = (np.concatenate([np.ravel(one[name]) for name in stored]) for one in (stored, now))
    return not np.array_equal(old, new) and np.allclose(old, new, rtol=LAST_BITS, atol=LAST_BITS)


def find_difference(case: str, stored: Mapping[str, Any], now: Mapping[str, Any], is_same_processor: bool) -> str:
    """Return what differs and what to do, or an empty string. On other processors, which round otherwise, compare summaries."""
    old, new = stored["revision"], now["revision"]
    again = f"python -m tests.golden_trainings {case.split()[0]}"
    if old != new:
        return f"{case}: recorded with revision {old}, now {new}: {again}"
    if is_same_processor:
        differs = stored["sha256"] != now["sha256"] and not is_rounding(stored["summary"], now["summary"])
        kind = "to the bit, on the processor type of the record"
    else:
        tolerance = TOLERANCES.get(case.split()[0], TOLERANCE)
        differs = any(
            not np.allclose(values, now["summary"].get(name, [np.nan, np.nan]), rtol=0, atol=tolerance * values[1] + ROUNDING)
            for name, values in stored["summary"].items()
        )
        kind = f"with a tolerance of {tolerance} standard deviations, as this processor or its libraries are others"
    if not differs:
        return ""
    return (
        f"{case}: the training gives other policies than recorded with revision {old} (compared {kind}). Stored runs would be "
        f"taken for what this version computes: raise `revision` of the method, then {again}; or mend the change.\n"
        f"  recorded  {stored['summary']}\n  now       {now['summary']}"
    )


def read_records() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def find_processor() -> str:
    """Return the type of the processor, on which and on the libraries the last bits depend."""
    import torch

    return f"{llvmlite.binding.get_host_cpu_name()}, numpy {np.__version__}, torch {torch.__version__.partition('+')[0]}"


def main(names: list[str]) -> None:
    cases = [case for case in list_cases() if not names or case.split()[0] in names]
    known = read_records()["trainings"] if names else {}
    trainings = known | {case: record(case) for case in cases}
    content = {"processor": find_processor(), "trainings": dict(sorted(trainings.items()))}
    FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
