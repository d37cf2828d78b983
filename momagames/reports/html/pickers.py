"""Lists above a figure from which to choose what it shows; elements of the page, so that keys and screen readers reach them.
What they do is in picker.js."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from momagames.contract import Objective
from momagames.reports.data.panels import Panel
from momagames.reports.data.scores import Reference
from momagames.reports.figures.theme import GRID, base

KINDS_OF_THREE = {"whole": "all, in space", "parallel": "all, side by side", "flat": "two, on a plane"}
KINDS_OF_MORE = {"whole": "all, side by side", "flat": "two, on a plane", "solid": "three, in space"}
LOSS = "A projection to fewer objectives loses dominance: points that nothing dominates lie behind others."


def picker(number: int, views: Sequence[dict[str, Any]], goals: Sequence[Objective] = ()) -> str:
    """The lists of a figure: its views, and with `goals`, three or more, which of them lie on the axes."""
    parts = []
    if views:
        parts.append(_list(number, "figure", "show", [view["label"] for view in views]))
    if goals:
        kinds = KINDS_OF_THREE if len(goals) == 3 else KINDS_OF_MORE
        names = [goal.name for goal in goals]
        parts.append(_list(number, "kind", "objectives", list(kinds.values()), list(kinds)))
        parts += [_list(number, axis, axis, names, chosen=k, hidden=True) for k, axis in enumerate("xyz")]
        parts.append(f'<span class="loss" data-loss="{number}" hidden>{LOSS}</span>')
    return f'<p class="picker">{" ".join(parts)}</p>' if parts else ""


def _list(
    number: int,
    role: str,
    label: str,
    texts: Sequence[str],
    values: Sequence[str] = (),
    chosen: int = 0,
    hidden: bool = False,
) -> str:
    options = "".join(
        f'<option value="{value}"{" selected" if i == chosen else ""}>{html.escape(text)}</option>'
        for i, (text, value) in enumerate(zip(texts, values or range(len(texts)), strict=False))
    )
    return f'<label{" hidden" if hidden else ""}>{label} <select data-{role}="{number}">{options}</select></label>'


def axis_title(goal: Objective) -> str:
    """Name and unit of an objective, and that more is better: costs are paid as negative numbers."""
    return f"{goal.name} ({goal.unit}) →"


def choices(panel: Panel, view_of: Sequence[str], traces: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """What picker.js draws other objectives from: titles of the axes, and for each method and seed the points.

    view_of    the view that each trace belongs to; the first trace of a method in a view lends its look

    None for fewer than three objectives.
    """
    goals = panel.game.objectives
    if len(goals) < 3:
        return None
    clouds = []
    for seed in sorted(panel.references):
        view = f"seed {seed}"
        for method, found in panel.points.items():
            if seed in found:
                points = found[seed]
                order = np.lexsort(points.values.T[::-1])
                like = next(i for i, v in enumerate(view_of) if v == view and traces[i]["name"] == method)
                clouds.append(
                    {
                        "view": view,
                        "like": like,
                        "values": points.values[order].tolist(),
                        "errors": points.errors[order].tolist() if _tell(points.errors) else None,
                        "text": [points.labels[i][:70] for i in order],
                        "meta": [points.run],
                        "customdata": [[0, points.numbers[i]] for i in order if points.numbers],
                        **_ends(panel.references[seed]),
                    }
                )
    return {
        "titles": [axis_title(goal) for goal in goals],
        "names": [goal.name for goal in goals],
        "grid": GRID["gridcolor"],
        "margin": base(0)["margin"],
        "clouds": clouds,
    }


def _tell(errors: Any) -> bool:
    return bool(errors.any() and np.isfinite(errors).all())


def _ends(reference: Reference) -> dict[str, Any]:
    return {"low": reference.low.tolist(), "high": reference.high.tolist()}
