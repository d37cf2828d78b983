"""Images of the cells of MO-Pommerman: each kind has its own shape and color. Sizes are fractions of a cell."""

from __future__ import annotations

from dataclasses import dataclass

from momagames.games.pommerman.rules.state import (
    AGENT,
    BOMB,
    DOWN,
    EXTRA_BOMB,
    FLAMES,
    FOG,
    KICK,
    LEFT,
    PASSAGE,
    RANGE,
    RIGHT,
    RIGID,
    UP,
    WOOD,
)
from momagames.render import canvas, shapes
from momagames.render.canvas import INK, WHITE, Color, Painter, Sheet
from momagames.render.shapes import bars, block, disc, label, oval, polygon, star

FLOOR, EDGE = (240, 235, 221), (224, 217, 199)
STONE, STONE_LIGHT, STONE_DARK = (84, 92, 107), (112, 121, 138), (52, 58, 70)
PLANK, PLANK_LIGHT, PLANK_DARK = (196, 142, 82), (214, 166, 108), (122, 80, 38)
MIST, MIST_DARK = (184, 190, 202), (164, 171, 185)
GLOW = ((246, 236, 214), (252, 224, 180), (255, 206, 140))  # under flames of life 0, 1 and 2
FIRE: tuple[tuple[Color, ...], ...] = (
    ((232, 148, 92), (252, 216, 160)),
    ((226, 88, 20), (255, 190, 40)),
    ((214, 44, 8), (255, 170, 0), (255, 246, 200)),
)
RED = (176, 22, 14)
PLATE, PLATE_EDGE = (255, 253, 246), (120, 112, 96)
SEAT_CODES = ("#1f5fa8", "#f09a00", "#064a26", "#a898dc")
SEATS: tuple[Color, ...] = tuple(canvas.color(code) for code in SEAT_CODES)
UNKNOWN_OWNER = -1  # owner of a bomb whose owner is hidden
ARROW = shapes.COLORS[4]
LAST_STEPS = 3  # a bomb is red when it has as many steps left
# Marks of a cell: in the range of a bomb, about to turn into a wall
UNMARKED, IN_RANGE, FALLING = range(3)
HATCHES: dict[int, tuple[int, Color]] = {IN_RANGE: (1, (230, 92, 160)), FALLING: (-1, (92, 88, 84))}


@dataclass(frozen=True)
class Bomb:
    """A bomb: the steps it has left, 0 or the direction in which it rolls, its owner or UNKNOWN_OWNER."""

    life: int
    direction: int
    owner: int


def seat_color(seat: int, teams: bool) -> int:
    """Return the index of an agent's color: its own, or that of its team."""
    return seat & 1 if teams else seat


@canvas.cache_drawing(maxsize=8192)
def draw_cell(
    side: int, code: int, life: int = 0, bomb: Bomb | None = None, teams: bool = False, dead: int = -1, mark: int = UNMARKED
) -> Sheet:
    """Return the image of a cell, uint8[side, side, 3]; it is cached, so do not write into it.

    code    its code on the board
    life    of its flames
    bomb    on it, if any (an agent may stand on it)
    teams   colors are those of teams
    dead    the agent that died here, -1: none (shown on an empty cell)
    mark    stripes on the ground, see HATCHES; thin ones where they lie over something
    """
    ground = flames(life) if code == FLAMES else GROUNDS.get(code, passage())
    over = code in GROUNDS or code == FLAMES
    stripes = hatch(*HATCHES[mark], 4, 0.07 if over else 0.13) if mark else ()
    figure: tuple[Painter, ...] = ()
    if code in ICONS:
        figure = (block(0.12, 0.18, PLATE_EDGE), block(0.16, 0.15, PLATE), *ICONS[code])
    elif code == BOMB and bomb is not None:
        figure = bomb_body(bomb, teams)
    elif code >= AGENT:
        figure = agent_body(code - AGENT, teams, bomb is not None) + (badge(bomb, teams) if bomb is not None else ())
    elif code == PASSAGE and dead >= 0:
        figure = grave(dead)
    return canvas.paint(side, FLOOR, *ground, *stripes, *figure)


