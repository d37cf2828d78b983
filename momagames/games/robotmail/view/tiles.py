"""Images of cells, robots and mails of MO-RoboticMail: each kind has its own shape and color."""

from __future__ import annotations

from typing import NamedTuple

from momagames.games.robotmail.rules.state import BLUE, ENTER_BELOW, FULL, GRAY, GREEN, RED, WHITE, YELLOW
from momagames.render import canvas, shapes
from momagames.render.canvas import INK, Color, Painter, Sheet
from momagames.render.outlined_shapes import slab, stroke
from momagames.render.shapes import bars, label, oval, polygon

# Of the cells, by color code; the lines between cells, and the same for what is narrow
CODES = {WHITE: "#fdfcf8", GRAY: "#d6d2ce", GREEN: "#94d480", YELLOW: "#ffd83c", BLUE: "#70a6ee", RED: "#842c22"}
GROUNDS: dict[int, Color] = {code: canvas.color(text) for code, text in CODES.items()}
PLAYER_CODES = ("#221177", "#ee8811", "#4488aa", "#7700dd", "#550000", "#aa5500")
PLAYERS: tuple[Color, ...] = tuple(canvas.color(code) for code in PLAYER_CODES)
LINE, MORTAR = (176, 172, 166), (178, 104, 92)
NUMBER, BOLT = (96, 66, 0), (16, 48, 104)
LETTER, LETTER_EDGE, STAMP = (255, 255, 255), (52, 52, 52), (170, 24, 20)
MARK = (214, 40, 140)
CHARGED, LOW, HOLLOW = (70, 180, 110), (190, 20, 20), (250, 248, 240)


class Look(NamedTuple):
    """Visible attributes of a robot.

    label     letter of the player and number of the robot: "B3" is robot_3
    mail      index of its mail; 0: none
    battery   displayed battery, 0..10; None in games without battery
    """

    player: int
    label: str
    mail: int
    battery: int | None


