"""Theme of the figures: colors, symbols and axes, and the colors of the dark color scheme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from momagames.analysis.statistics import Interval
from momagames.reports.data.method_styles import COLOR_ROWS, COLUMNS

# Colors that differ with normal and with red- or green-blind vision (tests/reports/test_method_styles.py), first those that
# differ most: the palette of Okabe and Ito without yellow, and five others. The rest are the farthest from all before them in
# CIELAB. Light color -> color on a dark ground
METHOD_COLORS = {
    "#0072B2": "#2b82d9",
    "#D55E00": "#c86e07",
    "#009E73": "#27c767",
    "#000000": "#a3fbff",
    "#CC79A7": "#a97fb0",
    "#E69F00": "#ddca14",
    "#56B4E9": "#41d1ff",
    "#ff8fa3": "#ffddbd",
    "#7a3b00": "#9c5027",
    "#5e00c8": "#8442ff",
    "#aa0044": "#bc2764",
    "#404060": "#cfa6ad",
    "#0c1c7c": "#3d4b97", "#aaad5d": "#d7ff93", "#4e7cff": "#1148c2", "#11411f": "#5d9860",
    "#af149b": "#d72995", "#e903fe": "#f645fe", "#286e74": "#20ecd3", "#480a31": "#c46879",
    "#c85947": "#d5aa29", "#0207fb": "#4006fd", "#03063d": "#6dacd1", "#703bbb": "#7d85fd",
    "#540b03": "#a97f3d", "#13bec9": "#3dcdcc", "#c53882": "#d04d51", "#5c3179": "#22708d",
    "#0b9a0a": "#37a10d", "#070c98": "#6552e3", "#9b79e2": "#a893eb", "#745252": "#645337",
    "#7bbe7a": "#b2fe5d", "#31661e": "#82b640", "#a207fc": "#9904ce", "#d1a547": "#dff802",
    "#b13adc": "#8d1594", "#9270a7": "#0c6357", "#f60bcd": "#d92dc2", "#75024b": "#912f76",
    "#628d59": "#acd098", "#39201f": "#a7a884", "#86acff": "#148fc9", "#6d7238": "#decf86",
    "#81019a": "#fa96ed", "#8fac92": "#538f7b", "#38c802": "#33ee5f", "#bf1321": "#b84008",
}  # fmt: skip
COLORS = tuple(METHOD_COLORS)
# symbol -> size; open and large or filled and small, so that none hides another; drawings in space have no others
SYMBOLS = {
    "circle-open": 15,
    "square-open": 12,
    "diamond": 9,
    "cross": 7,
    "x": 7,
    "circle": 6,
    "square": 6,
    "diamond-open": 12,
}
REFERENCE_COLOR = "#999999"  # of reference fronts, which are thin lines
DASHES = ("solid", "dash", "dot", "dashdot")
FONT = {"family": "system-ui, sans-serif", "size": 13, "color": "#222222"}
GRID = {"gridcolor": "#e2e2e2", "zerolinecolor": "#bbbbbb", "linecolor": "#888888"}


def with_opacity(color: str, opacity: float) -> str:
    """Return a hexadecimal color with an opacity."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


# light color -> dark color, for lines, text and backgrounds; bands are transparent and use rgba
DARK = {
    "#ffffff": "#17191c",
    "#222222": "#e4e4e4",
    "#e2e2e2": "#3a3e44",
    "#bbbbbb": "#5c6168",
    "#999999": "#70757d",
    **METHOD_COLORS,
    **{with_opacity(light, 0)[:-2]: with_opacity(dark, 0)[:-2] for light, dark in METHOD_COLORS.items()},
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
        "modebar": {"orientation": "v", "bgcolor": "#ffffff", "color": "#999999", "activecolor": "#222222"},
        "hoverlabel": {"align": "left"},
        "showlegend": True,
    }


def style_color(style: int) -> str:
    """Return the color of a method by its number (see `data.method_styles`); only the first row has the first colors."""
    row, column = divmod(style, COLUMNS)
    return COLORS[column + COLUMNS * (row and 1 + (row - 1) % COLOR_ROWS)]


def style_symbol(style: int) -> str:
    """Return the symbol of a method by its number; those of a column differ."""
    return tuple(SYMBOLS)[(style + style // COLUMNS) % len(SYMBOLS)]


def style_dash(style: int) -> str:
    """Return the dash of the lines of a method by its number; those of a column differ."""
    return DASHES[(style + style // COLUMNS) % len(DASHES)]


def style_marker(style: int, scale: float = 1.0) -> dict[str, Any]:
    """Return the marker of a method by its number."""
    symbol = style_symbol(style)
    return {
        "color": style_color(style),
        "symbol": symbol,
        "size": SYMBOLS[symbol] * scale,
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
