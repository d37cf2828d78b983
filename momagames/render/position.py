"""A position as text and as a picture, for games with and without a view of their own."""

from __future__ import annotations

import textwrap
from typing import Any

from momagames.contract import Game, Line, State
from momagames.render import canvas
from momagames.render.text import plain

SIZE, ROW, MARGIN = 13, 19, 10  # pixels: letters, lines, border
COLUMNS, ROWS = 60, 24  # characters and lines of a picture of text: all pictures of a game have one size
WIDTH = 480


def describe_position(game: Game, state: State, last: Any = None, **options: Any) -> list[Line]:
    """Return the lines of the game's view, or of the text of its codec."""
    if game.view.text is not None:
        return game.view.text(state, last, **options)
    return [[(line, "")] for line in game.codec.show(state).splitlines()]


def draw_position(game: Game, state: State, last: Any = None, **options: Any) -> canvas.Sheet:
    """Return the picture of the game's view, or one of its text; text that is too long is cut off."""
    if game.view.draw is not None:
        drawn: canvas.Sheet = game.view.draw(state, last, **options)
        return drawn
    lines = plain(describe_position(game, state, last, **options)).splitlines()
    picture = canvas.blank(ROWS * ROW + 2 * MARGIN, WIDTH)
    wrapped = [part for line in lines for part in textwrap.wrap(line, COLUMNS) or [""]]
    for row, line in enumerate(wrapped[:ROWS]):
        canvas.write(picture, MARGIN, MARGIN + (row + 0.5) * ROW, line, SIZE)
    return picture
