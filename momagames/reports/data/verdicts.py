"""Who leads, and by how much: one rule for all pages. A method is ahead of another one if the interval of their difference in
runs of equal seeds is above zero; else the two are level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from momagames.analysis.arrays import ROUNDING
from momagames.analysis.statistics import Interval
from momagames.benchmark.suites import Indicators
from momagames.reports.data.overview import compute_ratios, stack_ratios
from momagames.reports.data.panels import Panel

LEVEL = "level"


@dataclass(frozen=True)
class Verdict:
    """The best method over the settings that most methods play, and the next one.

    winner      its name, and its mean hypervolume ratio over runs and settings
    runner_up   the same of the next method; None if there is no other
    settings    number of settings
    won         number of settings in which it is ahead of all others
    lead        mean difference of the two, with its interval; None without a runner-up
    others      methods that play some of the settings only, and are left out
    """

    winner: tuple[str, Interval]
    runner_up: tuple[str, Interval] | None
    settings: int
    won: int
    lead: Interval | None
    others: Sequence[str] = ()

    @property
    def is_clear(self) -> bool:
        """Whether the winner is ahead of the runner-up."""
        return self.lead is not None and is_ahead(self.lead)


def is_ahead(lead: Interval) -> bool:
    """Return whether the interval of a difference is above zero; that of a single run has no width, and shows nothing."""
    return lead.runs > 1 and lead.low > ROUNDING


def compare_methods(panels: Sequence[Panel], settings: Indicators, left_out: Collection[str] = ()) -> Verdict | None:
    """Compare the methods that were run on most of the panels, on the panels that have all of them; None without any.

    left_out    methods that take no part
    """
    names = dict.fromkeys(name for panel in panels for name in panel.points if name not in left_out)
    counts = {name: sum(name in panel.points for panel in panels) for name in names}
    if not counts:
        return None
    methods = [name for name, count in counts.items() if count == max(counts.values())]
    chosen = [panel for panel in panels if all(name in panel.points for name in methods)]
    stacked = stack_ratios(chosen, [[name] * len(chosen) for name in methods]) if chosen else []
    if not stacked or not len(stacked[0]):
        return None
    scores = dict(zip(methods, stacked, strict=True))
    ranked = sorted(methods, key=lambda name: -scores[name].mean())
    best = scores[ranked[0]]
    rest = (ranked[1], settings.bootstrap(scores[ranked[1]])) if len(ranked) > 1 else None
    return Verdict(
        winner=(ranked[0], settings.bootstrap(best)),
        runner_up=rest,
        settings=len(chosen),
        won=sum(find_panel_leaders(panel, settings, left_out) == [ranked[0]] for panel in chosen),
        lead=settings.bootstrap(best - scores[ranked[1]]) if rest else None,
        others=[name for name in counts if name not in methods],
    )


def find_leaders(scores: Mapping[str, Mapping[int, float]], settings: Indicators) -> list[str]:
    """Return the method with the highest mean and those that are level with it, highest first; none without methods.

    A single run shows no lead: methods with one are left out if another one has several.

    scores    method -> seed -> score of the run, higher is better
    """
    if not scores:
        return []
    least = min(2, max(map(len, scores.values())))
    means = {name: float(np.mean(list(values.values()))) for name, values in scores.items() if len(values) >= least}
    first, *rest = sorted(means, key=lambda name: -means[name])

    def is_level(name: str) -> bool:
        lead = compare_runs(scores[first], scores[name], settings)
        return lead is None or not is_ahead(lead)

    return [first, *filter(is_level, rest)]


def compare_runs(first: Mapping[int, float], second: Mapping[int, float], settings: Indicators) -> Interval | None:
    """Return the mean difference of two methods in runs of equal seeds; None if they have no seed in common.

    first, second    seed -> score of the run
    """
    pairs = [first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())]
    return settings.bootstrap(pairs) if pairs else None


def find_panel_leaders(panel: Panel, settings: Indicators, left_out: Collection[str] = ()) -> list[str]:
    """Return the methods that lead a setting by hypervolume ratio, but for some; see `find_leaders`."""
    return find_leaders({name: compute_ratios(panel, name) for name in panel.points if name not in left_out}, settings)


def count_leads(found: Iterable[Sequence[str]]) -> dict[str, int]:
    """Count the settings in which each method is ahead of all others, most first, and those without such a method as LEVEL.

    found    leaders of each setting, of `find_leaders`
    """
    counts = Counter(leaders[0] if len(leaders) == 1 else LEVEL for leaders in found if leaders)
    return dict(sorted(counts.items(), key=lambda item: (item[0] == LEVEL, -item[1])))
