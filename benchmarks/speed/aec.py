"""The plain PettingZoo AEC loop, ours and momaland's; no policy in the measured part."""

from __future__ import annotations

import time

import numpy as np

import momagames
from benchmarks.speed.peers import CASES, REQUIRED_AEC, momaland_env
from benchmarks.speed.throughput import grouped
from benchmarks.speed.timing import Measure, interleaved, record, replay, scale


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns a step: {case: {"ours" or "momaland": median}}."""
    measures: dict[str, Measure] = {}
    for case in REQUIRED_AEC:
        id, params = CASES[case]
        for name, env, games in (("ours", momagames.make(id, **params), 60), ("momaland", momaland_env(case), 4)):
            if env is not None:
                recorded = record(
                    env, range(scale(games if "SameGame" not in case or name == "ours" else 2, steps)), np.random.default_rng(0)
                )
                measures[f"{case}|{name}"] = lambda e=env, r=recorded: replay(e, r, time.process_time)
    return grouped(interleaved(measures, rounds))
