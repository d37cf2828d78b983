"""CPU time of a suite before it runs, from samples: short runs of each method in each game."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from momagames.benchmark import evaluate
from momagames.benchmark.head_to_head import choose_player, train_player
from momagames.benchmark.runs import HeadToHeadRun, Run
from momagames.benchmark.store.costs import group_key
from momagames.errors import InvalidParameter, MomagamesError, check_range

FIRST_SHARE, GROWTH = 1 / 1024, 4  # of budget and episodes, in the first sample and from one sample to the next
VISIBLE = 4  # the last sample takes at least this many times as long as the first, so that its growth is not noise


@dataclass(frozen=True)
class Estimate:
    """Estimated CPU time in seconds of the runs of one method in one game.

    runs       the runs, which differ in their seeds
    seconds    CPU time of one run; None if the samples failed
    share      share of a run's budget and episodes that the last sample had; 1: it was a whole run
    error      why the samples failed
    """

    runs: tuple[Run, ...]
    seconds: float | None
    share: float
    error: str = ""

    @property
    def total(self) -> float:
        """CPU seconds of all runs, 0 if unknown."""
        return (self.seconds or 0.0) * len(self.runs)


def estimate_cost(runs: Sequence[Run], seconds: float = 2.0) -> Iterator[Estimate]:
    """Yield the estimated cost of each method in each game, by running samples in this process. Nothing is stored.

    A sample is a run with a share of the budget and of the episodes. Samples grow until one takes `seconds` of CPU time and at
    least four times as long as the first, which separates fixed costs from those that grow: the smallest budgets are all the
    same, one update or generation of a learner. Compilation is not part of the estimate. Of the players of a head-to-head run
    each is part of its own run: a process trains them once for all runs of a game and seed.

    Raises InvalidParameter for invalid seconds
    """
    check_range("seconds", seconds, 0, above=True)
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(group_key(run), []).append(run)
    for group in groups.values():
        yield _estimate_group(tuple(group), seconds)


def count_groups(runs: Sequence[Run]) -> int:
    """Return the number of estimates of `estimate_cost`."""
    return len({group_key(run) for run in runs})


def _estimate_group(runs: tuple[Run, ...], seconds: float) -> Estimate:
    samples: list[tuple[float, float]] = []  # share and CPU seconds
    share, error = FIRST_SHARE, ""
    while True:
        try:
            if not samples:
                measure_sample(runs[0], share)  # compiles
            samples.append((share, measure_sample(runs[0], share)))
        except InvalidParameter as problem:  # less than the method needs, or a method that does not play this game
            error = str(problem)
        except MomagamesError as problem:
            return Estimate(runs, None, share, str(problem))
        if share == 1 or (samples and samples[-1][1] >= max(seconds, VISIBLE * samples[0][1])):
            return Estimate(runs, extrapolate(samples), share) if samples else Estimate(runs, None, share, error)
        share = min(1.0, GROWTH * share)


def measure_sample(run: Run, share: float) -> float:
    """Return the CPU seconds of a run with a share of its budget and episodes."""
    sample = run.take_share(share)
    if isinstance(sample, HeadToHeadRun):
        for choice in sample.players:  # once in a process for all runs of a game and seed, so no part of the cost of this one
            choose_player(sample, choice)
    started = time.process_time()
    if isinstance(sample, HeadToHeadRun):
        train_player(sample)
    for _ in evaluate.evaluate_run(sample, {}):
        pass
    return time.process_time() - started


def extrapolate(samples: Sequence[tuple[float, float]]) -> float:
    """Return the CPU seconds of a whole run: those of the last sample if it was one, else from a line through the last two."""
    last_share, last_seconds = samples[-1]
    if last_share == 1:
        return last_seconds
    share, seconds = samples[-2]
    slope = max(0.0, last_seconds - seconds) / (last_share - share)
    return last_seconds + slope * (1 - last_share)