@canvas.cache_drawing(maxsize=8192)
def draw_cell(
    side: int,
    color: int,
    narrow: bool = False,
    target: int = 0,
    mail: int | None = 0,
    robot: Look | None = None,
    marked: bool = False,
) -> Sheet:
    """Return the image of a cell, uint8[side, side, 3]; it is cached, so do not write into it.

    color    its code
    target   its number in the targets map
    mail     index of the mail that lies there; 0: none, None: hidden index
    robot    the robot on it, if any
    marked   the cell is related to the selected one
    """
    parts: tuple[Painter, ...] = ()
    if color == RED:
        parts += bricks()
    elif narrow:
        parts += corners(GROUNDS[color])
    if color in (GREEN, YELLOW, BLUE):
        parts += pad(GROUNDS[color])
    parts += sign(color, target, robot is not None)
    if mail != 0:
        parts += letter(0.14, 0.24, 0.86, 0.78, "?" if mail is None else str(mail))
    if robot is not None:
        parts += robot_body(robot)
    drawn = canvas.paint(side, GROUNDS[color], *parts)
    canvas.fill(drawn, side - 1, 0, side, side, LINE)
    canvas.fill(drawn, 0, side - 1, side, side, LINE)
    if marked:
        canvas.draw_frame(drawn, 0, 0, side - 1, max(3, side // 12), MARK)
    return drawn


def bricks() -> tuple[Painter, ...]:
    """The joints of a wall."""
    rows = [(0, y - 0.03, 1, y + 0.03) for y in (0.02, 0.345, 0.67)]
    joints = [
        (x - 0.03, y, x + 0.03, y + 0.33) for y, xs in ((0.02, (0.5,)), (0.345, (0.02, 0.98)), (0.67, (0.5,))) for x in xs
    ]
    return (bars(*rows, *joints, ink=MORTAR),)


def pad(ground: Color) -> tuple[Painter, ...]:
    """A plate on a cell where something happens: a light edge around its color, and a dark one below."""
    dark, light = (mix(ground, other, 0.3) for other in (INK, canvas.WHITE))
    return (
        slab(0.06, 0.08, 0.92, 0.94, 0.14, dark),
        slab(0.06, 0.05, 0.92, 0.9, 0.14, light),
        slab(0.09, 0.08, 0.89, 0.87, 0.11, ground),
    )


def mix(one: Color, other: Color, share: float) -> Color:
    """Return a mixture of two colors. share: of the second one"""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def corners(ground: Color) -> tuple[Painter, ...]:
    """The corners of a narrow cell, a little darker than it is."""
    red, green, blue = (round(0.8 * part) for part in ground)
    low, high, long = 0.05, 0.93, 0.2
    spots = [(low, low, long, long), (high, low, -long, long), (low, high, long, -long), (high, high, -long, -long)]
    return tuple(polygon([(x, y), (x + dx, y), (x, y + dy)], (red, green, blue)) for x, y, dx, dy in spots)


def sign(color: int, target: int, small: bool) -> tuple[Painter, ...]:
    """Return the symbol of a cell: in its center, or small in the upper left corner over a robot."""
    if color == YELLOW:
        return (label(str(target), 0.2, 0.17, 0.3, NUMBER) if small else label(str(target), 0.49, 0.48, 0.62, NUMBER),)
    if color == BLUE:
        return bolt(0.21, 0.17, 0.28) if small else bolt(0.49, 0.48, 0.74)
    return (label(str(target), 0.84, 0.86, 0.24, (112, 106, 100)),) if target else ()


def bolt(x: float, y: float, high: float) -> tuple[Painter, ...]:
    """A flash of lightning around a point."""
    outline = [(0.1, -0.5), (-0.3, 0.08), (-0.02, 0.08), (-0.12, 0.5), (0.3, -0.12), (0.02, -0.12)]
    return (polygon([(x + dx * high, y + dy * high) for dx, dy in outline], BOLT),)


def letter(left: float, top: float, right: float, bottom: float, text: str) -> tuple[Painter, ...]:
    """A mail with its index."""
    width, height = right - left, bottom - top
    edge = 0.045
    flap = [(left + edge, top + edge), (left + width / 2, top + 0.3 * height), (right - edge, top + edge)]
    return (
        bars((left, top, right, bottom), ink=LETTER_EDGE),
        bars((left + edge, top + edge, right - edge, bottom - edge), ink=LETTER),
        stroke(flap, 0.035, LETTER_EDGE),
        label(text, left + width / 2, top + 0.6 * height, 0.8 * height if len(text) < 2 else 0.72 * height, STAMP),
    )


@canvas.cache_drawing(maxsize=64)
def draw_mail(side: int, index: int) -> Sheet:
    """Return the image of a mail, uint8[side, side, 3]; it is cached."""
    return canvas.paint(side, canvas.PAPER, *plate(0, 0.02, 0.98, 0.98, str(index)))


def plate(left: float, top: float, right: float, bottom: float, text: str) -> tuple[Painter, ...]:
    """A mail that is carried."""
    edge, high = 0.035, 0.92 * (bottom - top)
    if len(text) > 1:
        high = min(high, 0.76 * (right - left))
    return (
        slab(left, top, right, bottom, 0.06, LETTER_EDGE),
        slab(left + edge, top + edge, right - edge, bottom - edge, 0.04, LETTER),
        label(text, (left + right) / 2, (top + bottom) / 2, high, STAMP),
    )


def robot_body(robot: Look) -> tuple[Painter, ...]:
    """A robot with its name, mail and battery."""
    ink = PLAYERS[robot.player]
    low = 0.86 if robot.battery is None else 0.78
    light = mix(ink, canvas.WHITE, 0.35)
    parts: tuple[Painter, ...] = (
        stroke([(0.43, 0.3), (0.41, 0.15)], 0.05, INK),  # an antenna, wheels, and the body
        oval(0.33, 0.06, 0.49, 0.22, INK),
        oval(0.36, 0.09, 0.46, 0.19, light),
        slab(0.01, 0.42, 0.97, low - 0.06, 0.07, canvas.WHITE),
        slab(0.03, 0.44, 0.95, low - 0.08, 0.06, INK),
        slab(0.075, 0.26, 0.905, low + 0.03, 0.17, canvas.WHITE),
        slab(0.095, 0.285, 0.885, low + 0.005, 0.15, INK),
        slab(0.12, 0.315, 0.86, low - 0.025, 0.12, light),
        slab(0.12, 0.36, 0.86, low - 0.025, 0.12, ink),
        label(
            robot.label,
            0.49,
            (0.32 + low) / 2,
            0.44 if len(robot.label) < 3 else 0.36,
            canvas.WHITE if shapes.is_dark(ink) else INK,
        ),
    )
    if robot.battery is not None:
        parts += gauge(0.06, 0.82, 0.92, 0.95, robot.battery)
    if robot.mail:
        parts += plate(0.48 if robot.mail > 9 else 0.62, 0.01, 0.95, 0.38, str(robot.mail))
    return parts


def gauge(left: float, top: float, right: float, bottom: float, battery: int) -> tuple[Painter, ...]:
    """Return a battery bar, in another color when the robot may enter a charger."""
    edge = 0.03
    inner = left + edge, right - edge
    until = inner[0] + (inner[1] - inner[0]) * battery / FULL
    fill = (bars((inner[0], top + edge, until, bottom - edge), ink=battery_color(battery)),) if battery else ()
    return (
        bars((left, top, right, bottom), ink=INK),
        bars((inner[0], top + edge, inner[1], bottom - edge), ink=HOLLOW),
        *fill,
    )


def battery_color(battery: int) -> Color:
    return LOW if battery <= ENTER_BELOW else CHARGED
