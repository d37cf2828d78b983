"""Pictures of the pieces of MO-TileBlast, with hit points and covers, and of goals; cached."""

from __future__ import annotations

from momagames.games.tileblast.rules.pieces import BIG, BOMB, BUBBLE, CAGE, CODES, COUNTS, FLASK, KINDS, ROCKET_H, ROCKET_V
from momagames.games.tileblast.view.art import PAINT, bee, gnome, rocket
from momagames.games.tileblast.view.art_shapes import STEEL_LIGHT, Art, Look, dot
from momagames.games.tileblast.view.scene import UNIT_NAMES
from momagames.render import canvas, shapes
from momagames.render.canvas import PAPER, WHITE, Color, Sheet
from momagames.render.outlined_shapes import EDGE, ring, slab, stroke
from momagames.render.shapes import label

HOLLOW, HOLLOW_EDGE = (231, 228, 214), (208, 204, 188)
MAX_PIPS = 5  # more hit points are shown as a number
SHINE, RIM = (176, 222, 252), (70, 150, 214)
NO_PIECE = Look(0)


def empty_cells(count: int) -> Art:
    """Return count x count empty active cells."""
    places = [(x / count, y / count) for y in range(count) for x in range(count)]
    near, far, low, corner = (part / count for part in (0.01, 0.99, 0.035, 0.12))
    return tuple(
        slab(x + near, y + top, x + far, y + far, corner, ink)
        for x, y in places
        for top, ink in ((near, HOLLOW_EDGE), (low, HOLLOW))
    )


@canvas.cache_drawing(maxsize=4096)
def draw_piece(side: int, look: Look, cover: int = 0, paper: Color | None = None) -> Sheet:
    """Return a piece, uint8[side, side, 3]. The array is cached: do not write into it.

    side    pixels: those of two cells for a piece of size 2
    paper   background color, without hit points; None: cells of the board
    """
    kind = KINDS[look.kind]
    big = bool(kind.attributes & BIG)
    parts = PAINT[look.kind](look) if look.kind else ()
    if paper is None and kind.high > 1 and not kind.attributes & COUNTS and (look.hp, look.full) != (1, 1):
        parts += hp_label(look.hp) if look.full > MAX_PIPS else pips(look.hp, look.full, 0.55 if big else 1.0)
    background = empty_cells(2 if big else 1) if paper is None else ()
    bars = cage_bars() if cover == CAGE else ()
    drawn = canvas.paint(side, paper or PAPER, *background, *parts, *bars)
    return add_bubble(drawn) if cover == BUBBLE else drawn


# --------------------------------------------------------------------------------------------------- hit points and covers


def pips(hp: int, full: int, scale: float) -> Art:
    """Return a light for each hit point, dark for lost ones."""
    step, radius, y = 0.16 * scale, 0.058 * scale, 1 - 0.1 * scale
    count = max(hp, full)
    places = [(0.5 + (k - (count - 1) / 2) * step, y) for k in range(count)]
    return (
        stroke([places[0], places[-1]], 0.2 * scale, EDGE),
        *(dot(x, y, radius, (255, 236, 110) if k < hp else (116, 108, 100)) for k, (x, y) in enumerate(places)),
    )


def hp_label(hp: int) -> Art:
    """Return the hit points as a number in the lower right corner of a piece of size 2."""
    return dot(0.84, 0.86, 0.13, EDGE), label(str(hp), 0.84, 0.86, 0.18, WHITE)


def cage_bars() -> Art:
    """Return bars with a rail above and below."""
    layers = ((0.09, 0.13, EDGE), (0.045, 0.075, STEEL_LIGHT))
    upright = [stroke([(x, 0.08), (x, 0.92)], line_width, ink) for line_width, _, ink in layers for x in (0.1, 0.3, 0.7, 0.9)]
    rails = [stroke([(0.08, y), (0.92, y)], line_width, ink) for _, line_width, ink in layers for y in (0.08, 0.92)]
    return (*upright, *rails)


def add_bubble(drawn: Sheet) -> Sheet:
    """Return a picture behind a bubble."""
    drawn = canvas.tint(drawn, SHINE, 0.3, shapes.disc(0.475, WHITE))
    drawn = canvas.tint(drawn, RIM, 0.95, ring(0.49, 0.055, WHITE))
    light = stroke([(0.19, 0.4), (0.24, 0.29), (0.34, 0.2)], 0.085, WHITE)
    return canvas.tint(drawn, WHITE, 0.95, light, dot(0.75, 0.76, 0.055, WHITE))


# ------------------------------------------------------------------------------------------------------------------- goals


@canvas.cache_drawing(maxsize=512)
def draw_unit(side: int, units: int, color: int) -> Sheet:
    """Return the picture of a goal (its units as bits, its color or 0), on paper: uint8[side, side, 3]."""
    name = UNIT_NAMES[units]
    if name == "cage":
        return draw_piece(side, NO_PIECE, CAGE, PAPER)
    if name == "bubble":
        return draw_piece(side, NO_PIECE, BUBBLE, PAPER)
    if name == "power":
        return draw_powers(side)
    drawn = {"bee": bee(0.47, 0.55, 0.4), "rocket": (*rocket(True), *rocket(False)), "gnomes": gnome(color, 0.5, 0.5, 0.48)}
    if name in drawn:
        return canvas.paint(side, PAPER, *drawn[name])
    kind = CODES[name]
    return draw_piece(side, Look(kind, KINDS[kind].usual, KINDS[kind].usual, color), 0, PAPER)


def draw_powers(side: int) -> Sheet:
    """Return a picture of all power pieces."""
    sheet, half = canvas.blank(side, side), side // 2
    for k, kind in enumerate((ROCKET_H, ROCKET_V, BOMB, FLASK)):
        y, x = k // 2 * (side - half), k % 2 * (side - half)
        canvas.place(sheet, y, x, draw_piece(half, Look(kind), 0, PAPER))
    return sheet
