"""Searches with a budget of CPU time.

Methods count environment steps, so that results do not depend on the speed of the machine. For a budget of CPU time the
number of steps is chosen by trials on this machine; the result is that of a search with this number of steps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from momagames.baselines.base import Method, Plans
from momagames.contract import Game

LOW, HIGH = 0.8, 1.25  # CPU time of an accepted trial, as shares of the budget
GROWTH = 16  # at most, of the steps from one trial to the next
MAX_TRIALS = 8
RESOLUTION = 1e-6  # seconds: the least CPU time, so that ratios exist


@dataclass(frozen=True)
class TimedPlans:
    """Result of a search, the budget of environment steps that it was given, and its CPU time in seconds."""

    plans: Plans
    budget: int
    seconds: float


def measure_search(method: Method, game: Game, start: NDArray[Any], budget: int, seed: int) -> TimedPlans:
    """Search with a budget of environment steps, and measure the CPU time. The first search of a process also compiles."""
    began = time.process_time()
    plans = method.plan(game, start, budget, seed)
    return TimedPlans(plans, budget, max(time.process_time() - began, RESOLUTION))


def search_for_seconds(method: Method, game: Game, start: NDArray[Any], first: int, seconds: float, seed: int) -> TimedPlans:
    """Search with a budget of about `seconds` of CPU time.

    first    environment steps of the first search, which compiles and is not measured, and of the first trial

    Trials of other numbers of steps follow until one takes 0.8 to 1.25 of the time, or ends before half of its steps: this
    method has no use for more. Without either, the result is that of the trial whose time is nearest, by its ratio: such as
    that of `first` steps, if these take too long. The trials before it are not part of the budget.
    """
    method.plan(game, start, first, seed)
    trials = [measure_search(method, game, start, first, seed)]
    while len(trials) < MAX_TRIALS:
        last = trials[-1]
        has_ended = last.plans.complete or last.plans.steps < last.budget / 2
        if LOW * seconds <= last.seconds <= HIGH * seconds or (has_ended and last.seconds < seconds):
            return last
        steps = choose_steps(trials, seconds)
        if steps < first or any(one.budget == steps for one in trials):
            break
        trials.append(measure_search(method, game, start, steps, seed))
    return min(trials, key=lambda one: abs(math.log(one.seconds / seconds)))


def choose_steps(trials: Sequence[TimedPlans], seconds: float) -> int:
    """Return the steps of the next trial: interpolated between the nearest shorter and longer one, or in proportion to time."""
    shorter = max((one for one in trials if one.seconds < seconds), key=lambda one: (one.seconds, one.budget), default=None)
    longer = min((one for one in trials if one.seconds >= seconds), key=lambda one: one.seconds, default=None)
    if shorter and longer:
        share = math.log(seconds / shorter.seconds) / math.log(longer.seconds / shorter.seconds)
        growth: float = (longer.budget / shorter.budget) ** share
        return round(shorter.budget * growth)
    only = shorter or longer
    assert only
    return round(only.budget * min(GROWTH, seconds / only.seconds))
