"""Ten distinguishable colors and ten shapes, also for people with color vision deficiency.

The colors start from Okabe and Ito's set ("Color Universal Design", 2008), extended to ten. A search maximized the smallest
OKLab distance between any two of them, and to the paper, for normal vision and under simulated protanopia, deuteranopia and
tritanopia. Each color also has its own shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from momagames.render.canvas import INK, WHITE, Color, Painter, color, font
from momagames.render.vectors import Drawing

CODES = ("#ee9300", "#57cfff", "#0e8d70", "#b375d0", "#ffd300", "#245792", "#e93009", "#320a1d", "#731e00", "#a7b79f")
COLORS: tuple[Color, ...] = tuple(color(code) for code in CODES)
Points = Sequence[tuple[float, float]]


def is_dark(ink: Color) -> bool:
    """Return whether white has more contrast than black on a color (relative luminance, WCAG 2)."""
    linear = [(c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in ink]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] < 0.19


def contrast(ink: Color) -> Color:
    """Return the color of a shape on a tile of this color: nearly black or white, mixed with the color of the tile."""
    red, green, blue = (round(0.85 * far + 0.15 * near) for far, near in zip(WHITE if is_dark(ink) else INK, ink, strict=True))
    return red, green, blue


def contrast_code(index: int) -> str:
    """Return the contrast color of CODES[index] as a code for terminals."""
    return "#ffffff" if is_dark(COLORS[index]) else "#000000"


def polygon(points: Points, ink: Color) -> Painter:
    """Return the painter of a filled polygon; points in 0..1."""
    return lambda drawing, side: drawing.polygon([(x * side, y * side) for x, y in points], fill=ink)


def disc(radius: float, ink: Color, hole: float = 0.0, paper: Color = WHITE) -> Painter:
    """Return the painter of a disc in the middle, with a round hole in the color of the paper."""

    def draw(drawing: Drawing, side: float) -> None:
        for r, fill in ((radius, ink), (hole, paper)):
            if r:
                drawing.ellipse([(0.5 - r) * side, (0.5 - r) * side, (0.5 + r) * side, (0.5 + r) * side], fill=fill)

    return draw


def block(margin: float, round_off: float, ink: Color) -> Painter:
    """Return the painter of a square with round corners; margin and radius are fractions of the side."""

    def draw(drawing: Drawing, side: float) -> None:
        low, high = margin * side, (1 - margin) * side - 1
        drawing.rounded_rectangle([low, low, high, high], radius=round_off * side, fill=ink)

    return draw


def oval(left: float, top: float, right: float, bottom: float, ink: Color) -> Painter:
    """Return the painter of a filled ellipse in a box; edges in 0..1."""
    return lambda drawing, side: drawing.ellipse([left * side, top * side, right * side, bottom * side], fill=ink)


def label(text: str, x: float, y: float, height: float, ink: Color) -> Painter:
    """Return the painter of a text centered at (x, y); the height of the letters is a fraction of the side."""
    return lambda drawing, side: drawing.text((x * side, y * side), text, ink, font(round(height * side)), anchor="mm")


def bars(*boxes: tuple[float, float, float, float], ink: Color) -> Painter:
    """Return the painter of filled rectangles (left, top, right, bottom) in 0..1."""

    def draw(drawing: Drawing, side: float) -> None:
        for box in boxes:
            drawing.rectangle([part * side for part in box], fill=ink)

    return draw


def star(radius: float, inner: float, points: int, ink: Color) -> Painter:
    """Return the painter of a star in the middle, one ray upwards."""
    angles = [(math.pi * k / points, radius if k % 2 == 0 else inner) for k in range(2 * points)]
    return polygon([(0.5 + r * math.sin(a), 0.52 - r * math.cos(a)) for a, r in angles], ink)


def shape(index: int, ink: Color, paper: Color) -> Painter:
    """Return the painter of the shape of the color COLORS[index], in the middle half of a tile."""
    width = 0.09
    turned = [(0.5 + (x - y) * 0.7071, 0.5 + (x + y) * 0.7071) for x, y in _cross(0.32, width)]
    shapes: tuple[Painter, ...] = (
        disc(0.19, ink),
        polygon([(0.5, 0.22), (0.8, 0.74), (0.2, 0.74)], ink),
        bars((0.23, 0.23, 0.77, 0.77), ink=ink),
        polygon([(0.5, 0.12), (0.82, 0.5), (0.5, 0.88), (0.18, 0.5)], ink),
        polygon([(0.5 + x, 0.5 + y) for x, y in _cross(0.3, width)], ink),
        star(0.34, 0.14, 5, ink),
        disc(0.28, ink, 0.15, paper),
        polygon(turned, ink),
        bars((0.25, 0.28, 0.75, 0.43), (0.25, 0.57, 0.75, 0.72), ink=ink),
        polygon([(0.22, 0.2), (0.78, 0.2), (0.5, 0.5), (0.78, 0.8), (0.22, 0.8), (0.5, 0.5)], ink),
    )
    return shapes[index]


def _cross(long: float, width: float) -> Points:
    """Return the outline of a plus sign around the origin."""
    quarter = [(width, -long), (width, -width), (long, -width)]
    outline = list(quarter)
    for _ in range(3):
        quarter = [(-y, x) for x, y in quarter]
        outline += quarter
    return outline
