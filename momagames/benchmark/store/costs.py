"""Cost estimates of runs, from finished runs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
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


class TimeLeft:
    """Seconds until runs have ended, from the wall time of others: of the same game and method, else of the same id and
    method, else of the same method.

    runs       those that are to end
    workers    number of processes that execute them
    """

    def __init__(self, runs: Sequence[Run], workers: int) -> None:
        self._runs = [(run.digest, _list_likeness(run), run.count_units()) for run in runs]
        self._ended: dict[str, float] = {}  # run -> seconds
        self._workers, self._started = workers, time.monotonic()
        self._found: dict[tuple[str, ...], list[float]] = {}  # seconds of a unit of work
        self._is_changed = True

    def learn(self, run: Run, seconds: float) -> None:
        """Take the wall time of a run."""
        for key in _list_likeness(run):
            self._found.setdefault(key, []).append(seconds / run.count_units())
        self._is_changed = True

    def learn_stored(self, store: Store, runs: Iterable[Run]) -> None:
        """Take the wall time of a finished run of each game and method among these."""
        for run in {group_key(run): run for run in runs if store.has_run(run)}.values():
            with refuse_content(store.run_directory(run), RUN):
                self.learn(run, float(store.read_metadata(run)["wall_s"]))

    def end(self, run: Run, seconds: float) -> None:
        """Note that one of the runs has ended after these seconds."""
        self._ended[run.digest] = seconds
        self._is_changed = True

    def describe(self) -> str:
        """Return the time as text: "0:03:20"; with a plus if runs of unknown length come on top."""
        if self._is_changed:
            self._compute_end()
        left = self._end - time.monotonic()
        if left <= 0:
            return "-:--:--"
        return f"{timedelta(seconds=round(left))}{'' if self._is_known else '+'}"

    def _compute_end(self) -> None:
        total, self._is_known, self._is_changed = 0.0, True, False
        for digest, keys, units in self._runs:
            if digest in self._ended:
                total += self._ended[digest]
            elif found := next((self._found[key] for key in keys if key in self._found), None):
                total += median(found) * units
            else:
                self._is_known = False
        self._end = self._started + total / self._workers


def _list_likeness(run: Run) -> tuple[tuple[str, ...], ...]:
    """Return what a run has in common with runs of like cost, the likest first."""
    return (group_key(run),), (run.kind, run.game.id, run.method.name), (run.kind, run.method.name)


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
