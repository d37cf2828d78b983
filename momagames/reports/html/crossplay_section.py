"""The head-to-head section of the page: a heat map, tables and ratings."""

from __future__ import annotations

import html
from typing import Any

from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.html.html_tables import format_cell, render_table
from momagames.reports.html.pickers import render_pickers
from momagames.reports.text.captions import crossplay_caption, ratings_caption, sort_ratings


def crossplay_section(crossplay: CrossPlay, number: int, figure: int, views: list[dict[str, Any]]) -> str:
    """Return the section of one game; its heat map has the number `figure`."""
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
        ratings = f'<h3>Ratings</h3>{table}<p class="caption">{html.escape(ratings_caption(crossplay))}</p>'
    return f"""
<section id="x{number}">
<h2>Head-to-head: {html.escape(crossplay.title)}</h2>
{render_pickers(figure, views)}
<div class="figure" id="f{figure}" role="group" aria-label="Heat map of every method against every opponent, with the numbers
of the tables below"></div>
<p class="caption">{html.escape(crossplay_caption(crossplay))}</p>
{"".join(tables)}
{ratings}
</section>"""
