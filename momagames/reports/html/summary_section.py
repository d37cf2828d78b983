"""The first screen of the page: a sentence for each family of games, the overview as a figure, and the first front."""

from __future__ import annotations

import html
from collections.abc import Sequence

from momagames.reports.data.families import Family
from momagames.reports.data.panels import Panel
from momagames.reports.data.report_data import ReportData
from momagames.reports.data.verdicts import compare_methods
from momagames.reports.figures.comparisons import draw_overview
from momagames.reports.html.panel_section import POSTER, front_block
from momagames.reports.html.parts import PageParts
from momagames.reports.text.verdicts import describe_verdict

MAX_ROWS = 12  # of the figure; the table of all scores is further down


def summary_section(families: Sequence[Family], data: ReportData, featured: int | None, parts: PageParts) -> str:
    """Return the section."""
    sentences = "".join(_render_verdicts(family, data) for family in families)
    more = f", the first {MAX_ROWS} of {len(data.overview)} settings" if len(data.overview) > MAX_ROWS else ""
    label = f"Hypervolume ratios of all methods{more}; the numbers are in the table of all scores"
    overview = parts.add_figure(draw_overview(data.overview[:MAX_ROWS], data.styles), label)
    return f"""<section id="summary" aria-label="In short">
<ul class="verdicts">{sentences}</ul>
<div class="split"><div>{overview}{POSTER.format(featured)}</div>
{front_block(featured, data, parts, poster=False) if featured is not None else ""}</div>
</section>"""


def _render_verdicts(family: Family, data: ReportData) -> str:
    """Return a sentence for each experiment of a family."""
    experiments: dict[str, list[Panel]] = {}
    for setting in family.settings:
        panel = data.panels[setting.panel]
        experiments.setdefault(panel.experiment, []).append(panel)
    sentences = []
    for name, panels in experiments.items():
        if verdict := compare_methods(panels, data.settings):
            title = f'<a href="#{family.place}">{html.escape(family.title)}</a>, {html.escape(name)}'
            sentences.append(f"<li>{title}: {html.escape(describe_verdict(verdict))}</li>")
    return "".join(sentences)
