"""Head-to-head results for plotly.js: heat maps of methods against opponents."""

from __future__ import annotations

from typing import Any

from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.figures.theme import GRID, base_layout
from momagames.reports.text.labels import SAME_NAME_MARK, format_bounds

COLUMNS = 2  # of heat maps


def crossplay_figure(crossplay: CrossPlay) -> dict[str, Any]:
    """Return a heat map for each seat; the views are win rate and normalized hypervolume."""
    seats, names = crossplay.seats, list(crossplay.tables)
    columns = min(COLUMNS, len(seats))
    rows = -(-len(seats) // columns)
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {**base_layout(110 + rows * (90 + 46 * len(crossplay.methods))), "showlegend": False, "shapes": []}
    layout |= {"annotations": [], "margin": {"l": 20, "r": 20, "t": 40, "b": 60}}
    layout["coloraxis"] = {"cmin": 0, "cmax": 1, "colorscale": "Cividis", "colorbar": {"thickness": 14}}
    for number, seat in enumerate(seats):
        key = str(number + 1) if number else ""
        row, column = divmod(number, columns)
        left, width = column / columns, 0.86 / columns if columns > 1 else 1.0
        bottom, height = 1 - (row + 1) / rows, (0.8 if rows > 1 else 1.0) / rows
        across, down = [left, left + width], [bottom, bottom + height]
        axis: dict[str, Any] = {"type": "category", "automargin": True, "showgrid": False, **GRID}
        layout[f"xaxis{key}"] = {**axis, "domain": across, "anchor": f"y{key}", "title": {"text": "opponent"}}
        layout[f"yaxis{key}"] = {**axis, "domain": down, "anchor": f"x{key}", "autorange": "reversed"}
        layout[f"yaxis{key}"]["showticklabels"] = not column  # shared by the heat maps of a row
        layout["annotations"].append(
            {"text": f"as {seat}", "xref": "paper", "yref": "paper", "x": left, "y": down[1], "showarrow": False}
            | {"xanchor": "left", "yanchor": "bottom"}
        )
        layout["shapes"] += [
            _outline(crossplay.methods.index(m), crossplay.opponents.index(o), key) for m, o in sorted(crossplay.same_name)
        ]
        for name in names:
            data.append({**_heat_map(crossplay, name, seat, key), "visible": name == names[0]})
    views = [{"label": name, "visible": [k % len(names) == i for k in range(len(data))]} for i, name in enumerate(names)]
    return {"data": data, "layout": layout, "views": views if len(views) > 1 else []}


def _heat_map(crossplay: CrossPlay, name: str, seat: str, key: str) -> dict[str, Any]:
    cells = [[crossplay.tables[name][seat, m, o] for o in crossplay.opponents] for m in crossplay.methods]
    marks = [
        [f" {SAME_NAME_MARK}" if (m, o) in crossplay.same_name else "" for o in crossplay.opponents] for m in crossplay.methods
    ]
    return {
        "type": "heatmap",
        "name": name,
        "x": list(crossplay.opponents),
        "y": list(crossplay.methods),
        "xaxis": f"x{key}",
        "yaxis": f"y{key}",
        "z": [[round(at.value, 4) for at in line] for line in cells],
        "text": [[f"{at.value:.2f}{mark}" for at, mark in zip(*pair, strict=True)] for pair in zip(cells, marks, strict=True)],
        "customdata": [[f"{format_bounds(at, '.3f')} n={at.runs}".lstrip() for at in line] for line in cells],
        "texttemplate": "%{text}",
        "hovertemplate": f"%{{y}} against %{{x}}, as {seat}: {name} %{{z:.3f}} (%{{customdata}})<extra></extra>",
        "coloraxis": "coloraxis",
        "xgap": 2,
        "ygap": 2,
    }


def _outline(row: int, column: int, key: str) -> dict[str, Any]:
    """Return the frame of a cell whose method and opponent have the same name."""
    corners = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", "xref": f"x{key}", "yref": f"y{key}", **corners, "line": {"width": 3, "color": "#222222"}}
