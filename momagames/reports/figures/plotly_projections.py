"""Data from which picker.js draws other choices of objectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from momagames.contract import Objective
from momagames.reports.data.panels import Panel
from momagames.reports.data.scores import Reference
from momagames.reports.figures.theme import GRID, base_layout


def axis_title(objective: Objective) -> str:
    """Return the name and unit of an objective with an arrow: higher is better, costs are negative."""
    return f"{objective.name} ({objective.unit}) →"


def projection_data(panel: Panel, view_of: Sequence[str], traces: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the axis titles, and the points of each method and seed; None for fewer than three objectives.

    view_of    the view that each trace belongs to; the first trace of a method in a view defines its style
    """
    objectives = panel.game.objectives
    if len(objectives) < 3:
        return None
    clouds = []
    for seed in sorted(panel.references):
        view = f"seed {seed}"
        for method, runs in panel.points.items():
            if seed in runs:
                points = runs[seed]
                order = np.lexsort(points.values.T[::-1])
                style_trace = next(i for i, v in enumerate(view_of) if v == view and traces[i]["name"] == method)
                clouds.append(
                    {
                        "view": view,
                        "styleTrace": style_trace,
                        "values": points.values[order].tolist(),
                        "errors": points.errors[order].tolist() if _has_errors(points.errors) else None,
                        "text": [points.labels[i][:70] for i in order],
                        "meta": [points.run],
                        "customdata": [[0, points.front_indices[i]] for i in order if points.front_indices],
                        **_range_ends(panel.references[seed]),
                    }
                )
    return {
        "titles": [axis_title(objective) for objective in objectives],
        "names": [objective.name for objective in objectives],
        "grid": GRID["gridcolor"],
        "margin": base_layout(0)["margin"],
        "clouds": clouds,
    }


def _has_errors(errors: Any) -> bool:
    return bool(errors.any() and np.isfinite(errors).all())


def _range_ends(reference: Reference) -> dict[str, Any]:
    return {"low": reference.ref.tolist(), "high": reference.ideal.tolist()}
