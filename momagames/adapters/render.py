"""Rendering of an environment, in the modes of PettingZoo and Gymnasium."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from gymnasium import logger
from numpy.typing import NDArray

from momagames.adapters.options import RENDER_MODES, check_render_mode, check_render_options
from momagames.adapters.window import Window
from momagames.contract import Cells, Game, State
from momagames.errors import InvalidCall
from momagames.render import canvas
from momagames.render.between import draw_between
from momagames.render.caption import Caption, describe_status, format_caption, visible_returns
from momagames.render.position import describe_position, draw_position
from momagames.render.text import plain
from momagames.render.vectors import VectorPicture

FRAMES_PER_SECOND = 4.0
SLIDE_TIME = 0.12  # seconds between two positions in a window
MARGIN = 14  # pixels around a picture
BESIDE = 400  # pixels: the caption of a narrower picture is beside it, with at most this width


class Renderer:
    """Render one environment as text (ansi), as a picture of pixels (rgb_array) or shapes (svg), or in a window (human).

    options   render options of the game (see `View.render_options`); changes apply from the next frame on. In a window the
              pointer also sets options, and the key of the first letter of an option cycles its values
    Raises    InvalidParameter for an unknown mode or option, MissingExtra for "human" without pygame
    """

    def __init__(self, game: Game, mode: str | None, options: dict[str, Any] | None = None) -> None:
        self.game, self.mode = game, check_render_mode(mode)
        self.options = {} if options is None else options
        check_render_options(game, self.options)
        self._captions: dict[tuple[bool, bool], Caption] = {}  # by whether the paper is dark, and the picture SVG
        self.window = Window(game.title) if mode == "human" else None
        self._last_frame_time = 0.0
        self._previous: State | None = None  # in the window

    def render(self, state: State, last: Any, returns: NDArray[np.float64]) -> Any:
        """Render a position with its caption.

        last      the action that led here, or None
        returns   float64[A, K], returns of the agents so far
        Returns   str (ansi), uint8[H, W, 3] (rgb_array; the size is constant within a game), an SVG document as str (svg), or
                  None (human)
        Raises    InvalidCall for "svg" if the game draws pixels itself
        """
        if self.window is not None:
            self._show_in_window(self.window, state, last, returns)
        elif self.mode == "rgb_array":
            return self.draw_picture(state, last, returns)
        elif self.mode == "svg":
            return self.draw_svg(state, last, returns)
        elif self.mode == "ansi":
            return self.text(state, last, returns)
        else:
            logger.warn(
                "render() shows nothing without a render mode; make the environment with one of "
                + ", ".join(f"render_mode={mode!r}" for mode in RENDER_MODES)
            )
        return None

    def _show_in_window(self, window: Window, state: State, last: Any, returns: NDArray[np.float64]) -> None:
        """Show a position in the window, at the frame rate at most."""
        duration = 1 / FRAMES_PER_SECOND - (SLIDE_TIME if self._count_slides(self._previous, state) else 0.0)
        time.sleep(max(0.0, self._last_frame_time + duration - time.monotonic()))
        for key in window.poll_keys():
            self.cycle_option(key)
        if window.closed:
            return
        slides = self.draw_slides(self._previous, state, last, returns)
        try:
            for picture in slides:
                window.show(picture)
                time.sleep(SLIDE_TIME / len(slides))
            window.show(self.draw_picture(state, last, returns))
        except InvalidCall as error:
            raise InvalidCall(f"{error}; without a screen use render_mode='rgb_array'") from None
        self._previous = state.copy()
        self._last_frame_time = time.monotonic()

    def draw_slides(self, before: State | None, after: State, last: Any, returns: NDArray[np.float64]) -> list[canvas.Picture]:
        """Return the pictures that a window shows for `SLIDE_TIME` between a position and a later one, by the option `frames`.

        Arguments are those of `draw_between`. The list is empty unless `before` is an earlier position of the game
        """
        count = self._count_slides(before, after)
        return list(self.draw_between(before, after, last, returns, count)) if before is not None and count else []

    def _count_slides(self, before: State | None, after: State) -> int:
        if before is None or after["ply"] <= before["ply"]:
            return 0
        return int(check_render_options(self.game, self.options).get(canvas.FRAMES.name, canvas.FRAMES.default))

    def text(self, state: State, last: Any, returns: NDArray[np.float64]) -> str:
        """Return the board and its caption as lines of plain text."""
        known = {one.name for one in self.game.view.render_options}
        options = check_render_options(self.game, {name: self.options[name] for name in self.options if name in known})
        board = plain(describe_position(self.game, state, last, **options))
        return f"{board}\n\n{format_caption(self.game, state, visible_returns(self.game, returns, options.get('viewer')))}"

    def draw_picture(self, state: State, last: Any, returns: NDArray[np.float64]) -> canvas.Picture:
        """Return the board with its caption below, or beside it if the board is narrow."""
        return canvas.pixels(self._draw_sheet(state, last, returns, is_vector=False))

    def draw_svg(self, state: State, last: Any, returns: NDArray[np.float64]) -> str:
        """Return the same as an SVG document."""
        sheet = self._draw_sheet(state, last, returns, is_vector=True)
        assert isinstance(sheet, VectorPicture)
        return sheet.to_svg(f"{self.game.title}: {describe_status(self.game, state)}")

    def _draw_sheet(self, state: State, last: Any, returns: NDArray[np.float64], is_vector: bool) -> canvas.Sheet:
        options = check_render_options(self.game, {**self.options, **self.pointer_options(state)})
        options.pop(canvas.FRAMES.name, None)
        is_dark = bool(options.pop(canvas.DARK.name, False))
        with canvas.use_dark_paper(is_dark), canvas.use_vectors(is_vector):
            board = draw_position(self.game, state, last, **options)
            if is_vector and not isinstance(board, VectorPicture):
                raise InvalidCall(
                    f"{self.game.id} draws pixels: expected momagames.render.canvas for SVG, or use render_mode='rgb_array'"
                )
            width = board.shape[1]
            is_narrow = width < BESIDE
            if (is_dark, is_vector) not in self._captions:
                self._captions[is_dark, is_vector] = Caption(self.game, BESIDE if is_narrow else width)
            visible = visible_returns(self.game, returns, options.get("viewer"))
            caption = self._captions[is_dark, is_vector].draw(state, visible)
            captioned = canvas.stack([board, caption], sideways=is_narrow, gap=MARGIN)
            height, extent = captioned.shape[:2]
            # video codecs need even sides
            sheet = canvas.blank(height + 2 * MARGIN + height % 2, extent + 2 * MARGIN + extent % 2)
            canvas.place(sheet, MARGIN, MARGIN, captioned)
        return sheet

    def draw_between(
        self, before: State, after: State, last: Any, returns: NDArray[np.float64], count: int
    ) -> Iterator[canvas.Picture]:
        """Yield `count` pictures between a position and a later one, whose last action and returns are given.

        Pieces slide if the game says how; positions that are more than a step apart fade into each other.
        """
        options = check_render_options(self.game, self.options)
        options.pop(canvas.FRAMES.name, None)
        sheet = self.draw_picture(after, last, returns)
        animation = self.game.view.animation
        with canvas.use_dark_paper(bool(options.pop(canvas.DARK.name, False))):

            def draw(state: State, **hidden: Any) -> canvas.Picture:
                return canvas.pixels(draw_position(self.game, state, **options, **hidden))

            if animation is None or int(after["ply"]) != int(before["ply"]) + 1:
                second = draw(after)
                boards, slides, cells = (draw(before), second, second), [], Cells(0, 0, 1, *second.shape[:2])
            else:
                slides = animation.find_slides(before, after, last)
                moved = frozenset(end for _, end in slides)
                boards = draw(before, hidden=()), draw(after, hidden=()), draw(after, hidden=moved)
                cells = animation.locate_cells(after, options.get(canvas.SIZE.name))
        for picture in draw_between(*boards, slides, cells, count):
            whole = sheet.copy()
            canvas.place(whole, MARGIN, MARGIN, picture)
            yield whole

    def pointer_options(self, state: State) -> Mapping[str, Any]:
        """Return the render options for the position of the pointer."""
        if self.window is None or self.window.pointer is None or self.game.human.point is None:
            return {}
        x, y = self.window.pointer
        given = {one.name: self.options[one.name] for one in self.game.view.picture_options if one.name in self.options}
        return self.game.human.point(state, x - MARGIN, y - MARGIN, **given)

    def cycle_option(self, key: str) -> bool:
        """Switch the render option that begins with this letter to its next value. Return whether there is one."""
        for option in self.game.view.render_options:
            values = (False, True) if isinstance(option.default, bool) else option.choices
            if option.name[0] == key and values:
                index = values.index(self.options.get(option.name, option.default))
                self.options[option.name] = values[(index + 1) % len(values)]
                return True
        return False

    def close(self) -> None:
        """Close the window, if there is one."""
        if self.window is not None:
            self.window.close()
