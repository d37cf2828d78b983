"""A window for pictures, with keyboard and mouse input. The only module that imports pygame."""

from __future__ import annotations

import os
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from momagames.errors import InvalidCall, MissingExtra

FIRST_BUTTON = 1  # left mouse button, or touch
HEADLESS_DRIVERS = ("dummy", "offscreen")  # pygame drivers without a screen


class Window:
    """A window for pictures. If the user closes it, it stays closed and the program continues.

    pygame has one window per process; it belongs to the last Window that showed a picture.

    pointer     position of the pointer in pixels (x, y) of the picture; None outside
    held_keys   names of the keys that are down, the latest last
    clicks      pixels at which the first button was pressed and released, as pairs, since the previous `poll_keys`
    closed      whether the window was closed
    """

    _owner: ClassVar[Window | None] = None

    def __init__(self, title: str) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ImportError as error:
            raise MissingExtra('a window (render_mode="human") needs pygame: pip install "momagames[render]"') from error
        self._pygame = pygame
        self._title = title
        self.pointer: tuple[int, int] | None = None
        self.held_keys: list[str] = []
        self.clicks: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self._pressed: tuple[int, int] | None = None
        self.closed = False

    def show(self, picture: NDArray[np.uint8]) -> None:
        """Show a picture, uint8[H, W, 3]; do nothing if the window has been closed.

        Raises InvalidCall if no window can be opened
        """
        if self.closed:
            return
        display = self._pygame.display
        size = picture.shape[1], picture.shape[0]
        try:
            if Window._owner is not self or not display.get_init() or display.get_window_size() != size:
                display.init()
                display.set_mode(size)
                display.set_caption(self._title)
                Window._owner = self
        except self._pygame.error as error:
            raise InvalidCall(f"cannot open a window ({error})") from None
        display.get_surface().blit(self._pygame.image.frombuffer(picture.tobytes(), size, "RGB"), (0, 0))
        display.flip()
        self._pygame.event.pump()

    def is_visible(self) -> bool:
        """Return whether there is a screen, or a pygame driver without one."""
        driver = self._pygame.display.get_driver()
        return driver not in HEADLESS_DRIVERS or os.environ.get("SDL_VIDEODRIVER") == driver

    def poll_keys(self) -> list[str]:
        """Return the names of the keys pressed since the last call ("up", "space", "3"); the window may close."""
        pygame, pressed = self._pygame, []
        self.clicks = []
        if Window._owner is not self or not pygame.display.get_init():
            return []
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                self.close()
                break
            if event.type == pygame.MOUSEMOTION:
                self.pointer = event.pos
            elif event.type in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP):
                self._handle_button(event.button, event.pos, event.type == pygame.MOUSEBUTTONDOWN)
            elif event.type == pygame.WINDOWLEAVE:
                self.pointer = None
            elif event.type == pygame.WINDOWFOCUSLOST:
                self.held_keys.clear()
            elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
                self._handle_key(pygame.key.name(event.key), event.type == pygame.KEYDOWN)
                if event.type == pygame.KEYDOWN:
                    pressed.append(pygame.key.name(event.key))
        return pressed

    def _handle_button(self, number: int, pixel: tuple[int, int], down: bool) -> None:
        if number != FIRST_BUTTON:
            return
        if not down and self._pressed is not None:
            self.clicks.append((self._pressed, pixel))
        self._pressed = pixel if down else None

    def _handle_key(self, name: str, down: bool) -> None:
        if name in self.held_keys:
            self.held_keys.remove(name)
        if down:
            self.held_keys.append(name)

    def close(self) -> None:
        """Close the window, unless another window has replaced it."""
        if Window._owner is self:
            self._pygame.display.quit()
            Window._owner = None
        self.closed = True
