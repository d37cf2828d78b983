"""Anytime performance for plotly.js."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from momagames.analysis.named_indicators import INDICATORS
from momagames.reports.data.anytime_curves import AnytimeCurves
from momagames.reports.figures.theme import GRID, base_layout, style_color, style_dash, with_opacity
from momagames.wording import count


def anytime_figure(curves: AnytimeCurves, styles: Mapping[str, int]) -> dict[str, Any]:
    """Return mean curves by environment steps, with bands for several runs; `styles`: method -> style of the panel."""
    data: list[dict[str, Any]] = []
    label = INDICATORS[curves.indicator].label
    x = curves.budgets.tolist()
    for method, band in curves.bands.items():
        style = styles[method]
        color = style_color(style)
        trace = {"type": "scatter", "mode": "lines", "name": method, "legendgroup": method}
        if curves.runs[method] > 1:
            edges = {"x": [*x, *x[::-1]], "y": [round(v, 6) for v in (*band.high.tolist(), *band.low[::-1].tolist())]}
            filled = {"fill": "toself", "fillcolor": with_opacity(color, 0.15), "line": {"width": 0}}
            data.append({**trace, **edges, **filled, "hoverinfo": "skip", "showlegend": False})
        line = {"width": 2.5, "color": color, "dash": style_dash(style)}
        hover = f"{method}: {label} %{{y:.3f}} at %{{x:,}} steps, mean of {count(curves.runs[method], 'run')}<extra></extra>"
        data.append({**trace, "x": x, "y": [round(v, 6) for v in band.mean.tolist()], "line": line, "hovertemplate": hover})
    layout = {
        **base_layout(380),
        "xaxis": {"type": "log", "dtick": 1, "title": {"text": "environment steps"}, **GRID},
        "yaxis": {"title": {"text": label}, "rangemode": "tozero", **GRID},
    }
    return {"data": data, "layout": layout, "views": []}
