"""Shapes with outlines and lines with round ends, for small pictures. All sizes are parts of the side of the picture."""

from __future__ import annotations

from PIL import ImageDraw

from momagames.render.canvas import Color, Painter
from momagames.render.shapes import Points

EDGE: Color = (58, 52, 46)  # warm and dark
WIDE = 0.03  # of an outline


def slab(left: float, top: float, right: float, bottom: float, round_off: float, ink: Color) -> Painter:
    """A filled rectangle with round corners."""

    def draw(drawing: ImageDraw.ImageDraw, side: float) -> None:
        drawing.rounded_rectangle([part * side for part in (left, top, right, bottom)], round_off * side, fill=ink)

    return draw


def box(left: float, top: float, right: float, bottom: float, round_off: float, ink: Color, edge: Color = EDGE) -> Painter:
    """The same with an outline."""

    def draw(drawing: ImageDraw.ImageDraw, side: float) -> None:
        corners = [part * side for part in (left, top, right, bottom)]
        drawing.rounded_rectangle(corners, round_off * side, fill=ink, outline=edge, width=round(WIDE * side))

    return draw


def shape(points: Points, ink: Color, edge: Color = EDGE, wide: float = WIDE) -> Painter:
    """A polygon with an outline whose corners are round."""

    def draw(drawing: ImageDraw.ImageDraw, side: float) -> None:
        corners = [(x * side, y * side) for x, y in points]
        drawing.polygon(corners, fill=ink)
        drawing.line([*corners, *corners[:2]], fill=edge, width=round(wide * side), joint="curve")

    return draw


def ball(left: float, top: float, right: float, bottom: float, ink: Color, edge: Color = EDGE, wide: float = WIDE) -> Painter:
    """An ellipse with an outline."""

    def draw(drawing: ImageDraw.ImageDraw, side: float) -> None:
        corners = [part * side for part in (left, top, right, bottom)]
        drawing.ellipse(corners, fill=ink, outline=edge, width=round(wide * side))

    return draw


def stroke(points: Points, wide: float, ink: Color = EDGE) -> Painter:
    """A line with round ends."""

    def draw(drawing: ImageDraw.ImageDraw, side: float) -> None:
        drawing.line([(x * side, y * side) for x, y in points], fill=ink, width=round(wide * side), joint="curve")
        for x, y in (points[0], points[-1]):
            r = wide / 2
            drawing.ellipse([(x - r) * side, (y - r) * side, (x + r) * side, (y + r) * side], fill=ink)

    return draw
