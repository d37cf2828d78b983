"""Who wins, and by how much: the method with the highest mean hypervolume ratio over several settings, and the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momagames.analysis.arrays import Array
from momagames.analysis.statistics import Interval, bootstrap
from momagames.benchmark.plan import Indicators
from momagames.reports.data.overview import rank_methods, stack_ratios
from momagames.reports.data.panels import Panel


@dataclass(frozen=True)
class Verdict:
    """The best method over the settings that most methods play, and the next one.

    winner      its name, and its mean hypervolume ratio over runs and settings
    runner_up   the same of the next method; None if there is no other
    settings    number of settings
    won         number of settings in which no method has a higher mean, to three digits
    lead        mean difference of the two, with its interval; None without a runner-up
    """

    winner: tuple[str, Interval]
    runner_up: tuple[str, Interval] | None
    settings: int
    won: int
    lead: Interval | None

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the lead is above zero."""
        return self.lead is not None and self.lead.low > 0


def compare_methods(panels: Sequence[Panel], settings: Indicators) -> Verdict | None:
    """Compare the methods that were run on most of the panels, on the panels that have all of them; None without any.

    Runs of equal seeds are paired.
    """
    counts = {name: sum(name in panel.points for panel in panels) for panel in panels for name in panel.points}
    if not counts:
        return None
    methods = [name for name, count in counts.items() if count == max(counts.values())]
    chosen = [panel for panel in panels if all(name in panel.points for name in methods)]
    stacked = stack_ratios(chosen, [[name] * len(chosen) for name in methods]) if chosen else []
    if not stacked or not len(stacked[0]):
        return None

    def bound(values: Array) -> Interval:
        return bootstrap(values, settings.confidence, settings.resamples)

    scores = dict(zip(methods, stacked, strict=True))
    ranked = sorted(methods, key=lambda name: -scores[name].mean())
    best = scores[ranked[0]]
    tops = np.array([round(max(rank_methods(panel).values()), 3) for panel in chosen])
    rest = (ranked[1], bound(scores[ranked[1]])) if len(ranked) > 1 else None
    return Verdict(
        winner=(ranked[0], bound(best)),
        runner_up=rest,
        settings=len(chosen),
        won=int((np.round(best.mean(axis=0), 3) >= tops).sum()),
        lead=bound(best - scores[ranked[1]]) if rest else None,
    )
