"""The overview of the page."""

from __future__ import annotations

import html
from collections.abc import Sequence

from momagames.benchmark.plan import Indicators
from momagames.reports.data.overview import OverviewRow, list_methods
from momagames.reports.data.panels import Panel
from momagames.reports.text.captions import overview_caption
from momagames.reports.text.labels import EXACT_MARK, format_bounds


def overview_section(rows: Sequence[OverviewRow], panels: Sequence[Panel], settings: Indicators) -> str:
    """Return a folded table that scrolls sideways below a fixed first column."""
    names = list_methods(rows)
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
    body = "".join(
        f'<tr><th scope="row"><a href="#p{row.panel}">{html.escape(panels[row.panel].full_heading)}</a> '
        f"{EXACT_MARK if row.is_exact else ''}</th>{''.join(_render_cell(row, name) for name in names)}</tr>"
        for row in rows
    )
    return (
        '<section id="overview"><h2>All scores</h2><details><summary>Hypervolume ratios of all methods</summary>'
        '<div class="wide" tabindex="0" role="region" aria-label="All scores">'
        f'<table class="overview"><caption>{html.escape(overview_caption(rows, settings))}</caption>'
        f"<thead><tr><th>game</th>{head}</tr></thead><tbody>{body}</tbody></table></div></details></section>"
    )


def _render_cell(row: OverviewRow, method: str) -> str:
    if method not in row.scores:
        return "<td></td>"
    at = row.scores[method]
    below = f"{format_bounds(at, '.3f')} ".lstrip()
    value = f"{at.value:.3f}"
    marked = f'<strong>{value}<span aria-label="best">*</span></strong>' if method in row.best else value
    return f"<td>{marked}<small>{below}n={at.runs}</small></td>"
