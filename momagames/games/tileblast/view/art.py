"""Pictures of the pieces of MO-TileBlast: each kind has a shape of its own. Sizes are parts of the side of the piece."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from momagames.games.tileblast.rules.pieces import CODES
from momagames.games.tileblast.view.art_shapes import (
    BARK,
    BARK_DARK,
    BARK_LIGHT,
    CLOTH,
    CREAM,
    GOLD,
    GOLD_DARK,
    LEAF,
    LEAF_DARK,
    LEAF_LIGHT,
    SKIN,
    STEEL,
    STEEL_LIGHT,
    STONE,
    STONE_DARK,
    STONE_LIGHT,
    WATER,
    WATER_LIGHT,
    Art,
    Look,
    Place,
    arc,
    dot,
    down_arrow,
    leaf,
)
from momagames.games.tileblast.view.color_marks import INKS, blend, circle_angles, contrast_color, mark
from momagames.render.canvas import INK, WHITE, Color, Painter
from momagames.render.outlined_shapes import EDGE, ball, box, shape, slab, stroke
from momagames.render.shapes import bars, label, oval, polygon

# ----------------------------------------------------------------------------------------------- basics and power pieces


def basic(look: Look) -> Art:
    """Return a tile with a light upper side."""
    ink = INKS[look.color]
    return (
        slab(0.03, 0.03, 0.97, 0.97, 0.2, blend(ink, INK, 0.4)),
        slab(0.03, 0.03, 0.97, 0.91, 0.2, blend(ink, WHITE, 0.38)),
        slab(0.03, 0.075, 0.97, 0.91, 0.2, ink),
        mark(look.color, 0.5, 0.49, 0.25, contrast_color(look.color)),
    )


def rotate(points: Sequence[Place], is_vertical: bool) -> list[Place]:
    """Swap x and y of the points if `is_vertical`."""
    return [(y, x) for x, y in points] if is_vertical else list(points)


def rocket(is_vertical: bool) -> Art:
    """Return a tube with a head at each end."""
    red = (206, 48, 42)

    def part(points: Sequence[Place], ink: Color) -> Painter:
        return shape(rotate(points, is_vertical), ink)

    stripes = [[(x, 0.345), (x + 0.1, 0.345), (x + 0.02, 0.655), (x - 0.08, 0.655)] for x in (0.38, 0.58)]
    return (
        part([(0.04, 0.5), (0.3, 0.2), (0.3, 0.8)], red),
        part([(0.96, 0.5), (0.7, 0.2), (0.7, 0.8)], red),
        part([(0.24, 0.33), (0.76, 0.33), (0.76, 0.67), (0.24, 0.67)], WHITE),
        *(polygon(rotate(stripe, is_vertical), (58, 110, 190)) for stripe in stripes),
    )


def bomb(look: Look) -> Art:
    spark = [
        (0.82 + r * math.sin(a), 0.16 - r * math.cos(a)) for k, a in enumerate(circle_angles(16)) for r in [(0.16, 0.07)[k % 2]]
    ]
    return (
        stroke(arc(0.66, 0.3, 0.16, 0.16, 0.55, 0.9), 0.06, BARK),
        dot(0.46, 0.56, 0.37, INK),
        dot(0.46, 0.56, 0.34, (54, 58, 70)),
        polygon([(0.56, 0.2), (0.7, 0.28), (0.64, 0.38), (0.5, 0.3)], INK),
        dot(0.34, 0.43, 0.09, (150, 158, 172)),
        polygon(spark, (240, 110, 20)),
        dot(0.82, 0.16, 0.06, (255, 240, 140)),
    )


def flask(look: Look) -> Art:
    ink, glass = INKS[look.color], (236, 246, 250)
    return (
        shape([(0.4, 0.1), (0.6, 0.1), (0.6, 0.36), (0.9, 0.84), (0.84, 0.93), (0.16, 0.93), (0.1, 0.84), (0.4, 0.36)], glass),
        polygon([(0.31, 0.54), (0.69, 0.54), (0.865, 0.83), (0.82, 0.9), (0.18, 0.9), (0.135, 0.83)], ink),
        box(0.34, 0.05, 0.66, 0.15, 0.04, (150, 110, 70)),
        mark(look.color, 0.5, 0.73, 0.15, contrast_color(look.color)),
        stroke([(0.47, 0.2), (0.47, 0.36)], 0.04, WHITE),
    )


# ---------------------------------------------------------------------------------------------------------------- blockers


def rock(look: Look) -> Art:
    """Return a boulder with one crack per lost hit point."""
    outline = [(0.08, 0.78), (0.1, 0.46), (0.3, 0.16), (0.62, 0.1), (0.88, 0.36), (0.94, 0.72), (0.8, 0.9), (0.2, 0.9)]
    cracks = ([(0.55, 0.12), (0.47, 0.36), (0.58, 0.5), (0.5, 0.7)], [(0.9, 0.5), (0.72, 0.55), (0.66, 0.72)])
    return (
        shape(outline, STONE, STONE_DARK, 0.05),
        polygon([(0.14, 0.5), (0.32, 0.2), (0.6, 0.15), (0.44, 0.4), (0.24, 0.5)], STONE_LIGHT),
        polygon([(0.7, 0.62), (0.91, 0.7), (0.79, 0.87), (0.5, 0.87)], blend(STONE, STONE_DARK, 0.5)),
        *(stroke(crack, 0.035, EDGE) for crack in cracks[: look.full - look.hp]),
    )


def dandelion(look: Look) -> Art:
    seeds = [(0.5 + 0.31 * math.sin(a), 0.37 - 0.31 * math.cos(a)) for a in circle_angles(12)]
    inner = [(0.5 + 0.17 * math.sin(a + 0.3), 0.37 - 0.17 * math.cos(a + 0.3)) for a in circle_angles(7)]
    gray = (120, 134, 152)
    return (
        stroke([(0.5, 0.4), (0.53, 0.94)], 0.05, LEAF),
        leaf(0.53, 0.93, 0.13, 0.36),
        leaf(0.53, 0.93, -0.15, 0.36),
        dot(0.5, 0.37, 0.34, (206, 216, 228)),
        *(stroke([(0.5, 0.37), seed], 0.02, gray) for seed in seeds),
        *(dot(x, y, 0.062, gray) for x, y in seeds),
        *(dot(x, y, 0.045, WHITE) for x, y in seeds),
        *(dot(x, y, 0.045, WHITE) for x, y in inner),
        dot(0.5, 0.37, 0.06, LEAF_DARK),
    )


def chestnut(look: Look) -> Art:
    """Return a nut in its shell; the first hit removes half of the shell."""
    green, nut = (140, 160, 50), (126, 62, 28)
    spikes = [
        (0.5 + r * math.sin(a), 0.5 - r * math.cos(a)) for k, a in enumerate(circle_angles(36)) for r in [(0.47, 0.34)[k % 2]]
    ]
    shell = [(x, y) for x, y in spikes if look.hp > 1 or y > 0.47]
    return (
        *((ball(0.2, 0.14, 0.8, 0.8, nut),) if look.hp == 1 else ()),
        *((oval(0.3, 0.2, 0.5, 0.42, (190, 120, 72)),) if look.hp == 1 else ()),
        shape(shell, green, (84, 98, 26), 0.025),
        *((ball(0.33, 0.34, 0.67, 0.68, nut), oval(0.4, 0.39, 0.5, 0.49, (190, 120, 72))) if look.hp > 1 else ()),
    )


def sunflower(look: Look) -> Art:
    """Return a flower with one ring of petals per hit point, the last one small."""
    rounds = [(0.47, 14, GOLD), (0.4, 12, (255, 214, 70)), (0.34, 10, GOLD), (0.28, 8, (255, 226, 110))][4 - min(look.hp, 4) :]
    petals = [leaf(0.5, 0.5, k / count, long, ink, GOLD_DARK) for long, count, ink in rounds for k in range(count)]
    return (
        leaf(0.5, 0.6, 0.38, 0.46),
        leaf(0.5, 0.6, -0.38, 0.46),
        *petals,
        ball(0.33, 0.33, 0.67, 0.67, BARK_DARK, EDGE, 0.025),
        *(dot(0.5 + 0.09 * math.sin(a), 0.5 - 0.09 * math.cos(a), 0.025, BARK_LIGHT) for a in circle_angles(6)),
    )


def pot(look: Look) -> Art:
    ink = INKS[look.color]
    shade = blend(ink, INK, 0.3)
    return (
        stroke([(0.5, 0.4), (0.5, 0.2)], 0.05, LEAF),
        leaf(0.5, 0.26, 0.17, 0.26),
        leaf(0.5, 0.26, -0.17, 0.26),
        shape([(0.2, 0.46), (0.8, 0.46), (0.7, 0.92), (0.3, 0.92)], ink),
        polygon([(0.66, 0.48), (0.785, 0.48), (0.69, 0.905), (0.6, 0.905)], blend(ink, shade, 0.5)),
        box(0.12, 0.34, 0.88, 0.5, 0.05, blend(ink, WHITE, 0.2)),
        mark(look.color, 0.5, 0.69, 0.14, contrast_color(look.color)),
    )


def mushroom(look: Look) -> Art:
    ink = INKS[look.color]
    cap = [*arc(0.5, 0.55, 0.44, 0.45, 0.5, 1.0), (0.9, 0.6), (0.1, 0.6)]
    return (
        shape([(0.38, 0.55), (0.62, 0.55), (0.68, 0.9), (0.32, 0.9)], CREAM),
        shape(cap, ink),
        dot(0.2, 0.47, 0.05, CREAM),
        dot(0.8, 0.47, 0.05, CREAM),
        mark(look.color, 0.5, 0.36, 0.16, contrast_color(look.color)),
        leaf(0.3, 0.93, -0.12, 0.2),
        leaf(0.7, 0.93, 0.12, 0.2),
    )


def snail(look: Look) -> Art:
    body, shell = (214, 190, 130), (178, 98, 70)
    coil = [(0.4 + r * math.cos(a), 0.46 + r * math.sin(a)) for k in range(60) for r, a in [(0.03 + 0.0038 * k, 0.27 * k)]]
    return (
        shape([(0.06, 0.86), (0.3, 0.68), (0.64, 0.74), (0.72, 0.42), (0.9, 0.42), (0.94, 0.6), (0.84, 0.86)], body),
        stroke([(0.77, 0.43), (0.73, 0.24)], 0.035),
        stroke([(0.86, 0.43), (0.9, 0.24)], 0.035),
        dot(0.73, 0.23, 0.045, EDGE),
        dot(0.9, 0.23, 0.045, EDGE),
        ball(0.1, 0.16, 0.7, 0.76, shell, EDGE, 0.035),
        stroke(coil, 0.035, (92, 40, 26)),
        dot(0.86, 0.53, 0.025, EDGE),
    )


def stump(look: Look) -> Art:
    return (
        shape(
            [
                (0.2, 0.34),
                (0.8, 0.34),
                (0.84, 0.74),
                (0.97, 0.9),
                (0.66, 0.88),
                (0.5, 0.94),
                (0.34, 0.88),
                (0.03, 0.9),
                (0.16, 0.74),
            ],
            BARK,
        ),
        *(stroke([(x, 0.5), (x + 0.01, 0.78)], 0.03, BARK_DARK) for x in (0.3, 0.44, 0.58, 0.7)),
        ball(0.18, 0.16, 0.82, 0.5, BARK_LIGHT),
        ball(0.3, 0.225, 0.7, 0.435, BARK_LIGHT, BARK, 0.025),
        ball(0.41, 0.28, 0.59, 0.38, BARK_LIGHT, BARK, 0.025),
    )


def weed(look: Look) -> Art:
    """Return prickly leaves from one root."""
    ink, edge = (72, 120, 24), (34, 62, 14)

    def blade(turn: float, long: float) -> Painter:
        half = [(0.06, 0.0), (0.17, -0.3), (0.1, -0.36), (0.18, -0.6), (0.09, -0.64), (0.0, -1.0)]
        outline = [*half, *((-x, y) for x, y in reversed(half))]
        cos, sin = math.cos(2 * math.pi * turn), math.sin(2 * math.pi * turn)
        return shape(
            [(0.5 + long * (x * cos - y * sin), 0.9 + long * (x * sin + y * cos)) for x, y in outline], ink, edge, 0.025
        )

    return (
        *(blade(turn, long) for turn, long in ((-0.2, 0.5), (0.2, 0.5), (-0.11, 0.7), (0.11, 0.7), (0.0, 0.84))),
        *(mark(6, x, y, 0.07, (170, 84, 190)) for x, y in ((0.5, 0.14), (0.16, 0.4), (0.84, 0.4))),
    )


def butterfly(look: Look) -> Art:
    ink = INKS[look.color] if look.color else (238, 238, 232)
    spot = blend(ink, INK, 0.25)
    wings = [(0.04, 0.12, 0.5, 0.56), (0.5, 0.12, 0.96, 0.56), (0.14, 0.5, 0.5, 0.86), (0.5, 0.5, 0.86, 0.86)]
    spots = [(0.26, 0.34), (0.74, 0.34)]
    if look.color:
        pattern = [mark(look.color, x, y, 0.11, contrast_color(look.color)) for x, y in spots]
    else:
        pattern = [dot(x, y, 0.07, spot) for x, y in spots]
    return (
        *(ball(*wing, ink) for wing in wings),
        *pattern,
        *(dot(x, 0.69, 0.05, spot) for x in (0.31, 0.69)),
        stroke([(0.5, 0.28), (0.38, 0.08)], 0.03),
        stroke([(0.5, 0.28), (0.62, 0.08)], 0.03),
        stroke([(0.5, 0.3), (0.5, 0.8)], 0.1),
    )


def polaroid(look: Look) -> Art:
    """Return a photograph, torn after the first hit."""
    tear = [(0.52, 0.06), (0.44, 0.28), (0.56, 0.44), (0.46, 0.68), (0.52, 0.94)]
    return (
        box(0.12, 0.05, 0.88, 0.95, 0.04, WHITE),
        bars((0.2, 0.13, 0.8, 0.68), ink=(146, 204, 240)),
        dot(0.66, 0.27, 0.09, GOLD),
        polygon([(0.2, 0.68), (0.2, 0.52), (0.38, 0.36), (0.58, 0.56), (0.68, 0.48), (0.8, 0.6), (0.8, 0.68)], LEAF),
        *((stroke(tear, 0.05, EDGE), stroke(tear, 0.02, WHITE)) if look.hp < look.full else ()),
    )


def chest(look: Look) -> Art:
    """Return a closed chest, ajar after the first hit."""
    ajar = look.hp < look.full
    lift = 0.09 if ajar else 0.0
    lid = [(0.08, 0.48 - lift), *arc(0.5, 0.42 - lift, 0.42, 0.27, 0.5, 1.0), (0.92, 0.48 - lift)]
    return (
        box(0.08, 0.36, 0.92, 0.9, 0.03, (50, 36, 26)),
        *((bars((0.16, 0.4, 0.84, 0.48), ink=GOLD),) if ajar else ()),
        box(0.08, 0.48, 0.92, 0.9, 0.03, BARK),
        shape(lid, blend(BARK, BARK_LIGHT, 0.4)),
        bars((0.2, 0.5, 0.28, 0.88), (0.72, 0.5, 0.8, 0.88), ink=STEEL),
        box(0.41, 0.44 - lift / 2, 0.59, 0.64 - lift / 2, 0.04, GOLD),
        dot(0.5, 0.53 - lift / 2, 0.035, EDGE),
    )


# ----------------------------------------------------------------------------------------- what makes something, and drops


def beehive(look: Look) -> Art:
    rounds = [
        (0.3, 0.06, 0.7, 0.3),
        (0.2, 0.2, 0.8, 0.46),
        (0.12, 0.36, 0.88, 0.66),
        (0.16, 0.56, 0.84, 0.84),
        (0.26, 0.72, 0.74, 0.94),
    ]
    return (*(ball(*r, GOLD, GOLD_DARK, 0.035) for r in rounds), oval(0.38, 0.56, 0.62, 0.8, BARK_DARK), *bee(0.78, 0.2, 0.17))


def bee(x: float, y: float, size: float) -> Art:
    """Return a bee; `size` is half its width."""
    return (
        ball(x - 0.5 * size, y - 0.95 * size, x + 0.1 * size, y - 0.1 * size, WHITE, STEEL, 0.02),
        ball(x, y - 0.95 * size, x + 0.6 * size, y - 0.1 * size, WHITE, STEEL, 0.02),
        ball(x - size, y - 0.55 * size, x + size, y + 0.65 * size, (255, 208, 40), EDGE, 0.025),
        *(stroke([(x + k * size, y - 0.4 * size), (x + k * size, y + 0.5 * size)], 0.22 * size, EDGE) for k in (-0.4, 0.1)),
        dot(x + 0.62 * size, y - 0.02 * size, 0.1 * size, EDGE),
    )


def sprinkler(look: Look) -> Art:
    drops = [(0.1, 0.46), (0.24, 0.2), (0.5, 0.1), (0.76, 0.2), (0.9, 0.46)]
    jets = [stroke(arc(0.5 + s * 0.2, 0.46, 0.2, 0.2, 0.5, 1.0), 0.03, WATER) for s in (-1, 1)]
    return (
        *jets,
        *(mark(2, x, y, 0.085, WATER) for x, y in drops),
        shape([(0.2, 0.94), (0.3, 0.84), (0.7, 0.84), (0.8, 0.94)], STEEL),
        box(0.43, 0.54, 0.57, 0.86, 0.02, STEEL_LIGHT),
        box(0.26, 0.46, 0.74, 0.6, 0.06, (52, 150, 96)),
    )


def dispenser(look: Look) -> Art:
    """Return a box with dandelions behind glass, and a chute."""
    fluff = [(0.36, 0.28), (0.52, 0.36), (0.66, 0.26), (0.4, 0.46), (0.62, 0.48)]
    return (
        box(0.14, 0.06, 0.86, 0.94, 0.1, (150, 72, 120)),
        box(0.22, 0.14, 0.78, 0.58, 0.06, (214, 234, 244)),
        *(dot(x, y, 0.085, (130, 144, 162)) for x, y in fluff),
        *(dot(x, y, 0.065, WHITE) for x, y in fluff),
        *(dot(x, y, 0.022, LEAF_DARK) for x, y in fluff),
        box(0.34, 0.68, 0.66, 0.9, 0.03, (40, 22, 34)),
        polygon([(0.42, 0.74), (0.58, 0.74), (0.5, 0.84)], GOLD),
    )


def bucket(look: Look) -> Art:
    return (
        stroke(arc(0.5, 0.36, 0.34, 0.3, 0.5, 1.0), 0.04, STEEL),
        shape([(0.14, 0.36), (0.86, 0.36), (0.74, 0.92), (0.26, 0.92)], STEEL_LIGHT),
        polygon([(0.64, 0.4), (0.83, 0.4), (0.72, 0.9), (0.58, 0.9)], blend(STEEL, STEEL_LIGHT, 0.4)),
        stroke([(0.2, 0.64), (0.8, 0.64)], 0.035, STEEL),
        ball(0.12, 0.25, 0.88, 0.47, WATER),
        oval(0.24, 0.29, 0.52, 0.38, WATER_LIGHT),
    )


def seedbag(look: Look) -> Art:
    sack = [(0.36, 0.24), (0.64, 0.24), (0.86, 0.52), (0.86, 0.84), (0.74, 0.93), (0.26, 0.93), (0.14, 0.84), (0.14, 0.52)]
    return (
        shape(
            [(0.28, 0.06), (0.42, 0.11), (0.5, 0.06), (0.58, 0.11), (0.72, 0.06), (0.63, 0.26), (0.37, 0.26)], (232, 208, 160)
        ),
        shape(sack, (214, 184, 128)),
        stroke([(0.36, 0.26), (0.64, 0.26)], 0.06, CLOTH),
        down_arrow(0.5, 0.62, 0.2),
    )


def seedbox(look: Look) -> Art:
    planks = [(0.1, top, 0.9, top + 0.15) for top in (0.42, 0.59, 0.76)]
    sprouts = [(0.24, 0.42), (0.5, 0.42), (0.76, 0.42)]
    return (
        *(stroke([(x, y), (x, 0.18)], 0.025, LEAF) for x, y in sprouts),
        *(leaf(x, 0.26, turn, 0.19) for x, _ in sprouts for turn in (-0.15, 0.15)),
        shape([(0.08, 0.36), (0.92, 0.36), (0.92, 0.44), (0.08, 0.44)], BARK_DARK, EDGE, 0.015),
        *(box(*plank, 0.015, BARK_LIGHT, BARK_DARK) for plank in planks),
        bars((0.1, 0.4, 0.17, 0.94), (0.83, 0.4, 0.9, 0.94), ink=BARK),
        dot(0.5, 0.67, 0.2, CREAM),
        down_arrow(0.5, 0.67, 0.13),
    )


# ------------------------------------------------------------------------------------------------------------- large ones


def basket(look: Look) -> Art:
    """Return a basket under a cloth."""
    body = [(0.08, 0.42), (0.92, 0.42), (0.82, 0.92), (0.18, 0.92)]
    weave = [
        bars((x, y, x + 0.09, y + 0.05), ink=blend(BARK_LIGHT, BARK, 0.25))
        for row, y in enumerate((0.62, 0.685, 0.75, 0.815))
        for x in [0.195 + 0.11 * k + 0.055 * (row % 2) for k in range(6 - row % 2)]
        if x + 0.09 < 0.85 - (y - 0.5) * 0.12
    ]
    cloth = [(0.08, 0.38), (0.92, 0.38), (0.84, 0.56), (0.72, 0.48), (0.58, 0.6), (0.44, 0.48), (0.3, 0.6), (0.16, 0.5)]
    return (
        stroke(arc(0.5, 0.44, 0.34, 0.36, 0.5, 1.0), 0.075, BARK_DARK),
        stroke(arc(0.5, 0.44, 0.34, 0.36, 0.5, 1.0), 0.045, BARK_LIGHT),
        shape(body, BARK, EDGE, 0.02),
        *weave,
        shape(cloth, CLOTH, EDGE, 0.015),
        *(
            dot(x, y, 0.02, WHITE)
            for x, y in ((0.2, 0.43), (0.34, 0.45), (0.48, 0.43), (0.62, 0.45), (0.78, 0.43), (0.57, 0.53), (0.3, 0.53))
        ),
    )


def bush(look: Look) -> Art:
    """Return a bush with one berry per hit point."""
    lumps = [
        (0.28, 0.66, 0.24),
        (0.72, 0.66, 0.24),
        (0.32, 0.38, 0.22),
        (0.68, 0.38, 0.22),
        (0.5, 0.28, 0.22),
        (0.5, 0.62, 0.28),
    ]
    berries = [
        (0.5, 0.24),
        (0.3, 0.36),
        (0.7, 0.36),
        (0.5, 0.46),
        (0.2, 0.6),
        (0.8, 0.6),
        (0.36, 0.62),
        (0.64, 0.62),
        (0.3, 0.8),
        (0.54, 0.8),
    ]
    return (
        *(dot(x, y, r + 0.02, LEAF_DARK) for x, y, r in lumps),
        *(dot(x, y, r, LEAF) for x, y, r in lumps),
        *(dot(x - 0.03, y - 0.04, r * 0.68, blend(LEAF, LEAF_LIGHT, 0.55)) for x, y, r in lumps),
        *(dot(x, y, 0.052, (120, 16, 40)) for x, y in berries[: look.hp]),
        *(dot(x, y, 0.042, (222, 44, 78)) for x, y in berries[: look.hp]),
        *(dot(x - 0.015, y - 0.015, 0.012, WHITE) for x, y in berries[: look.hp]),
    )


# Where gnomes stand, by how many there are: (x, y, size) of each
GNOME_PLACES: tuple[tuple[tuple[float, float, float], ...], ...] = (
    (),
    ((0.5, 0.5, 0.46),),
    ((0.28, 0.5, 0.31), (0.72, 0.5, 0.31)),
    ((0.5, 0.27, 0.25), (0.26, 0.72, 0.25), (0.74, 0.72, 0.25)),
    ((0.26, 0.27, 0.25), (0.74, 0.27, 0.25), (0.26, 0.73, 0.25), (0.74, 0.73, 0.25)),
    ((0.33, 0.27, 0.22), (0.67, 0.27, 0.22), (0.18, 0.73, 0.22), (0.5, 0.73, 0.22), (0.82, 0.73, 0.22)),
    tuple((x, y, 0.22) for y in (0.27, 0.73) for x in (0.18, 0.5, 0.82)),
)


def gnomes(look: Look) -> Art:
    """Return one gnome per color with hit points; its beard shows its counter."""
    counters = [(color + 1, count) for color, count in enumerate(look.counts) if count]
    parts: list[Painter] = [box(0.03, 0.03, 0.97, 0.97, 0.1, (196, 220, 170), LEAF_DARK)]
    for (color, count), (x, y, size) in zip(counters, GNOME_PLACES[len(counters)], strict=True):
        parts += gnome(color, x, y, size, str(count))
    return tuple(parts)


def gnome(color: int, x: float, y: float, size: float, text: str = "") -> Art:
    """Return a gnome; `size` is half its height."""
    ink, half_width = INKS[color], 0.7 * size

    def at(px: float, py: float) -> Place:
        return x + px * half_width, y + py * size

    return (
        ball(*at(-0.8, -0.2), *at(0.8, 0.55), SKIN, EDGE, 0.015),
        shape(
            [at(-0.95, 0.1), at(-0.3, -0.02), at(0.3, -0.02), at(0.95, 0.1), at(0.7, 0.7), at(0, 1), at(-0.7, 0.7)],
            WHITE,
            EDGE,
            0.015,
        ),
        shape([at(-0.95, -0.05), at(0, -1), at(0.95, -0.05)], ink, EDGE, 0.015),
        dot(*at(0, 0.07), 0.16 * size, (232, 140, 110)),
        mark(color, *at(0, -0.33), 0.2 * size, contrast_color(color)),
        *((label(text, *at(0, 0.53), 0.72 * size, INK),) if text else ()),
    )


ART: dict[str, Callable[[Look], Art]] = {
    "basic": basic,
    "rocket_h": lambda look: rocket(False),
    "rocket_v": lambda look: rocket(True),
    "bomb": bomb,
    "flask": flask,
    "rock": rock,
    "dandelion": dandelion,
    "chestnut": chestnut,
    "sunflower": sunflower,
    "pot": pot,
    "mushroom": mushroom,
    "snail": snail,
    "stump": stump,
    "basket": basket,
    "bush": bush,
    "gnomes": gnomes,
    "butterfly": butterfly,
    "polaroid": polaroid,
    "chest": chest,
    "weed": weed,
    "seedbag": seedbag,
    "seedbox": seedbox,
    "beehive": beehive,
    "sprinkler": sprinkler,
    "dispenser": dispenser,
    "bucket": bucket,
}
PAINT = {CODES[name]: draw for name, draw in ART.items()}
assert list(PAINT) == list(CODES.values())
