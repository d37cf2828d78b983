"""MO-RoboticMail: agent steps, in batches and through the AEC API."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import momagames
from benchmarks.speed import originals
from benchmarks.speed.throughput import Recording
from benchmarks.speed.timing import Measure, record, replay, scale

CASES: dict[str, dict[str, Any]] = {
    "RoboticMail 4 x 3": {"num_players": 4, "num_robots_per_player": 3, "max_step": 1500},
    "RoboticMail 2 x 1": {"num_players": 2, "num_robots_per_player": 1},
}
ID = "mo-robotmail-v0"
# Agent steps a second of the original (package 0.0.3) in an AEC loop with battery, on one Zen 4 core: the middle of what
# several runs gave. Its licence keeps it out of ours.
ORIGINAL = {"RoboticMail 4 x 3": 14_000, "RoboticMail 2 x 1": 29_500}
REQUIRED = {"RoboticMail 4 x 3": {"N=1024": 150, "AEC": 3}}
GAMES = 6


def aec_loop(params: dict[str, Any], num_games: int) -> Measure:
    """ns an agent step of the plain AEC loop over recorded games of random actions."""
    env = momagames.make(ID, **params)
    games = record(env, range(num_games), np.random.default_rng(0))
    return lambda: replay(env, games, time.process_time)


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns an agent step, and gains over the original's figure: {case: {variant: median}}."""
    out = {}
    for case, params in CASES.items():
        recording = Recording(ID, params, 1024, steps=steps)
        measures: dict[str, Measure] = {
            "N=1024": recording.time_vector_env,
            "N=1024, engine": recording.time_engine,
            "N=1024, rollouts": recording.rollouts,
            "AEC": aec_loop(params, scale(GAMES, steps)),
        }
        out[case] = originals.gains(measures, ORIGINAL[case], rounds)
    return out


def remark(case: str, variant: str, values: dict[str, float]) -> str:
    """What a figure is to be measured by."""
    return originals.remark(variant, values, REQUIRED.get(case, {}))
