"""The first screen of the page: a sentence for each family of games, the overview as a figure, and the first front."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from momagames.contract.titles import describe_variant
from momagames.reports.data.families import Family
from momagames.reports.data.panels import Panel
from momagames.reports.data.report_data import ReportData
from momagames.reports.data.verdicts import compare_methods
from momagames.reports.figures.plotly_overview import overview_figure
from momagames.reports.html.pickers import render_pickers
from momagames.reports.text.verdicts import describe_verdict

MAX_ROWS = 12  # of the figure; the table of all scores is further down
POSTER = "<!--poster {}-->"  # place of the picture of a panel


def summary_section(families: Sequence[Family], data: ReportData, featured: int | None, figures: list[dict[str, Any]]) -> str:
    """Return the section; its figure is appended to `figures`."""
    sentences = "".join(_render_verdicts(family, data) for family in families)
    rows = data.overview[:MAX_ROWS]
    games = [data.panels[row.panel].game for row in rows]
    titles = [f"{game.title}<br>{describe_variant(game)}" for game in games]
    titles = [title + "\u200b" * titles[:i].count(title) for i, title in enumerate(titles)]  # equal ones are rows of their own
    figures.append(overview_figure(rows, titles, data.styles))
    more = f", the first {MAX_ROWS} of {len(data.overview)} settings" if len(data.overview) > MAX_ROWS else ""
    overview = (
        f'<div class="figure" id="f{len(figures) - 1}" role="group" aria-label="Hypervolume ratios of all methods{more}; '
        'the numbers are in the table of all scores"></div>'
    )
    return f"""<section id="summary" aria-label="In short">
<ul class="verdicts">{sentences}</ul>
<div class="split"><div>{overview}{POSTER.format(featured)}</div>
{front_block(featured, data, figures, poster=False) if featured is not None else ""}</div>
</section>"""


def _render_verdicts(family: Family, data: ReportData) -> str:
    """Return a sentence for each experiment of a family."""
    experiments: dict[str, list[Panel]] = {}
    for setting in family.settings:
        panel = data.panels[setting.panel]
        experiments.setdefault(panel.experiment, []).append(panel)
    parts = []
    for name, panels in experiments.items():
        if verdict := compare_methods(panels, data.settings):
            title = f'<a href="#{family.place}">{html.escape(family.title)}</a>, {html.escape(name)}'
            parts.append(f"<li>{title}: {html.escape(describe_verdict(verdict))}</li>")
    return "".join(parts)


def front_block(number: int, data: ReportData, figures: Sequence[dict[str, Any]], poster: bool = True) -> str:
    """Return the fronts of a panel, figure `number`, and the place of its poster; it can be on the page once."""
    panel = data.panels[number]
    objectives = panel.game.objectives
    title = html.escape(panel.full_heading)
    return f"""<div class="front"><h3>{title}</h3>
{render_pickers(number, figures[number]["views"], objectives if len(objectives) > 2 else ())}
<div class="figure" id="f{number}" role="group" aria-label="Fronts of {title}; the points are listed below"></div>
{POSTER.format(number) if poster else ""}</div>"""
