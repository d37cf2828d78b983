"""Environments of training libraries: through `momagames.integrations`, and as one makes them without.

Both sides play in one run, with random legal actions that a loop of the library chooses; libraries that are not installed are
left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import momagames
from benchmarks.speed.throughput import grouped
from benchmarks.speed.timing import Measure, interleaved
from momagames.errors import MissingExtra

ID, WEIGHTS = "mo-samegame-v0", [1.0] * 5
SIZES = 8, 64


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns a step: {"library, environments": {"plain route" or "integration": median}}."""
    measures: dict[str, Measure] = {}
    for name, make in CASES.items():
        try:
            measures |= {f"{name}, {case}": one for case, one in make(steps).items()}
        except MissingExtra:
            continue
    return grouped(interleaved(measures, rounds))


def remark(variant: str, values: dict[str, float]) -> str:
    """The steps per second, and the ratio to the plain route."""
    text = f"{1e9 / values[variant]:,.0f} steps/s"
    return text if variant == "plain route" else f"{text}, {values['plain route'] / values[variant]:.1f} x the plain route"


def time_loop(step: Callable[[], object], steps_of_one: int, steps: int) -> Measure:
    """Return a measure of the CPU time of a step, in ns, over calls that do several steps each."""

    def loop() -> float:
        calls = max(1, steps // steps_of_one)
        start = time.process_time()
        for _ in range(calls):
            step()
        return (time.process_time() - start) / (calls * steps_of_one) * 1e9

    return loop


def measure_sb3(steps: int) -> dict[str, Measure]:
    batch_env = import_module("momagames.integrations.sb3").BatchVecEnv
    dummy_env = import_module("stable_baselines3.common.vec_env").DummyVecEnv
    rng, measures = np.random.default_rng(0), {}
    for n in SIZES:
        plain = dummy_env([lambda: momagames.make(ID, api="gymnasium", weights=WEIGHTS)] * n)
        for variant, env in (("plain route", plain), ("integration", batch_env(ID, n, WEIGHTS))):
            env.reset()

            def step(env: Any = env) -> None:
                masks = np.stack(env.env_method("action_masks"))  # as MaskablePPO reads them
                env.step((rng.random(masks.shape) * masks).argmax(axis=1))

            measures[f"{n} environments|{variant}"] = time_loop(step, n, steps // 10)
    return measures


CASES: dict[str, Callable[[int], dict[str, Measure]]] = {"Stable-Baselines3": measure_sb3}