def hatch(slope: int, ink: Color, count: int, wide: float) -> tuple[Painter, ...]:
    """Slanting stripes that run on from cell to cell: `count` a cell, each so wide."""
    starts = [k / count for k in range(2 * count)]
    if slope > 0:
        return tuple(polygon([(x, 0), (x + wide, 0), (x + wide - 1, 1), (x - 1, 1)], ink) for x in starts)
    return tuple(polygon([(x - 1, 0), (x + wide - 1, 0), (x + wide, 1), (x, 1)], ink) for x in starts)


def passage() -> tuple[Painter, ...]:
    return (bars((0, 0.965, 1, 1), (0.965, 0, 1, 1), ink=EDGE),)


def rigid() -> tuple[Painter, ...]:
    """A block of stone, lit from the top left."""
    return (
        block(0, 0, STONE_DARK),
        polygon([(0.03, 0.03), (0.97, 0.03), (0.84, 0.16), (0.16, 0.84), (0.03, 0.97)], STONE_LIGHT),
        bars((0.14, 0.14, 0.86, 0.86), ink=STONE),
    )


def wood() -> tuple[Painter, ...]:
    """A crate of planks."""
    planks = [(0.14, top, 0.86, top + 0.2) for top in (0.14, 0.4, 0.66)]
    return (
        block(0.02, 0.06, PLANK_DARK),
        block(0.06, 0.03, PLANK),
        bars((0.12, 0.12, 0.88, 0.88), ink=PLANK_DARK),
        bars(*planks, ink=PLANK_LIGHT),
        polygon([(0.14, 0.74), (0.14, 0.86), (0.26, 0.86), (0.86, 0.26), (0.86, 0.14), (0.74, 0.14)], PLANK),
    )


def fog() -> tuple[Painter, ...]:
    return (block(0, 0, MIST), *hatch(1, MIST_DARK, 3, 0.17))


def flames(life: int) -> tuple[Painter, ...]:
    """A burst that shrinks with its life."""
    radius = (0.27, 0.4, 0.52)[life]
    tongues = (6, 8, 10)[life]
    colors = FIRE[life]
    layers = [star(radius * (1 - 0.32 * k), radius * (1 - 0.32 * k) * 0.62, tongues, ink) for k, ink in enumerate(colors)]
    return (block(0, 0, GLOW[life]), *layers)


def extra_bomb() -> tuple[Painter, ...]:
    return (
        oval(0.25, 0.31, 0.67, 0.73, INK),
        polygon([(0.57, 0.36), (0.65, 0.26), (0.7, 0.3), (0.62, 0.41)], INK),
        bars((0.59, 0.66, 0.81, 0.73), (0.665, 0.585, 0.735, 0.805), ink=RED),
    )


def blast_range() -> tuple[Painter, ...]:
    """A flame between two arrows."""
    heads = [[(0.2, 0.5), (0.32, 0.36), (0.32, 0.64)], [(0.8, 0.5), (0.68, 0.36), (0.68, 0.64)]]
    return (
        bars((0.28, 0.46, 0.72, 0.54), ink=INK),
        *(polygon(head, INK) for head in heads),
        polygon([(0.5, 0.22), (0.62, 0.42), (0.6, 0.62), (0.5, 0.72), (0.4, 0.62), (0.38, 0.42)], FIRE[1][0]),
        polygon([(0.5, 0.42), (0.56, 0.54), (0.5, 0.66), (0.44, 0.54)], FIRE[1][1]),
    )


def kick() -> tuple[Painter, ...]:
    """A boot."""
    leg = [(0.3, 0.24), (0.52, 0.24), (0.53, 0.5), (0.76, 0.56), (0.78, 0.68), (0.3, 0.68)]
    return (polygon(leg, SEATS[0]), bars((0.28, 0.68, 0.79, 0.74), ink=INK), bars((0.28, 0.24, 0.54, 0.31), ink=INK))


