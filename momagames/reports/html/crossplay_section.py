"""The head-to-head results of a game on the page: a heat map, tables and ratings."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.html.html_tables import format_cell, render_table
from momagames.reports.html.pickers import render_pickers
from momagames.reports.text.captions import crossplay_caption, ratings_caption, sort_ratings


def crossplay_block(crossplay: CrossPlay, figure: int, figures: Sequence[dict[str, Any]]) -> str:
    """Return the head-to-head results of one game, folded; their heat map is figure `figure`."""
    tables = []
    for name, cells in crossplay.tables.items():
        rows = [
            [seat, method, *(format_cell(cells[seat, method, opponent]) for opponent in crossplay.opponents)]
            for seat in crossplay.seats
            for method in crossplay.methods
        ]
        table = render_table(["seat", "method", *(f"against {opponent}" for opponent in crossplay.opponents)], rows)
        tables.append(f"<details><summary>Table: {name}</summary>{table}</details>")
    ratings = ""
    if crossplay.ratings:
        table = render_table(["player", "Elo ↑"], [[name, format_cell(at, ".0f")] for name, at in sort_ratings(crossplay)])
        ratings = f'<h4>Ratings</h4>{table}<p class="caption">{html.escape(ratings_caption(crossplay))}</p>'
    return f"""
<details id="x{figure}"><summary>Head-to-head: every method against every opponent</summary>
{render_pickers(figure, figures[figure]["views"])}
<div class="figure" id="f{figure}" role="group" aria-label="Heat map of every method against every opponent, with the numbers
of the tables below"></div>
<p class="caption">{html.escape(crossplay_caption(crossplay))}</p>
{"".join(tables)}
{ratings}
</details>"""
