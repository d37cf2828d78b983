"""MO-Pommerman: joint steps, with the full observations of all agents written at every step."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import momagames
from benchmarks.speed.throughput import Recording, grouped, momaland_loop
from benchmarks.speed.timing import Measure, interleaved

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "Pommerman FFA": ("mo-pommerman-ffa-v0", {}),
    "Pommerman team, fog": ("mo-pommerman-team-v0", {}),
    "Pommerman radio, fog": ("mo-pommerman-radio-v0", {}),
}
# Joint steps a second of the original (package 0.2.0) with all observations, on one Zen 4 core. It is in no package
# registry, so it cannot be run beside ours. What can is momaland, pure Python too, which made YARDSTICK steps a second
# on that core: "the original's figure" is scaled by what momaland makes here in the same minutes.
ORIGINAL = {"Pommerman FFA": 4810, "Pommerman team, fog": 980, "Pommerman radio, fog": 1060}
YARDSTICK_CASE, YARDSTICK = "Breakthrough 8x8", 15_800
REQUIRED_BATCH = {"Pommerman FFA": 100, "Pommerman team, fog": 400}
REQUIRED_PARALLEL = {"Pommerman FFA": 10, "Pommerman team, fog": 10}
GAMES = 40


def parallel_loop(case: str) -> Measure:
    """ns a joint step of the plain Parallel loop over recorded games; the policy's time is not counted."""
    id, params = CASES[case]
    env = momagames.make(id, api="parallel", **params)
    rng = np.random.default_rng(0)
    parts = env.aec_env.game.actions
    games: list[list[dict[str, Any]]] = []
    for seed in range(GAMES):
        env.reset(seed=seed)
        games.append([])
        while env.agents:
            chosen = rng.integers(0, parts, (len(env.agents), len(parts)))
            actions = dict(zip(env.agents, chosen if len(parts) > 1 else chosen[:, 0].tolist(), strict=True))
            games[-1].append(actions)
            env.step(actions)

    def replay() -> float:
        start, steps = time.process_time(), 0
        for seed, actions in enumerate(games):
            env.reset(seed=seed)
            for joint in actions:
                env.step(joint)
            steps += len(actions)
        return (time.process_time() - start) / steps * 1e9

    return replay


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """ns a joint step: {case: {variant: median}}."""
    measures: dict[str, Measure] = {}
    for case, (id, params) in CASES.items():
        recording = Recording(id, params, 1024)
        measures[f"{case}|N=1024"] = recording.through_the_door
        measures[f"{case}|N=1024, engine"] = recording.through_the_engine
        measures[f"{case}|N=1024, rollouts"] = recording.rollouts
        measures[f"{case}|parallel"] = parallel_loop(case)
    yardstick = momaland_loop(YARDSTICK_CASE, 6)
    if yardstick:
        for case in CASES:
            measures[f"{case}|momaland"] = yardstick
    return grouped(interleaved(measures, rounds))


def remark(case: str, variant: str, values: dict[str, float]) -> str:
    """How many times the original's figure that is, as fast as this machine is now."""
    if variant == "momaland":
        return f"{YARDSTICK_CASE}: {1e9 / values[variant] / YARDSTICK:.2f} of the speed of the machine of the figures"
    pace = 1e9 / values["momaland"] / YARDSTICK if "momaland" in values else 1.0
    text = f"{1e9 / values[variant] / (pace * ORIGINAL[case]):,.1f} x the original's figure"
    required = {"N=1024": REQUIRED_BATCH, "parallel": REQUIRED_PARALLEL}.get(variant, {}).get(case)
    return text + (f" (at least {required} x)" if required else "")