GROUNDS = {RIGID: rigid(), WOOD: wood(), FOG: fog()}
ICONS = {EXTRA_BOMB: extra_bomb(), RANGE: blast_range(), KICK: kick()}


def bomb_color(bomb: Bomb) -> Color:
    return RED if bomb.life <= LAST_STEPS else INK


def ring_color(bomb: Bomb, teams: bool) -> Color:
    return WHITE if bomb.owner == UNKNOWN_OWNER else SEATS[seat_color(bomb.owner, teams)]


def bomb_body(bomb: Bomb, teams: bool) -> tuple[Painter, ...]:
    """A bomb with its steps left, a ring in its owner's color, and an arrow where it rolls."""
    ink = bomb_color(bomb)
    parts: tuple[Painter, ...] = (
        polygon([(0.66, 0.26), (0.76, 0.12), (0.84, 0.17), (0.74, 0.32)], INK),
        spark(0.82, 0.14, 0.1, FIRE[2][1]),
        disc(0.41, ink),
        disc(0.37, ring_color(bomb, teams)),
        disc(0.315, WHITE),
        disc(0.295, ink),
        label(str(bomb.life), 0.5, 0.5, 0.5, WHITE),
    )
    if bomb.direction:
        parts += (arrow(bomb.direction, 0.02, 0.25, INK), arrow(bomb.direction, 0.05, 0.19, ARROW))
    return parts


def arrow(direction: int, tip: float, wide: float, ink: Color) -> Painter:
    """The head of an arrow at the edge of a cell."""
    base = tip + 0.2
    upwards = [(0.5, tip), (0.5 + wide, base), (0.5 - wide, base)]
    turned = {
        UP: upwards,
        DOWN: [(x, 1 - y) for x, y in upwards],
        LEFT: [(y, x) for x, y in upwards],
        RIGHT: [(1 - y, x) for x, y in upwards],
    }
    return polygon(turned[direction], ink)


def spark(x: float, y: float, radius: float, ink: Color) -> Painter:
    """A spark."""
    return polygon([(x, y - radius), (x + radius / 3, y), (x, y + radius), (x - radius / 3, y)], ink)


def badge(bomb: Bomb, teams: bool) -> tuple[Painter, ...]:
    """A bomb under an agent, in the corner."""
    return (
        oval(0.5, 0.5, 1, 1, INK),
        oval(0.53, 0.53, 0.97, 0.97, ring_color(bomb, teams)),
        oval(0.57, 0.57, 0.93, 0.93, bomb_color(bomb)),
        label(str(bomb.life), 0.75, 0.75, 0.34, WHITE),
    )


def agent_body(seat: int, teams: bool, shifted: bool = False) -> tuple[Painter, ...]:
    """An agent: its own or its team's shape and color, and its number. `shifted`: away from the bottom right corner."""
    index = seat_color(seat, teams)
    ink = SEATS[index]
    x, y = (0.42, 0.42) if shifted else (0.5, 0.5)
    number = label(str(seat), x, y, 0.54, WHITE if shapes.is_dark(ink) else INK)
    return (outline(index, 0.06, INK), outline(index, 0.1, ink), number)


def outline(index: int, margin: float, ink: Color) -> Painter:
    """The shape that goes with SEATS[index]."""
    low, high = margin, 1 - margin
    if index == 0:
        return disc(0.5 - margin, ink)
    if index == 1:
        return block(margin + 0.02, 0.1, ink)
    if index == 2:
        return polygon([(0.5, low - 0.04), (high + 0.04, 0.5), (0.5, high + 0.04), (low - 0.04, 0.5)], ink)
    return polygon([(0.27, low), (0.73, low), (high, 0.5), (0.73, high), (0.27, high), (low, 0.5)], ink)


def grave(seat: int) -> tuple[Painter, ...]:
    """Return the mark of a dead agent."""
    return (disc(0.3, EDGE), disc(0.25, FLOOR), label(str(seat), 0.5, 0.5, 0.36, (168, 160, 142)))
