"""The overview for plotly.js: a row for each setting, a marker with its interval for each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from momagames.reports.data.overview import OverviewRow, list_methods
from momagames.reports.figures.theme import GRID, base_layout, interval_bars, style_marker
from momagames.reports.text.labels import describe_interval
from momagames.wording import count

ROW_HEIGHT, LEGEND_ROW_HEIGHT, LEGEND_WIDTH = 38, 20, 250  # pixels


def overview_figure(rows: Sequence[OverviewRow], titles: Sequence[str], styles: Mapping[str, int]) -> dict[str, Any]:
    """Return the hypervolume ratios of all methods; `titles` are those of the rows."""
    data = []
    for method in list_methods(rows):
        found = [(title, row.scores[method]) for title, row in zip(titles, rows, strict=True) if method in row.scores]
        scores = [at for _, at in found]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": method,
                "x": [at.value for at in scores],
                "y": [title for title, _ in found],
                "error_x": interval_bars(scores, styles[method]),
                "marker": style_marker(styles[method]) | {"size": 11, "opacity": 0.9},
                "text": [f"{describe_interval(at)}, {count(at.runs, 'run')}" for at in scores],
                "hovertemplate": f"%{{y}}<br>{method}: %{{text}}<extra></extra>",
            }
        )
    legend_height = LEGEND_ROW_HEIGHT * len(data)
    rank = {"type": "category", "categoryarray": list(titles), "range": [len(rows) - 0.5, -0.5]}
    legend = {"x": 0, "y": 0, "xref": "container", "yref": "container", "yanchor": "bottom", "itemsizing": "constant"}
    layout = {
        **base_layout(85 + ROW_HEIGHT * len(rows) + legend_height),
        "xaxis": {"title": {"text": "hypervolume ratio →", "standoff": 5}, "rangemode": "tozero", **GRID},
        "yaxis": {**rank, "automargin": True, **GRID},
        "legend": {**legend, "orientation": "h", "entrywidth": LEGEND_WIDTH, "font": {"size": 12}},
        "margin": {"l": 10, "r": 20, "t": 30, "b": 55 + legend_height},
    }
    return {"data": data, "layout": layout, "views": []}
