"""The section of the page on all games together."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from momagames.reports.data.aggregate import Aggregate
from momagames.reports.figures.plotly_aggregate import aggregate_figure, profiles_figure
from momagames.reports.html.column_help import PAIR_MEANINGS
from momagames.reports.html.html_tables import format_cell, render_table
from momagames.reports.text.captions import aggregate_caption
from momagames.reports.text.labels import STATISTIC_LABELS


def aggregate_section(aggregate: Aggregate, styles: Mapping[str, int], figures: list[dict[str, Any]]) -> str:
    """Return the section; its figures are appended to `figures`."""
    figure = len(figures)
    figures += [aggregate_figure(aggregate, styles), profiles_figure(aggregate, styles)]
    rows = [[name, *map(format_cell, statistics.values())] for name, statistics in aggregate.statistics.items()]
    names = list(next(iter(aggregate.statistics.values())))
    pairs = [
        [a, b, format_cell(pair.improvement), format_cell(pair.difference.interval), f"{pair.p:.2g}"]
        for (a, b), pair in aggregate.pairs.items()
    ]
    pairs_table = (
        "<details><summary>Pairwise comparison of methods</summary>"
        f'<div class="pairs">{render_table(["first", "second", *PAIR_MEANINGS], pairs)}</div></details>'
        if pairs
        else ""
    )
    games = "".join(f"<li>{html.escape(game)}</li>" for game in aggregate.games)
    return f"""
<section id="aggregate">
<h2>All games</h2>
<div class="figure" id="f{figure}" role="group" aria-label="Interquartile means and optimality gaps of the table below"></div>
<p class="caption">{html.escape(aggregate_caption(aggregate))}.</p>
<details><summary>Table</summary>{render_table(["method", *(STATISTIC_LABELS[name] for name in names)], rows)}</details>
<details><summary>Performance profiles</summary>
<div class="figure" id="f{figure + 1}" role="group" aria-label="Share of the scores above each HV ratio, with bands"></div>
<p class="caption">A method whose profile is nowhere below that of another is stochastically better. The bands are pointwise:
they cover each threshold separately, not the curve as a whole.</p></details>
{pairs_table}
<details><summary>List of games</summary><ul>{games}</ul></details>
</section>"""
