"""Shapes with outlines and lines with round ends, for small pictures. All sizes are parts of the side of the picture."""

from __future__ import annotations

from momagames.render.canvas import Color, Painter
from momagames.render.shapes import Points
from momagames.render.vectors import Drawing

EDGE: Color = (58, 52, 46)  # color of outlines
LINE_WIDTH = 0.03  # width of an outline


def slab(left: float, top: float, right: float, bottom: float, round_off: float, ink: Color) -> Painter:
    """Return the painter of a filled rectangle with round corners."""

    def draw(drawing: Drawing, side: float) -> None:
        drawing.rounded_rectangle([part * side for part in (left, top, right, bottom)], round_off * side, fill=ink)

    return draw


def box(left: float, top: float, right: float, bottom: float, round_off: float, ink: Color, edge: Color = EDGE) -> Painter:
    """Return the painter of a filled rectangle with round corners and an outline."""

    def draw(drawing: Drawing, side: float) -> None:
        corners = [part * side for part in (left, top, right, bottom)]
        drawing.rounded_rectangle(corners, round_off * side, fill=ink, outline=edge, width=round(LINE_WIDTH * side))

    return draw


def shape(points: Points, ink: Color, edge: Color = EDGE, line_width: float = LINE_WIDTH) -> Painter:
    """Return the painter of a polygon with an outline with round corners."""

    def draw(drawing: Drawing, side: float) -> None:
        corners = [(x * side, y * side) for x, y in points]
        drawing.polygon(corners, fill=ink)
        drawing.line([*corners, *corners[:2]], fill=edge, width=round(line_width * side), joint="curve")

    return draw


def ball(
    left: float, top: float, right: float, bottom: float, ink: Color, edge: Color = EDGE, line_width: float = LINE_WIDTH
) -> Painter:
    """Return the painter of an ellipse with an outline."""

    def draw(drawing: Drawing, side: float) -> None:
        corners = [part * side for part in (left, top, right, bottom)]
        drawing.ellipse(corners, fill=ink, outline=edge, width=round(line_width * side))

    return draw


def ring(radius: float, line_width: float, ink: Color) -> Painter:
    """Return the painter of a ring in the middle; the radius is that of its outer edge."""

    def draw(drawing: Drawing, side: float) -> None:
        corners = [part * side for part in (0.5 - radius, 0.5 - radius, 0.5 + radius, 0.5 + radius)]
        drawing.ellipse(corners, outline=ink, width=round(line_width * side))

    return draw


def stroke(points: Points, line_width: float, ink: Color = EDGE) -> Painter:
    """Return the painter of a line with round ends."""

    def draw(drawing: Drawing, side: float) -> None:
        drawing.line([(x * side, y * side) for x, y in points], fill=ink, width=round(line_width * side), joint="curve")
        for x, y in (points[0], points[-1]):
            r = line_width / 2
            drawing.ellipse([(x - r) * side, (y - r) * side, (x + r) * side, (y + r) * side], fill=ink)

    return draw
