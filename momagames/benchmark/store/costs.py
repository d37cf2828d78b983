"""Cost estimates of runs, from finished runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from momagames.benchmark.runs import Run
from momagames.benchmark.store.store import RUN, Store
from momagames.files.reading import refuse_content
from momagames.wording import count

METHODS_WITHOUT_BUDGET = ("exact",)  # methods that ignore the budget


@dataclass(frozen=True)
class Cost:
    """Estimated wall time in seconds and environment steps of one run or several, as far as they are known.

    unknown    number of runs without a known time
    guessed    true if the steps of some run are unknown
    """

    seconds: float
    steps: int
    unknown_runs: int
    has_unknown_steps: bool


class Timings:
    """Medians over the finished runs of results directories, by game, method and options, for each unit of work."""

    def __init__(self, stores: Iterable[Store]) -> None:
        self._found: dict[str, list[tuple[float, float]]] = {}
        for store in stores:
            for run in store.finished_runs():
                data, units = store.read_metadata(run), run.count_units()
                with refuse_content(store.run_directory(run), RUN):
                    times = float(data["wall_s"]) / units, float(data["facts"].get("steps", 0)) / units
                self._found.setdefault(group_key(run), []).append(times)

    def estimate(self, runs: Iterable[Run]) -> Cost:
        """Return the total estimate of these runs."""
        seconds, steps, unknown, guessed = 0.0, 0.0, 0, False
        for run in runs:
            found = self._found.get(group_key(run))
            if found:
                seconds += median(time for time, _ in found) * run.count_units()
                steps += median(count for _, count in found) * run.count_units()
            else:
                unknown += 1
                bounded = run.budget is not None and run.method.name not in METHODS_WITHOUT_BUDGET
                steps += run.count_units() if bounded else 0
                guessed |= not bounded
        return Cost(seconds, round(steps), unknown, guessed)


def group_key(run: Run) -> str:
    """Return what runs of like cost have in common: kind, game, and method with options."""
    return f"{run.kind} {run.canonical} {run.method.key}"


def format_duration(seconds: float) -> str:
    """Format seconds: "0.4 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def describe_cost(cost: Cost, runs: int) -> dict[str, Any]:
    """Return time and steps as text."""
    if cost.unknown_runs == runs:
        time = "unknown"
    else:
        time = f"about {format_duration(cost.seconds)}" + (
            f" and {count(cost.unknown_runs, 'run')} of unknown time" if cost.unknown_runs else ""
        )
    steps = ("at least " if cost.steps else "unknown") if cost.has_unknown_steps else ""
    return {"time": time, "steps": steps + (f"{cost.steps:,}" if cost.steps or not cost.has_unknown_steps else "")}
