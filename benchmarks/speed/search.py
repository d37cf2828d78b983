"""Searches for plans on MO-SameGame 15x15x5: playout moves and expanded boards a second, in CPU time of one core.

The whole of `plan` is timed: playouts, learning, archive, everything; its steps are what it counts against its budget.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import momagames
from benchmarks.speed.timing import Measure, interleaved, scale
from momagames.baselines import method
from momagames.engine.playouts import generate_starts

CASE = "SameGame 15x15x5"
BUDGET = 500_000
SEARCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "random": ("random", {}),
    "local_search": ("local_search", {"divisions": 2, "keep": 1.0, "greed": 0.0, "patience": 3000}),
    "nrpa, 1 level": ("nrpa", {"divisions": 2, "levels": 1, "iterations": 1000, "alpha": 0.5}),
    "nrpa, 2 levels": ("nrpa", {"divisions": 1, "levels": 2, "iterations": 100, "alpha": 1.0}),
    "pareto_nrpa": ("pareto_nrpa", {"num_policies": 16, "levels": 1, "iterations": 10_000, "alpha": 0.5}),
    "beam, estimate none": ("beam", {"width": 256, "estimate": "none"}),
    "beam, estimate present": ("beam", {"width": 256, "estimate": "present"}),
}
REQUIRED = {"nrpa": 300_000, "beam": 500_000}  # steps a second


def plan(name: str, options: dict[str, Any], start: Any, game: Any, budget: int) -> float:
    """ns of CPU time a step."""
    chosen = method(name)(**options)
    before = time.process_time()
    found = chosen.plan(game, start, budget, 0)
    return (time.process_time() - before) / found.steps * 1e9


def measure(rounds: int, steps: int) -> dict[str, dict[str, float]]:
    """ns a step: {case: {search: median}}."""
    game = momagames.spec("mo-samegame-v0")
    start = generate_starts(game, np.array([0], np.uint64))
    budget = scale(BUDGET, steps)
    measures: dict[str, Measure] = {name: partial(plan, *chosen, start, game, budget) for name, chosen in SEARCHES.items()}
    return {CASE: interleaved(measures, rounds)}


def remark(variant: str, value: float) -> str:
    """Steps a second, and what is asked."""
    required = REQUIRED.get(SEARCHES[variant][0])
    return f"{1e9 / value:,.0f} a second" + (f" (at least {required:,})" if required else "")
