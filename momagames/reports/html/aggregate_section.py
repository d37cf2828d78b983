"""The section of the page on all games together."""

from __future__ import annotations

import html

from momagames.reports.data.aggregate import Aggregate
from momagames.reports.html.column_help import PAIR_MEANINGS
from momagames.reports.html.html_tables import format_cell, render_table
from momagames.reports.text.captions import aggregate_caption
from momagames.reports.text.labels import STATISTIC_LABELS


def aggregate_section(aggregate: Aggregate, figure: int) -> str:
    """Return the section; its figures have the numbers `figure` and `figure + 1`."""
    rows = [[name, *map(format_cell, statistics.values())] for name, statistics in aggregate.statistics.items()]
    names = list(next(iter(aggregate.statistics.values())))
    pairs = [
        [a, b, format_cell(pair.improvement), format_cell(pair.difference.interval), f"{pair.p:.2g}"]
        for (a, b), pair in aggregate.pairs.items()
    ]
    pairs_table = (
        "<h3>Pairwise comparison of methods</h3>"
        f'<div class="pairs">{render_table(["first", "second", *PAIR_MEANINGS], pairs)}</div>'
        if pairs
        else ""
    )
    games = "".join(f"<li>{html.escape(game)}</li>" for game in aggregate.games)
    return f"""
<section id="aggregate">
<h2>All games</h2>
{render_table(["method", *(STATISTIC_LABELS[name] for name in names)], rows)}
<p class="caption">{html.escape(aggregate_caption(aggregate))}.</p>
<div class="figure" id="f{figure}" role="group" aria-label="Interquartile means and optimality gaps of the table above"></div>
<h3>Performance profiles</h3>
<div class="figure" id="f{figure + 1}" role="group" aria-label="Share of the scores above each HV ratio, with bands"></div>
<p class="caption">A method whose profile is nowhere below that of another is stochastically better. The bands are pointwise:
they cover each threshold separately, not the curve as a whole.</p>
{pairs_table}
<details><summary>List of games</summary><ul>{games}</ul></details>
</section>"""
