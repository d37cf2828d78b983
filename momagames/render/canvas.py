"""Drawing of pictures: letters, tiles and frames, as arrays uint8[H, W, 3] or as SVG. Frequent drawings are cached.

All functions work on both kinds of sheets; `blank` and `paint` make arrays, and SVG pictures within `use_vectors`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from momagames.contract import Parameter
from momagames.render.vectors import Color as Color
from momagames.render.vectors import Drawing, Font, VectorDrawing, VectorPicture

Picture = NDArray[np.uint8]
Sheet = Picture | VectorPicture
Tiles = Picture | tuple[VectorPicture, ...]  # uint8[T, S, S, 3]
Painter = Callable[[Drawing, float], None]

PAPER: Color = (250, 249, 246)
INK: Color = (34, 34, 34)
FAINT: Color = (112, 112, 108)
WHITE: Color = (255, 255, 255)
LONG_SIDE = 560  # pixels that a board takes on its longer side, margins included
SIZE = Parameter("size", None, "pixels of the board on its longer side; None: as the game draws it", 120, 4000, optional=True)
DARK = Parameter("dark", False, "light letters on dark paper")
FRAMES = Parameter("frames", 6, "pictures between two positions, in a window", 0, 60)
DARK_COLORS: dict[Color, Color] = {PAPER: (23, 25, 28), INK: (228, 228, 228), FAINT: (150, 150, 146)}
SMOOTH = 4  # shapes are drawn this many times larger, then shrunk


P = ParamSpec("P")
T = TypeVar("T")
_is_dark: ContextVar[bool] = ContextVar("is_dark", default=False)
_is_vector: ContextVar[bool] = ContextVar("is_vector", default=False)


@contextmanager
def _set(variable: ContextVar[bool], value: bool) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def use_dark_paper(is_dark: bool) -> AbstractContextManager[None]:
    """Draw light letters on dark paper, or the usual ones."""
    return _set(_is_dark, is_dark)


def use_vectors(is_vector: bool) -> AbstractContextManager[None]:
    """Draw SVG pictures, or the usual arrays."""
    return _set(_is_vector, is_vector)


def shade(light: Color, dark: Color | None = None) -> Color:
    """Return a color of paper or letters, or its counterpart on dark paper."""
    return (dark or DARK_COLORS.get(light, light)) if _is_dark.get() else light


def cache_drawing(maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep the results of a drawing function, those on dark paper and SVG pictures apart."""

    def wrap(draw: Callable[P, T]) -> Callable[P, T]:
        @functools.lru_cache(maxsize=maxsize)
        def cached(is_dark: bool, is_vector: bool, *args: P.args, **kwargs: P.kwargs) -> T:
            return draw(*args, **kwargs)

        @functools.wraps(draw)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return cached(_is_dark.get(), _is_vector.get(), *args, **kwargs)  # type: ignore[arg-type]  # arguments are hashable

        call.cache_clear = cached.cache_clear  # type: ignore[attr-defined]
        return call

    return wrap


def color(code: str) -> Color:
    """Parse "#rrggbb" into (r, g, b)."""
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def to_hex(ink: Color) -> str:
    """Return a color as a text "#rrggbb"."""
    return "#" + "".join(f"{part:02x}" for part in ink)


def blank(height: int, width: int, paper: Color = PAPER) -> Sheet:
    """Return an empty picture, uint8[height, width, 3]."""
    if _is_vector.get():
        return VectorPicture(height, width, shade(paper))
    return _empty(height, width, shade(paper)).copy()


def pixels(sheet: Sheet) -> Picture:
    """Return a sheet that was not drawn within `use_vectors`, for functions that need an array."""
    assert isinstance(sheet, np.ndarray)
    return sheet


@functools.lru_cache(maxsize=16)
def _empty(height: int, width: int, paper: Color) -> Picture:
    return np.full((height, width, 3), paper, np.uint8)


@functools.lru_cache(maxsize=64)
def font(size: int) -> Font:
    """Return the font of all pictures, `size` pixels high."""
    return ImageFont.load_default(size)


@functools.lru_cache(maxsize=4096)
def _letters(text: str, size: int) -> NDArray[np.float32]:
    """Return the coverage of each pixel by the text, float32[height of the font, width of the text, 1]."""
    face = font(size)
    width, height = face.getbbox(text)[2], face.getbbox("Ápg_")[3]
    image = Image.new("L", (max(1, int(width + 1)), int(height + 1)))
    ImageDraw.Draw(image).text((0, 0), text, fill=255, font=face)
    cover: NDArray[np.float32] = np.asarray(image, np.float32)[..., None] / np.float32(255)
    return cover


