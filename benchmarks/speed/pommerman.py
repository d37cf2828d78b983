"""MO-Pommerman: joint steps, with the full observations of all agents written at every step."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np

import momagames
from benchmarks.speed.throughput import GAIN, Recording, momaland_loop
from benchmarks.speed.timing import Measure, samples

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
    """ns a joint step, and gains over the original's figure: {case: {variant: median}}.

    A gain is the median over rounds of what that round says: the pace of a shared machine changes from second to second.
    """
    yardstick = momaland_loop(YARDSTICK_CASE, 6)
    out: dict[str, dict[str, float]] = {}
    for case, (id, params) in CASES.items():
        recording = Recording(id, params, 1024)
        measures: dict[str, Measure] = {
            "N=1024": recording.through_the_door,
            "N=1024, engine": recording.through_the_engine,
            "N=1024, rollouts": recording.rollouts,
            "parallel": parallel_loop(case),
        }
        if yardstick:
            measures["momaland"] = yardstick
        found = samples(measures, rounds)
        paces = [1e9 / value / YARDSTICK for value in found.get("momaland", [])] or [1.0] * rounds
        out[case] = {}
        for variant, values in found.items():
            out[case][variant] = median(values)
            if variant != "momaland":
                gains = [1e9 / value / (pace * ORIGINAL[case]) for value, pace in zip(values, paces, strict=True)]
                out[case][f"{variant}, {GAIN}"] = median(gains)
    return out


def remark(case: str, variant: str, values: dict[str, float]) -> str:
    """What a figure is to be measured by."""
    if variant == "momaland":
        return f"{YARDSTICK_CASE}: {1e9 / values[variant] / YARDSTICK:.2f} of the speed of the machine of the figures"
    if not variant.endswith(GAIN):
        return ""
    required = {"N=1024": REQUIRED_BATCH, "parallel": REQUIRED_PARALLEL}.get(variant.split(",")[0], {}).get(case)
    return "over the original's figure" + (f" (at least {required} x)" if required and variant.count(",") == 1 else "")
