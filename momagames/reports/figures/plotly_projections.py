"""Data from which picker.js draws other choices of objectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from momagames.analysis.reference import Reference
from momagames.contract import Objective
from momagames.reports.data.panels import Panel
from momagames.reports.data.points import Points
from momagames.reports.figures.theme import GRID, base_layout


def axis_title(objective: Objective) -> str:
    """Return the name and unit of an objective with an arrow: higher is better, costs are negative."""
    return f"{objective.name} ({objective.unit}) →"


def reference_name(reference: Reference) -> str:
    """Return the name of a reference front in figures."""
    return f"{reference.tag} front"


def projection_data(panel: Panel, view_of: Sequence[str], traces: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the axis titles, and the points of each method and seed; None for fewer than three objectives.

    view_of    the view that each trace belongs to; the first trace of a method in a view defines its style
    """
    objectives = panel.game.objectives
    if len(objectives) < 3:
        return None
    clouds = []
    for seed in sorted(panel.references):
        view, known = f"seed {seed}", panel.references[seed]
        front = Points(known.values, ("",) * len(known.values), np.zeros_like(known.values))
        runs = {name: by_seed[seed] for name, by_seed in panel.points.items() if seed in by_seed}
        for method, points in {reference_name(known): front, **runs}.items():
            order = np.lexsort(points.values.T[::-1])
            clouds.append(
                {
                    "view": view,
                    "styleTrace": next(i for i, v in enumerate(view_of) if v == view and traces[i]["name"] == method),
                    "values": points.values[order].tolist(),
                    "errors": points.errors[order].tolist() if _has_errors(points.errors) else None,
                    "text": [points.labels[i][:70] for i in order],
                    "meta": [points.run],
                    "customdata": [[0, points.front_indices[i]] for i in order if points.front_indices],
                    **_range_ends(known),
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