def text_width(text: str, size: int) -> int:
    """Return the width of a text in pixels."""
    return int(_letters(text, size).shape[1])


@functools.lru_cache(maxsize=64)
def _ascent(size: int) -> int:
    """Return the pixels from the top of the letters to their baseline."""
    face = font(size)
    assert isinstance(face, ImageFont.FreeTypeFont)
    return face.getmetrics()[0]


@functools.lru_cache(maxsize=4096)
def _length(text: str, size: int) -> float:
    """Return the width of a text in fractions of pixels."""
    return font(size).getlength(text)


def write(picture: Sheet, x: float, y: float, text: str, size: int = 13, ink: Color = INK, align: str = "left") -> None:
    """Write a text into a picture, in place; parts outside the picture are clipped.

    x, y    where it starts ("left"), has its middle ("center") or ends ("right"); vertically always its middle
    size    height of the letters in pixels
    """
    if not text:
        return
    cover, ink = _letters(text, size), shade(ink)
    height, width = cover.shape[:2]
    left = round(x) - {"left": 0, "center": width // 2, "right": width}[align]
    top = round(y) - height // 2
    if isinstance(picture, VectorPicture):
        picture.write(x, top + _ascent(size), text, size, ink, align, _length(text, size))
        return
    cover = cover[max(0, -top) :, max(0, -left) :]
    under = picture[max(0, top) : max(0, top + height), max(0, left) : max(0, left + width)]
    cover = cover[: under.shape[0], : under.shape[1]]
    under[:] = np.rint(under * (1 - cover) + np.array(ink, np.float32) * cover)


def paint(size: int, paper: Color, *painters: Painter) -> Sheet:
    """Return a square picture, uint8[size, size, 3].

    painters   called with a drawing and its side in pixels; the drawing is larger and shrunk to `size` afterwards
    """
    if _is_vector.get():
        picture = VectorPicture(size, size, shade(paper))
        picture.paint(SMOOTH, _draw_vectors(size, painters))
        return picture
    return _paint_pixels(size, shade(paper), painters)


def _paint_pixels(size: int, paper: Color, painters: tuple[Painter, ...]) -> Picture:
    image = Image.new("RGB", (size * SMOOTH, size * SMOOTH), paper)
    drawing = ImageDraw.Draw(image)
    for painter in painters:
        painter(drawing, float(size * SMOOTH))
    return np.array(image.resize((size, size), Image.Resampling.BOX))


def _draw_vectors(size: int, painters: tuple[Painter, ...], ink: Color | None = None) -> VectorDrawing:
    drawing = VectorDrawing(ink)
    for painter in painters:
        painter(drawing, float(size * SMOOTH))
    return drawing


def tint(picture: Sheet, ink: Color, strength: float, *where: Painter) -> Sheet:
    """Return a square picture with a translucent color over it.

    strength   0..1, opacity of the color
    where      painters in white of the colored part
    """
    side = picture.shape[0]
    if isinstance(picture, VectorPicture):
        tinted = picture.copy()
        tinted.paint(SMOOTH, _draw_vectors(side, where, ink), strength)
        return tinted
    cover = _paint_pixels(side, (0, 0, 0), where)[..., :1] * np.float32(strength / 255)
    blended: Picture = np.rint(picture * (1 - cover) + np.array(ink, np.float32) * cover).astype(np.uint8)
    return blended


def place(sheet: Sheet, top: int, left: int, picture: Sheet, strength: float = 1.0) -> None:
    """Place a picture on a sheet, in place. strength: its opacity, 0..1"""
    if isinstance(sheet, VectorPicture):
        assert isinstance(picture, VectorPicture)
        sheet.place(top, left, picture, strength)
        return
    above = pixels(picture)
    under = sheet[top : top + above.shape[0], left : left + above.shape[1]]
    under[:] = above if strength == 1 else np.rint(strength * above + (1 - strength) * under)


def fill(sheet: Sheet, top: int, left: int, bottom: int, right: int, ink: Color) -> None:
    """Fill a rectangle of a sheet, in place."""
    if isinstance(sheet, VectorPicture):
        sheet.fill(top, left, bottom, right, ink)
    else:
        sheet[top:bottom, left:right] = ink


def crop(picture: Sheet, top: int, left: int, height: int, width: int) -> Sheet:
    """Return a part of a picture."""
    if isinstance(picture, VectorPicture):
        part = VectorPicture(height, width)
        part.place(-top, -left, picture)
        return part
    return picture[top : top + height, left : left + width]


def join_tiles(tiles: Sequence[Sheet]) -> Tiles:
    """Return square pictures of one size as the tiles of a `mosaic`."""
    vectors = tuple(tile for tile in tiles if isinstance(tile, VectorPicture))
    return vectors or np.stack([tile for tile in tiles if not isinstance(tile, VectorPicture)])


def mosaic(tiles: Tiles, board: NDArray[np.int64]) -> Sheet:
    """Return a board of square tiles.

    tiles    uint8[T, S, S, 3], see `join_tiles`
    board    int64[H, W], an index into the tiles for each cell
    Returns  uint8[H * S, W * S, 3]
    """
    height, width = board.shape
    if isinstance(tiles, tuple):
        side = tiles[0].shape[0]
        # what shines through between tiles, where readers smooth their edges, is not the color of the page
        sheet = VectorPicture(height * side, width * side, tiles[0].paper)
        for (row, column), index in np.ndenumerate(board):
            sheet.place(row * side, column * side, tiles[index])
        return sheet
    side = tiles.shape[1]
    return tiles[board].transpose(0, 2, 1, 3, 4).reshape(height * side, width * side, 3)


def clear_cells(board: NDArray[np.int64], cells: Collection[tuple[int, int]]) -> NDArray[np.int64]:
    """Return a board with zeros in these cells (row, column)."""
    if cells:
        board = board.copy()
        board[tuple(np.transpose(list(cells)))] = 0
    return board


def fit_cells(cells: int, margin: int, size: int | None) -> int:
    """Return the pixels of a cell side.

    cells    on the longer side of a board
    margin   pixels beside them
    size     pixels of cells and margin; None: LONG_SIDE
    """
    return max(1, ((size or LONG_SIDE) - margin) // cells)


def draw_frame(picture: Sheet, top: int, left: int, side: int, thick: int, ink: Color) -> None:
    """Draw the edge of a square into a picture, in place."""
    if isinstance(picture, VectorPicture):
        picture.frame(top, left, side, thick, ink)
        return
    square = picture[top : top + side, left : left + side]
    square[:thick], square[-thick:], square[:, :thick], square[:, -thick:] = ink, ink, ink, ink


def cell_at(place: tuple[float, float], top: int, left: int, side: int, height: int, width: int) -> tuple[int, int] | None:
    """Return row and column of the cell at a pixel (x, y) on a board of square cells, or None outside the board.

    top, left       pixel at which the board begins
    side            pixels of a cell
    height, width   rows and columns
    """
    row, column = int((place[1] - top) // side), int((place[0] - left) // side)
    return (row, column) if 0 <= row < height and 0 <= column < width else None


def draw_line(picture: Sheet, start: tuple[float, float], end: tuple[float, float], thick: int, ink: Color) -> None:
    """Draw a straight line from (x, y) to (x, y), in place, with smooth edges and round ends."""
    if isinstance(picture, VectorPicture):
        picture.line(start, end, thick, ink)
        return
    low = [max(0, int(min(a, b) - thick)) for a, b in zip(start, end, strict=True)]
    high = [int(max(a, b) + thick + 1) for a, b in zip(start, end, strict=True)]
    under = picture[low[1] : high[1], low[0] : high[0]]
    rows, columns = np.mgrid[low[1] : low[1] + under.shape[0], low[0] : low[0] + under.shape[1]] + 0.5
    dx, dy = end[0] - start[0], end[1] - start[1]
    along = np.clip(((columns - start[0]) * dx + (rows - start[1]) * dy) / max(1e-9, dx * dx + dy * dy), 0, 1)
    distance = np.hypot(columns - start[0] - along * dx, rows - start[1] - along * dy)
    cover = np.clip(thick / 2 + 0.5 - distance, 0, 1)[..., None]
    under[:] = np.rint(under * (1 - cover) + np.array(ink) * cover)


def stack(pictures: Sequence[Sheet], sideways: bool, gap: int = 0) -> Sheet:
    """Return pictures below each other, or side by side, on one sheet: aligned left (top), with a gap between them."""
    along, across = (1, 0) if sideways else (0, 1)
    total, widest = sum(p.shape[along] for p in pictures) + gap * (len(pictures) - 1), max(p.shape[across] for p in pictures)
    sheet = blank(widest, total) if sideways else blank(total, widest)
    start = 0
    for p in pictures:
        place(sheet, *((0, start) if sideways else (start, 0)), p)
        start += p.shape[along] + gap
    return sheet
