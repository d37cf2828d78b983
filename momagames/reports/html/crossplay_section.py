"""Cross-play on the page: a heat map, and the same as tables."""

from __future__ import annotations

import html
from typing import Any

from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.figures.theme import GRID, base
from momagames.reports.html.page_tables import interval, table
from momagames.reports.html.pickers import picker
from momagames.reports.text.crossplay_tables import OWN, caption, ranked, rating_caption

BESIDE = 2  # seats beside each other in the heat map


def figure(found: CrossPlay) -> dict[str, Any]:
    """Heat maps for plotly.js, seats beside each other; a list chooses between win rates and volumes."""
    seats, names = found.seats, list(found.tables)
    columns = min(BESIDE, len(seats))
    rows = -(-len(seats) // columns)
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {**base(110 + rows * (90 + 46 * len(found.methods))), "showlegend": False, "shapes": []}
    layout |= {"annotations": [], "margin": {"l": 20, "r": 20, "t": 40, "b": 60}}
    layout["coloraxis"] = {"cmin": 0, "cmax": 1, "colorscale": "Cividis", "colorbar": {"thickness": 14}}
    for number, seat in enumerate(seats):
        key = str(number + 1) if number else ""
        row, column = divmod(number, columns)
        left, width = column / columns, 0.86 / columns if columns > 1 else 1.0
        bottom, height = 1 - (row + 1) / rows, (0.8 if rows > 1 else 1.0) / rows
        across, down = [left, left + width], [bottom, bottom + height]
        look: dict[str, Any] = {"type": "category", "automargin": True, "showgrid": False, **GRID}
        layout[f"xaxis{key}"] = {**look, "domain": across, "anchor": f"y{key}", "title": {"text": "opponent"}}
        layout[f"yaxis{key}"] = {**look, "domain": down, "anchor": f"x{key}", "autorange": "reversed"}
        layout[f"yaxis{key}"]["showticklabels"] = not column  # the seats of a row share them
        layout["annotations"].append(
            {"text": f"as {seat}", "xref": "paper", "yref": "paper", "x": left, "y": down[1], "showarrow": False}
            | {"xanchor": "left", "yanchor": "bottom"}
        )
        layout["shapes"] += [
            _outline(found.methods.index(m), found.opponents.index(o), key) for m, o in sorted(found.same_name)
        ]
        for name in names:
            data.append({**_map(found, name, seat, key), "visible": name == names[0]})
    views = [{"label": name, "visible": [k % len(names) == i for k in range(len(data))]} for i, name in enumerate(names)]
    return {"data": data, "layout": layout, "views": views if len(views) > 1 else []}


def _map(found: CrossPlay, name: str, seat: str, key: str) -> dict[str, Any]:
    cells = [[found.tables[name][seat, m, o] for o in found.opponents] for m in found.methods]
    own = [[f" {OWN}" if (m, o) in found.same_name else "" for o in found.opponents] for m in found.methods]
    return {
        "type": "heatmap",
        "name": name,
        "x": list(found.opponents),
        "y": list(found.methods),
        "xaxis": f"x{key}",
        "yaxis": f"y{key}",
        "z": [[round(at.value, 4) for at in line] for line in cells],
        "text": [[f"{at.value:.2f}{mark}" for at, mark in zip(*pair, strict=True)] for pair in zip(cells, own, strict=True)],
        "customdata": [[f"{at.low:.3f} to {at.high:.3f}, n={at.runs}" for at in line] for line in cells],
        "texttemplate": "%{text}",
        "hovertemplate": f"%{{y}} against %{{x}}, as {seat}: {name} %{{z:.3f}} (%{{customdata}})<extra></extra>",
        "coloraxis": "coloraxis",
        "xgap": 2,
        "ygap": 2,
    }


def _outline(row: int, column: int, key: str) -> dict[str, Any]:
    """The frame of a cell on the diagonal."""
    corners = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", "xref": f"x{key}", "yref": f"y{key}", **corners, "line": {"width": 3, "color": "#222222"}}


def section(found: CrossPlay, number: int, figure_number: int, views: list[dict[str, Any]]) -> str:
    """The section of one game; its heat map has the number `figure_number`."""
    parts = []
    for name, cells in found.tables.items():
        rows = [
            [seat, m, *(interval(cells[seat, m, o]) for o in found.opponents)] for seat in found.seats for m in found.methods
        ]
        shown = table(["seat", "method", *(f"against {o}" for o in found.opponents)], rows)
        parts.append(f"<details><summary>{name}s as a table</summary>{shown}</details>")
    rated = ""
    if found.ratings:
        rows = [[name, interval(at, ".0f")] for name, at in ranked(found)]
        rated = (
            f"<h3>Ratings</h3>{table(['entrant', 'Elo ↑'], rows)}<p class='caption'>{html.escape(rating_caption(found))}</p>"
        )
    return f"""
<section id="x{number}">
<h2>Who against whom: {html.escape(found.title)}</h2>
{picker(figure_number, views)}
<div class="figure" id="f{figure_number}" role="group" aria-label="Heat map of every method against every opponent; the
tables below hold the same numbers">
</div>
<p class="caption">{html.escape(caption(found))}</p>
{"".join(parts)}
{rated}
</section>"""
