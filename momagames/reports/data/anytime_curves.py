"""Anytime performance of the searches of a panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momagames.analysis.anytime import Band, anytime_budgets, anytime_curve, bootstrap_band
from momagames.analysis.arrays import Array
from momagames.analysis.named_indicators import measure_share
from momagames.benchmark.suites import Indicators
from momagames.reports.data.overview import INDICATOR
from momagames.reports.data.panels import Panel


@dataclass(frozen=True)
class AnytimeCurves:
    """The primary indicator of each method by environment steps.

    budgets    int64[M], environment steps
    runs       number of runs of each method
    """

    indicator: str
    budgets: NDArray[np.int64]
    bands: Mapping[str, Band]
    runs: Mapping[str, int]


def compute_anytime_curves(panel: Panel, settings: Indicators) -> AnytimeCurves | None:
    """Return the curves of a panel of plans; None if no method of the panel has a budget."""
    if not panel.search_history:
        return None
    budgets = anytime_budgets(panel.budget)

    def compute_curve(method: str, seed: int) -> Array:
        history, reference = panel.search_history[method][seed], panel.references[seed]
        return anytime_curve(history.steps, history.values, budgets, lambda values: measure_share(values, reference).value)

    runs = {method: sorted(by_seed) for method, by_seed in panel.search_history.items()}
    bands = {
        method: bootstrap_band([compute_curve(method, seed) for seed in seeds], settings.confidence, settings.resamples)
        for method, seeds in runs.items()
    }
    return AnytimeCurves(INDICATOR, budgets, bands, {method: len(seeds) for method, seeds in runs.items()})
