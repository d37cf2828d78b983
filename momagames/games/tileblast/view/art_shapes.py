"""Shapes and colors of the pictures of MO-TileBlast. Sizes are parts of the side of the piece."""

from __future__ import annotations

import math
from dataclasses import dataclass

from momagames.render.canvas import Color, Painter
from momagames.render.outlined_shapes import shape
from momagames.render.shapes import oval, polygon

Art = tuple[Painter, ...]
Place = tuple[float, float]

STONE, STONE_LIGHT, STONE_DARK = (138, 143, 150), (176, 181, 187), (92, 97, 106)
LEAF, LEAF_LIGHT, LEAF_DARK = (74, 143, 61), (127, 184, 92), (40, 92, 44)
BARK, BARK_LIGHT, BARK_DARK = (140, 94, 54), (205, 160, 104), (92, 58, 32)
CREAM, SKIN = (252, 244, 224), (246, 205, 170)
GOLD, GOLD_DARK = (247, 190, 30), (184, 122, 20)
WATER, WATER_LIGHT = (64, 150, 220), (168, 216, 246)
STEEL, STEEL_LIGHT = (120, 132, 148), (196, 206, 216)
CLOTH = (190, 54, 50)


@dataclass(frozen=True)
class Look:
    """Appearance of a piece.

    hp, full   hit points now, and at its placement
    color      0 none, 1..6
    counts     hit points by color, of gnomes
    """

    kind: int
    hp: int = 1
    full: int = 1
    color: int = 0
    counts: tuple[int, ...] = ()


def dot(x: float, y: float, radius: float, ink: Color) -> Painter:
    return oval(x - radius, y - radius, x + radius, y + radius, ink)


def arc(x: float, y: float, rx: float, ry: float, start: float, end: float) -> list[Place]:
    """Return points on an ellipse; angles in turns, 0 at the right, clockwise."""
    angles = [2 * math.pi * (start + (end - start) * k / 24) for k in range(25)]
    return [(x + rx * math.cos(a), y + ry * math.sin(a)) for a in angles]


def leaf(x: float, y: float, turn: float, long: float, ink: Color = LEAF, edge: Color = LEAF_DARK) -> Painter:
    """Return a leaf that starts at (x, y), in a direction in turns, 0 upwards."""
    outline = [(0.0, 0.0), (0.24, -0.3), (0.26, -0.6), (0.0, -1.0), (-0.26, -0.6), (-0.24, -0.3)]
    cos, sin = math.cos(2 * math.pi * turn), math.sin(2 * math.pi * turn)
    return shape([(x + long * (px * cos - py * sin), y + long * (px * sin + py * cos)) for px, py in outline], ink, edge, 0.02)


def down_arrow(x: float, y: float, size: float) -> Painter:
    """Return an arrow downwards, the mark of drops."""
    head = [(x, y + size), (x - size, y), (x - size * 0.42, y), (x - size * 0.42, y - size), (x + size * 0.42, y - size)]
    return polygon([*head, (x + size * 0.42, y), (x + size, y)], LEAF_DARK)
