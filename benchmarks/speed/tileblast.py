"""MO-TileBlast: random valid taps, with observation and mask of every environment written at every step."""

from __future__ import annotations

from benchmarks.speed.throughput import Recording, grouped
from benchmarks.speed.timing import Measure, interleaved

REQUIRED = {1: 300_000, 12: 100_000}  # valid taps a second of one core, N=1024
ID = "mo-tileblast-v0"


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns a tap: {level: {variant: median}}."""
    measures: dict[str, Measure] = {}
    for level in REQUIRED:
        recording = Recording(ID, {"level": level}, 1024, steps=steps)
        measures[f"TileBlast level {level}|N=1024"] = recording.time_vector_env
        measures[f"TileBlast level {level}|N=1024, engine"] = recording.time_engine
        measures[f"TileBlast level {level}|N=1024, rollouts"] = recording.rollouts
    return grouped(interleaved(measures, rounds))


def remark(case: str, variant: str) -> str:
    """What is asked for."""
    return f"at least {REQUIRED[int(case.split()[-1])]:,} a second" if variant == "N=1024" else ""
