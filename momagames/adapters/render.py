"""Pictures and text of a running game, in the modes of PettingZoo and Gymnasium."""

from __future__ import annotations

import os
import time
from typing import Any, ClassVar

import numpy as np
from gymnasium import logger
from numpy.typing import NDArray

from momagames.adapters.options import RENDER_MODES, check_render_mode
from momagames.contract import Game, State
from momagames.errors import BadCall, MissingExtra
from momagames.render import canvas
from momagames.render.caption import Caption, text
from momagames.render.text import plain

FRAMES_PER_SECOND = 4.0
MARGIN = 14  # pixels around a picture
BESIDE = 400  # pixels: the caption of a narrower picture stands beside it, and may then be as wide


class Renderer:
    """Shows one game: as text (ansi), as a picture (rgb_array) or in a window (human).

    Raises   BadParameter for an unknown mode, MissingExtra for "human" without pygame
    """

    def __init__(self, game: Game, mode: str | None, frames_per_second: float = FRAMES_PER_SECOND) -> None:
        self.game, self.mode = game, check_render_mode(mode)
        self._caption: Caption | None = None
        self._window = Window(game.title, frames_per_second) if mode == "human" else None

    def show(self, state: State, last: Any, returns: NDArray[np.float64]) -> Any:
        """A position with its caption.

        last      the action that led here, or None
        returns   float64[A, K], what the agents have got so far
        Returns   str (ansi), uint8[H, W, 3] (rgb_array; the same size all through a game), or None (human)
        """
        if self._window is not None:
            self._window.show(self.picture(state, last, returns))
        elif self.mode == "rgb_array":
            return self.picture(state, last, returns)
        elif self.mode == "ansi":
            return self.text(state, last, returns)
        else:
            logger.warn(
                "render() shows nothing without a render mode; make the environment with one of "
                + ", ".join(f"render_mode={mode!r}" for mode in RENDER_MODES)
            )
        return None

    def text(self, state: State, last: Any, returns: NDArray[np.float64]) -> str:
        """The board and its caption as lines of plain text."""
        sketch = self.game.sketch
        board = self.game.show(state) if sketch is None else plain(sketch(state, last))
        return f"{board}\n\n{text(self.game, state, returns)}"

    def picture(self, state: State, last: Any, returns: NDArray[np.float64]) -> NDArray[np.uint8]:
        """The board with its caption below, or beside it where the board is narrow."""
        board = self.game.draw(state, last)
        width = board.shape[1]
        beside = width < BESIDE
        if self._caption is None:
            self._caption = Caption(self.game, BESIDE if beside else width)
        caption = self._caption.draw(state, returns)
        both = canvas.stack([board, caption], sideways=beside, gap=MARGIN)
        height, extent = both.shape[:2]
        sheet = canvas.blank(height + 2 * MARGIN + height % 2, extent + 2 * MARGIN + extent % 2)  # video wants even sides
        sheet[MARGIN : MARGIN + height, MARGIN : MARGIN + extent] = both
        return sheet

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()


class Window:
    """A window for pictures. Once a person has closed it, it stays closed, and the program goes on without it.

    pygame has one window in a process: the last that shows a picture has it.
    """

    _owner: ClassVar[Window | None] = None

    def __init__(self, title: str, frames_per_second: float) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ImportError as error:
            raise MissingExtra('render_mode="human" needs pygame-ce: pip install "momagames[render]"') from error
        self._pygame = pygame
        self._title, self._pause = title, 1 / frames_per_second
        self._closed = False
        self._shown = 0.0

    def show(self, picture: NDArray[np.uint8]) -> None:
        """Put a picture into the window, no sooner than the last one has been seen.

        Raises BadCall where no window can be opened
        """
        if self._closed:
            return
        time.sleep(max(0.0, self._shown + self._pause - time.monotonic()))
        display = self._pygame.display
        size = picture.shape[1], picture.shape[0]
        try:
            if Window._owner is not self or not display.get_init() or display.get_window_size() != size:
                display.init()
                display.set_mode(size)
                display.set_caption(self._title)
                Window._owner = self
        except self._pygame.error as error:
            raise BadCall(f"no window can be opened here ({error}); without a screen use render_mode='rgb_array'") from None
        display.get_surface().blit(self._pygame.image.frombuffer(picture.tobytes(), size, "RGB"), (0, 0))
        display.flip()
        self._shown = time.monotonic()
        if any(event.type == self._pygame.QUIT for event in self._pygame.event.get()):
            self.close()

    def close(self) -> None:
        """Take the window away, unless another game has it now."""
        if Window._owner is self:
            self._pygame.display.quit()
            Window._owner = None
        self._closed = True
