"""What the cells and pieces of the games look like, as pictures for the docs."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

import momagames
from momagames.engine.episode import Episode
from momagames.games.pommerman.rules import state as codes
from momagames.games.pommerman.view.tiles import FALLING, IN_RANGE, UNKNOWN_OWNER, Bomb, draw_cell
from momagames.games.robotmail.layouts import loader as layouts
from momagames.games.robotmail.rules import state as mail
from momagames.games.robotmail.view import drawing
from momagames.games.robotmail.view import tiles as robots
from momagames.games.tileblast.levels import loader as levels
from momagames.games.tileblast.rules.pieces import CODES, COVERS, KINDS
from momagames.games.tileblast.view import tiles
from momagames.games.tileblast.view.art_shapes import Look
from momagames.render import canvas

SIDE, LINE, LEFT, GAP = 40, 50, 12, 300  # pixels of the legend: of a cell, a row, the margin and a column

# A row of the legend: cells (code, then the other arguments of `tiles.cell`), and what they are
ROWS = (
    (((codes.PASSAGE,), (codes.RIGID,), (codes.WOOD,)), "passage, rigid wall, wood"),
    (((codes.EXTRA_BOMB,), (codes.RANGE,), (codes.KICK,)), "items: bomb, range, kick"),
    (tuple((codes.AGENT + seat,) for seat in range(4)), "agents 0 to 3"),
    (tuple((codes.AGENT + seat, 0, None, True) for seat in range(4)), "the same in teams"),
    (((codes.PASSAGE, 0, None, False, 1), (codes.FOG,)), "grave of agent 1, fog"),
    (((codes.BOMB, 0, Bomb(9, 0, 0)), (codes.BOMB, 0, Bomb(2, 0, 1)), (codes.BOMB, 0, Bomb(7, 0, UNKNOWN_OWNER))),
     "bombs: steps left, owner"),
    (((codes.BOMB, 0, Bomb(6, codes.RIGHT, 3)), (codes.AGENT + 2, 0, Bomb(8, 0, 2))), "rolling, under an agent"),
    (((codes.FLAMES, 2), (codes.FLAMES, 1), (codes.FLAMES, 0)), "flames: new to old"),
    (((codes.PASSAGE, 0, None, False, -1, IN_RANGE), (codes.WOOD, 0, None, False, -1, IN_RANGE)), "a bomb can reach it"),
    (((codes.PASSAGE, 0, None, False, -1, FALLING), (codes.WOOD, 0, None, False, -1, FALLING)), "becomes wall now"),
)  # fmt: skip
HALF = (len(ROWS) + 1) // 2

# MO-TileBlast: every kind but basics, and covers, with what is special about it; in rows
PIECE, ROW, COLUMN, ABREAST = 56, 70, 290, 3  # pixels of a picture, a row and a column, and columns
PIECES = {
    "rocket_h": "clears its row",
    "rocket_v": "clears its column",
    "bomb": "clears 21 cells",
    "flask": "clears all tiles of its color",
    "rock": "1 to 5 hits; does not fall",
    "dandelion": "one hit",
    "chestnut": "two hits",
    "sunflower": "1 to 4 hits",
    "pot": "1 to 3 hits by its own color",
    "mushroom": "the same, one hit; does not fall",
    "snail": "only power hits it",
    "stump": "only power hits it; does not fall",
    "basket": "three hits, by power only",
    "bush": "up to 10 hits, each counts",
    "gnomes": "as many hits of each color",
    "butterfly": "first hit: it takes that color",
    "polaroid": "two hits; heals in between",
    "chest": "the same; does not fall",
    "weed": "spreads when none is hit",
    "seedbag": "leaves at the bottom",
    "seedbox": "leaves at the bottom",
    "beehive": "a bee for each hit; stays",
    "sprinkler": "a bubble for each hit; stays",
    "dispenser": "a dandelion for each hit; stays",
    "bucket": "one hit: bubbles around it",
    "cage": "locks its cell until it is hit",
    "bubble": "bursts with the tile inside",
}
LEVELS, SHRUNK, TITLE = 12, 0.55, 26  # levels, size of their pictures, pixels of a title
GNOMES = (3, 2, 0, 1, 0, 0)

# MO-RoboticMail: cells (keywords of `tiles.cell`), and what they are
A0, B3, F35 = (robots.Look(*given) for given in ((0, "A0", 0, 10), (1, "B3", 7, 4), (5, "F35", 12, None)))
MAIL_CELLS: tuple[tuple[tuple[dict[str, Any], ...], str], ...] = (
    (({"color": mail.WHITE}, {"color": mail.GRAY}, {"color": mail.RED}), "start, plain cell, wall"),
    (({"color": mail.GREEN, "mail": 4}, {"color": mail.GREEN, "mail": None}), "a mail for receiver 4, one not seen"),
    (({"color": mail.YELLOW, "target": 4}, {"color": mail.BLUE}), "receiver of mail 4, charger"),
    (({"color": mail.GRAY, "narrow": True}, {"color": mail.WHITE, "narrow": True}), "narrow: only to deliver beside it"),
    (({"color": mail.GRAY, "robot": A0},), "robot_0 of player A, battery full"),
    (({"color": mail.WHITE, "robot": B3},), "robot_3 of player B: mail 7, low"),
    (({"color": mail.GRAY, "robot": F35},), "with mail 12, a game without batteries"),
    (({"color": mail.YELLOW, "target": 4, "robot": A0}, {"color": mail.BLUE, "robot": A0}), "on a receiver, on a charger"),
    (({"color": mail.YELLOW, "target": 4, "marked": True},), "goes with the cell pointed at"),
)
MAIL_SIDE, MAIL_LINE, MAIL_WIDE = 48, 58, 440  # pixels of a cell, a row and a column
SMALL = 28  # pixels of a cell of the boards


def pommerman() -> Image.Image:
    """What the cells of MO-Pommerman look like, in two columns."""
    wide = LEFT + 4 * (SIDE + 4) + GAP - 110
    sheet = canvas.blank(HALF * LINE + LEFT, 2 * wide)
    for k, (cells, text) in enumerate(ROWS):
        left, top = LEFT + k // HALF * wide, LEFT + k % HALF * LINE
        for n, given in enumerate(cells):
            x = left + n * (SIDE + 4)
            sheet[top : top + SIDE, x : x + SIDE] = draw_cell(SIDE, *given)
        canvas.write(sheet, left + 4 * (SIDE + 4) + 6, top + SIDE / 2, text, 14)
    return Image.fromarray(sheet)


def tileblast() -> Image.Image:
    """The pieces of MO-TileBlast, in columns."""
    rows = -(-len(PIECES) // ABREAST)
    sheet = canvas.blank((1 + rows) * ROW, ABREAST * COLUMN)
    for color in range(1, 7):
        put(sheet, 0, (color - 1) * (PIECE + 6), tiles.draw_piece(PIECE, Look(CODES["basic"], color=color)))
    canvas.write(sheet, 6 * (PIECE + 6) + 12, PIECE / 2 - 3, "basic", 15)
    canvas.write(sheet, 6 * (PIECE + 6) + 12, PIECE / 2 + 16, "two or more of a color burst when tapped", 12, canvas.FAINT)
    for k, (name, text) in enumerate(PIECES.items()):
        top, left = (1 + k // ABREAST) * ROW, k % ABREAST * COLUMN
        put(sheet, top, left, example(name))
        canvas.write(sheet, left + PIECE + 12, top + PIECE / 2 - 3, name, 15)
        canvas.write(sheet, left + PIECE + 12, top + PIECE / 2 + 16, text, 12, canvas.FAINT)
    return Image.fromarray(sheet)


def example(name: str) -> canvas.Picture:
    """A piece or a cover as it may stand in a level."""
    if name in COVERS:
        return tiles.draw_piece(PIECE, Look(CODES["basic"], color=3), COVERS.index(name))
    kind = KINDS[CODES[name]]
    color = 1 if kind.color == "one" else 0
    return tiles.draw_piece(PIECE, Look(CODES[name], kind.usual, kind.usual, color, GNOMES if name == "gnomes" else ()))


def put(sheet: canvas.Picture, top: int, left: int, picture: canvas.Picture) -> None:
    sheet[top + 6 : top + 6 + len(picture), left + 6 : left + 6 + len(picture)] = picture


def tileblast_levels() -> Image.Image:
    """The twelve levels of MO-TileBlast as they are dealt, three in a row, each with its number and title."""
    pictures = []
    for number in range(1, LEVELS + 1):
        play = Episode(momagames.spec("mo-tileblast-v0", level=number))
        play.reset(0)
        drawn = Image.fromarray(play.game.view.draw(play.state, None))
        small = drawn.resize((round(drawn.width * SHRUNK), round(drawn.height * SHRUNK)), Image.Resampling.LANCZOS)
        sheet = canvas.blank(small.height + TITLE + LEFT, small.width + LEFT)
        canvas.write(sheet, LEFT, TITLE / 2, f"{number}  {levels.load(number).title}", 15)
        sheet[TITLE : TITLE + small.height, : small.width] = np.asarray(small)
        pictures.append(sheet)
    rows = [canvas.stack(pictures[k : k + ABREAST], True) for k in range(0, LEVELS, ABREAST)]
    return Image.fromarray(canvas.stack(rows, False))


def robotmail() -> Image.Image:
    """What cells and robots of MO-RoboticMail look like, in two columns."""
    half = (len(MAIL_CELLS) + 1) // 2
    sheet = canvas.blank(half * MAIL_LINE + LEFT, 2 * MAIL_WIDE)
    for k, (cells, text) in enumerate(MAIL_CELLS):
        left, top = LEFT + k // half * MAIL_WIDE, LEFT + k % half * MAIL_LINE
        for n, given in enumerate(cells):
            x = left + n * (MAIL_SIDE + 4)
            sheet[top : top + MAIL_SIDE, x : x + MAIL_SIDE] = robots.draw_cell(MAIL_SIDE, **given)
        canvas.write(sheet, left + 3 * (MAIL_SIDE + 4) + 6, top + MAIL_SIDE / 2, text, 14)
    return Image.fromarray(sheet)


def robotmail_layouts() -> Image.Image:
    """The boards of MO-RoboticMail, four in a row, each with its name, and one of the generator, all with two robots."""
    boards = []
    for name in (*layouts.NAMES, layouts.RANDOM):
        play = Episode(momagames.spec("mo-robotmail-v0", layout=name))
        play.reset(0)
        height, width = int(play.state["height"]), int(play.state["width"])
        side = drawing.cell_side(height, width)
        drawn = Image.fromarray(play.game.view.draw(play.state))
        board = drawn.crop((drawing.EDGE, drawing.EDGE, drawing.EDGE + width * side, drawing.EDGE + height * side))
        small = board.resize((width * SMALL, height * SMALL), Image.Resampling.LANCZOS)
        sheet = canvas.blank(small.height + TITLE + LEFT, small.width + 2 * LEFT)
        canvas.write(sheet, LEFT, TITLE / 2, name, 15)
        sheet[TITLE : TITLE + small.height, LEFT : LEFT + small.width] = np.asarray(small)
        boards.append(sheet)
    rows = [canvas.stack(boards[k : k + 4], True) for k in range(0, len(boards), 4)]
    return Image.fromarray(canvas.stack(rows, False))


LEGENDS = {
    "pommerman-cells.png": pommerman,
    "tileblast-pieces.png": tileblast,
    "tileblast-levels.png": tileblast_levels,
    "robotmail-cells.png": robotmail,
    "robotmail-layouts.png": robotmail_layouts,
}
