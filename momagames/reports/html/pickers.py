"""Select elements above a figure that choose its content; templates/picker.js implements them."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from momagames.contract import Objective

THREE_OBJECTIVES = {"all": "all (3-D)", "parallel": "all (parallel coordinates)", "2d": "two (2-D)"}
MORE_OBJECTIVES = {"all": "all (parallel coordinates)", "2d": "two (2-D)", "3d": "three (3-D)"}
PROJECTION_NOTE = "In a projection to fewer objectives, points that are non-dominated in all objectives may be dominated."


def render_pickers(number: int, views: Sequence[dict[str, Any]], objectives: Sequence[Objective] = ()) -> str:
    """Return the select elements of a figure: its views, and the objectives on its axes if there are three or more."""
    parts = []
    if views:
        parts.append(_select(number, "figure", "show", [view["label"] for view in views]))
    if objectives:
        kinds = THREE_OBJECTIVES if len(objectives) == 3 else MORE_OBJECTIVES
        names = [objective.name for objective in objectives]
        parts.append(_select(number, "kind", "objectives", list(kinds.values()), list(kinds)))
        parts += [_select(number, axis, axis, names, chosen=k, hidden=True) for k, axis in enumerate("xyz")]
        parts.append(f'<span class="note" data-note="{number}" hidden>{PROJECTION_NOTE}</span>')
    return f'<p class="picker">{" ".join(parts)}</p>' if parts else ""


def _select(
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
