"""Theme of the figures: colors, symbols and axes, and the colors of the dark color scheme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from momagames.analysis.statistics import Interval

# the color-blind safe palette of Okabe and Ito; methods also differ by symbol and dash
COLORS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9")
SYMBOLS = ("circle-open", "square-open", "diamond", "cross", "x", "circle", "square")
SIZES = (15, 12, 9, 7, 7, 6, 6)  # later methods are drawn on top and must not hide earlier ones
DASHES = ("solid", "dash", "dot", "dashdot")
FONT = {"family": "system-ui, sans-serif", "size": 13, "color": "#222222"}
GRID = {"gridcolor": "#e2e2e2", "zerolinecolor": "#bbbbbb", "linecolor": "#888888"}

# light color -> dark color, for lines, text and backgrounds; bands are transparent and use rgba
DARK = {
    "#ffffff": "#17191c",
    "#222222": "#e4e4e4",
    "#e2e2e2": "#3a3e44",
    "#bbbbbb": "#5c6168",
    "#999999": "#70757d",
    "#0072B2": "#3d9fe0",
    "#D55E00": "#f07a1f",
    "#009E73": "#1fbf91",
    "#000000": "#f4f4f4",
    "rgba(0,0,0,": "rgba(244,244,244,",
}


def base_layout(height: int) -> dict[str, Any]:
    """Return the part of the layout that all figures share."""
    return {
        "font": FONT,
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "height": height,
        "margin": {"l": 70, "r": 40, "t": 80, "b": 60},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "itemsizing": "constant"},
        "modebar": {"bgcolor": "#ffffff", "color": "#999999", "activecolor": "#222222"},
        "hoverlabel": {"align": "left"},
        "showlegend": True,
    }


def style_color(style: int) -> str:
    """Return the color of a method by its number."""
    return COLORS[style % len(COLORS)]


def style_symbol(style: int) -> str:
    """Return the symbol of a method by its number; when colors repeat, the symbols differ."""
    return SYMBOLS[(style + style // len(COLORS)) % len(SYMBOLS)]


def style_dash(style: int) -> str:
    """Return the dash of the lines of a method by its number; when colors repeat, the dashes differ."""
    return DASHES[(style + style // len(COLORS)) % len(DASHES)]


def style_marker(style: int, scale: float = 1.0) -> dict[str, Any]:
    """Return the marker of a method by its number."""
    size = SIZES[style % len(SIZES)] * scale
    return {
        "color": style_color(style),
        "symbol": style_symbol(style),
        "size": size,
        "line": {"width": 2, "color": style_color(style)},
    }


def interval_bars(intervals: Sequence[Interval], style: int) -> dict[str, Any]:
    """Return the intervals of a method as bars."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [at.high - at.value for at in intervals],
        "arrayminus": [at.value - at.low for at in intervals],
        "color": style_color(style),
    }


def with_opacity(color: str, opacity: float) -> str:
    """Return a hexadecimal color with an opacity."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
