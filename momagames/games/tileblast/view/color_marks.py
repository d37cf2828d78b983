"""The six colors of MO-TileBlast and the mark of each, which distinguishes them for color-blind people.

Marks are outlines around the origin with a radius of about 1, y downwards.
"""

from __future__ import annotations

import math

from momagames.games.tileblast.rules.pieces import COLORS
from momagames.render import canvas, shapes
from momagames.render.canvas import INK, WHITE, Color, Painter

GRAY = "#b9bcc0"
# By color code: none, then red, blue, yellow, orange, purple, pink. They also differ in lightness
HEX_CODES = (GRAY, "#b91d1a", "#2f76e0", "#ffe426", "#f07a14", "#502689", "#f89ad8")
INKS: tuple[Color, ...] = tuple(canvas.color(code) for code in HEX_CODES)
Points = list[tuple[float, float]]


def blend(one: Color, other: Color, share: float) -> Color:
    """Return a mixture of two colors. share: of the second one"""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def circle_angles(count: int) -> list[float]:
    """Return equally spaced angles around the circle, from the top on."""
    return [2 * math.pi * k / count for k in range(count)]


def heart() -> Points:
    return [
        (math.sin(a) ** 3 * 1.02, -(13 * math.cos(a) - 5 * math.cos(2 * a) - 2 * math.cos(3 * a) - math.cos(4 * a)) / 15)
        for a in circle_angles(48)
    ]


def drop() -> Points:
    return [(0.78 * math.sin(a) * math.sin(a / 2), -math.cos(a) - 0.06) for a in circle_angles(48)]


def star() -> Points:
    return [(r * math.sin(a), 0.08 - r * math.cos(a)) for k, a in enumerate(circle_angles(10)) for r in [(1.1, 0.48)[k % 2]]]


def tile() -> Points:
    """Return a square with cut corners."""
    far, near = 0.82, 0.55
    return [(-near, -far), (near, -far), (far, -near), (far, near), (near, far), (-near, far), (-far, near), (-far, -near)]


def moon() -> Points:
    """Return a disc without its overlap with another disc at its upper right."""
    x, y, radius = 0.42, -0.2, 0.78
    first = math.atan2(x, -y)  # direction of the other disc
    around = [(math.sin(first + a), -math.cos(first + a)) for a in circle_angles(96)]
    outer = [(px, py) for px, py in around if math.hypot(px - x, py - y) > radius]
    inner = [(x + radius * px, y + radius * py) for px, py in reversed(around)]
    # the inner edge goes back from the end of the outer one to its start, along the side away from `first`
    return outer + [(px, py) for px, py in inner if math.hypot(px, py) < 1]


def plus() -> Points:
    narrow, long = 0.34, 0.95
    quarter = [(narrow, -long), (narrow, -narrow), (long, -narrow)]
    outline: Points = []
    for _ in range(4):
        outline += quarter
        quarter = [(-y, x) for x, y in quarter]
    return outline


OUTLINES: tuple[Points, ...] = ([], heart(), drop(), star(), tile(), moon(), plus())
assert len(OUTLINES) == len(HEX_CODES) == len(COLORS) + 1


def mark(color: int, x: float, y: float, radius: float, ink: Color) -> Painter:
    """Return the mark of a color centered at (x, y); nothing for color 0. Sizes are fractions of the side."""
    if not color:
        return shapes.bars(ink=ink)
    return shapes.polygon([(x + px * radius, y + py * radius) for px, py in OUTLINES[color]], ink)


def contrast_color(color: int) -> Color:
    """Return a color that contrasts with a piece color."""
    return blend(WHITE if shapes.is_dark(INKS[color]) else INK, INKS[color], 0.12)
