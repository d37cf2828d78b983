"""Pictures as SVG documents: the drawing functions of `canvas` and the part of Pillow's ImageDraw that painters use."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol
from xml.sax.saxutils import escape

from PIL import ImageFont

from momagames.wording import show_controls

Color = tuple[int, int, int]
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
FAMILY = "Aileron, Helvetica, Arial, sans-serif"  # the first is the font of pictures of pixels
ANCHORS = {"left": "start", "center": "middle", "right": "end"}


class Drawing(Protocol):
    """The methods of a drawing that painters call; those of Pillow's ImageDraw, with corners as [left, top, right, bottom]."""

    def rectangle(self, xy: Sequence[float], fill: Color | None = None) -> None: ...

    def rounded_rectangle(
        self, xy: Sequence[float], radius: float, fill: Color | None = None, outline: Color | None = None, width: int = 1
    ) -> None: ...

    def ellipse(self, xy: Sequence[float], fill: Color | None = None, outline: Color | None = None, width: int = 1) -> None: ...

    def polygon(self, xy: Sequence[Sequence[float]], fill: Color | None = None) -> None: ...

    def line(
        self, xy: Sequence[Sequence[float]], fill: Color | None = None, width: int = 1, joint: str | None = None
    ) -> None: ...

    def text(
        self,
        xy: tuple[float, float],
        text: str,
        fill: Color | None = None,
        font: Font | None = None,
        anchor: str | None = None,
    ) -> None: ...


def format_length(value: float) -> str:
    """Format a coordinate with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"


def format_color(color: Color) -> str:
    """Format a color as "#rrggbb"."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def format_tag(name: str, content: str | None = None, **attributes: str | float | None) -> str:
    """Return an element; attributes of None are left out, "_" in their names becomes "-"."""
    pairs = "".join(
        f' {key.replace("_", "-")}="{value if isinstance(value, str) else format_length(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{pairs}/>" if content is None else f"<{name}{pairs}>{content}</{name}>"


def format_text(text: str, x: float, baseline: float, size: float, ink: str, align: str, length: float) -> str:
    """Return an element of text; its letters are fitted into `length`, as fonts of readers differ."""
    fitted = length if len(text) > 1 else None
    return format_tag(
        "text",
        escape(show_controls(text)),
        x=x,
        y=baseline,
        font_size=size,
        fill=ink,
        text_anchor=None if align == "left" else ANCHORS[align],
        textLength=fitted,
        lengthAdjust=fitted and "spacingAndGlyphs",
    )


class VectorDrawing:
    """A `Drawing` that collects SVG elements.

    Pillow's boxes include their last pixels, so that they are wider by one here, and it draws outlines inside of them.

    ink   color of all shapes; None: as the painters say
    """

    def __init__(self, ink: Color | None = None) -> None:
        self.elements: list[str] = []
        self.ink = ink

    def _format_ink(self, color: Color | None) -> str:
        return "none" if color is None else format_color(self.ink or color)

    def rectangle(self, xy: Sequence[float], fill: Color | None = None) -> None:
        left, top, right, bottom = xy
        self.elements.append(
            format_tag("rect", x=left, y=top, width=right + 1 - left, height=bottom + 1 - top, fill=self._format_ink(fill))
        )

    def rounded_rectangle(
        self, xy: Sequence[float], radius: float, fill: Color | None = None, outline: Color | None = None, width: int = 1
    ) -> None:
        left, top, right, bottom = xy
        inset = width / 2 if outline else 0.0
        self.elements.append(
            format_tag(
                "rect",
                x=left + inset,
                y=top + inset,
                width=right + 1 - left - 2 * inset,
                height=bottom + 1 - top - 2 * inset,
                rx=max(0.0, radius - inset),
                fill=self._format_ink(fill),
                stroke=self._format_ink(outline) if outline else None,
                stroke_width=width if outline else None,
            )
        )

    def ellipse(self, xy: Sequence[float], fill: Color | None = None, outline: Color | None = None, width: int = 1) -> None:
        left, top, right, bottom = xy
        inset = width / 2 if outline else 0.0
        self.elements.append(
            format_tag(
                "ellipse",
                cx=(left + right + 1) / 2,
                cy=(top + bottom + 1) / 2,
                rx=max(0.0, (right + 1 - left) / 2 - inset),
                ry=max(0.0, (bottom + 1 - top) / 2 - inset),
                fill=self._format_ink(fill),
                stroke=self._format_ink(outline) if outline else None,
                stroke_width=width if outline else None,
            )
        )

    def polygon(self, xy: Sequence[Sequence[float]], fill: Color | None = None) -> None:
        self.elements.append(format_tag("polygon", points=_format_points(xy), fill=self._format_ink(fill)))

    def line(self, xy: Sequence[Sequence[float]], fill: Color | None = None, width: int = 1, joint: str | None = None) -> None:
        self.elements.append(
            format_tag(
                "polyline",
                points=_format_points(xy),
                fill="none",
                stroke=self._format_ink(fill),
                stroke_width=width,
                stroke_linejoin="round" if joint else None,
            )
        )

    def text(
        self,
        xy: tuple[float, float],
        text: str,
        fill: Color | None = None,
        font: Font | None = None,
        anchor: str | None = None,
    ) -> None:
        """Add a text centered at a point, which is what the anchor "mm" means."""
        assert isinstance(font, ImageFont.FreeTypeFont)
        assert anchor == "mm"
        ascent, descent = font.getmetrics()
        baseline = xy[1] + (ascent - descent) / 2
        self.elements.append(
            format_text(text, xy[0], baseline, font.size, self._format_ink(fill), "center", font.getlength(text))
        )


def _format_points(xy: Sequence[Sequence[float]]) -> str:
    return " ".join(f"{format_length(x)},{format_length(y)}" for x, y in xy)


class Placement(NamedTuple):
    """A picture on another one; strength: its opacity, 0..1."""

    left: float
    top: float
    picture: VectorPicture
    strength: float


class VectorPicture:
    """A picture of shapes and text, in the place of an array uint8[H, W, 3]. Lengths are pixels of that array.

    shape   (H, W, 3)
    paper   color behind everything; None: transparent
    """

    def __init__(self, height: int, width: int, paper: Color | None = None) -> None:
        self.shape: tuple[int, int, int] = (height, width, 3)
        self.paper = paper
        self.items: list[str | Placement] = []
        if paper is not None:
            self.fill(0, 0, height, width, paper)

    def copy(self) -> VectorPicture:
        """Return a copy; placed pictures are shared."""
        twin = VectorPicture(*self.shape[:2])
        twin.paper, twin.items = self.paper, list(self.items)
        return twin

    def fill(self, top: float, left: float, bottom: float, right: float, ink: Color) -> None:
        """Fill a rectangle. Its edges lie on pixels, so that rectangles side by side leave no gap at any scale."""
        rectangle = format_tag(
            "rect",
            x=left,
            y=top,
            width=right - left,
            height=bottom - top,
            fill=format_color(ink),
            shape_rendering="crispEdges",
        )
        self.items.append(rectangle)

    def place(self, top: float, left: float, picture: VectorPicture, strength: float = 1.0) -> None:
        """Place a picture; what it draws outside of itself is clipped."""
        self.items.append(Placement(left, top, picture, strength))

    def paint(self, scale: float, drawing: VectorDrawing, strength: float = 1.0) -> None:
        """Add the shapes of a drawing, made `scale` times larger."""
        if drawing.elements:
            opacity = None if strength == 1 else strength
            self.items.append(format_tag("g", "".join(drawing.elements), transform=f"scale({1 / scale:g})", opacity=opacity))

    def frame(self, top: float, left: float, side: float, thick: float, ink: Color) -> None:
        """Draw the edge of a square."""
        inset = thick / 2
        self.items.append(
            format_tag(
                "rect",
                x=left + inset,
                y=top + inset,
                width=side - thick,
                height=side - thick,
                fill="none",
                stroke=format_color(ink),
                stroke_width=thick,
            )
        )

    def line(self, start: tuple[float, float], end: tuple[float, float], thick: float, ink: Color) -> None:
        """Draw a straight line with round ends from (x, y) to (x, y)."""
        (x1, y1), (x2, y2) = start, end
        self.items.append(
            format_tag(
                "line",
                x1=x1,
                y1=y1,
                x2=x2,
                y2=y2,
                stroke=format_color(ink),
                stroke_width=thick,
                stroke_linecap="round",
            )
        )

    def write(self, x: float, baseline: float, text: str, size: int, ink: Color, align: str, length: float) -> None:
        """Write a text; see `format_text`."""
        self.items.append(format_text(text, x, baseline, size, format_color(ink), align, length))

    def to_svg(self, title: str) -> str:
        """Return an SVG document; a picture that is placed more than once becomes a symbol."""
        writer = _Writer(self)
        body = writer.format_items(self)
        height, width = self.shape[:2]
        name = escape(show_controls(title))
        return format_tag(
            "svg",
            "\n".join(["", f"<title>{name}</title>", format_tag("defs", "".join(writer.symbols.values())), body, ""]),
            xmlns="http://www.w3.org/2000/svg",
            width=width,
            height=height,
            viewBox=f"0 0 {width} {height}",
            font_family=FAMILY,
        )


class _Writer:
    """Writes the pictures of one document.

    symbols   elements by their names, which are hashes of their contents: documents in one page do not disturb each other
    """

    def __init__(self, picture: VectorPicture) -> None:
        self.symbols: dict[str, str] = {}
        self._names: dict[int, str] = {}
        self._counts: Counter[int] = Counter()
        self._count_placements(picture)

    def _count_placements(self, picture: VectorPicture) -> None:
        for item in picture.items:
            if isinstance(item, Placement):
                self._counts[id(item.picture)] += 1
                if self._counts[id(item.picture)] == 1:
                    self._count_placements(item.picture)

    def format_items(self, picture: VectorPicture) -> str:
        """Return the elements of a picture; symbols that they use are added."""
        return "\n".join(item if isinstance(item, str) else self._format_placement(item) for item in picture.items)

    def _format_placement(self, placed: Placement) -> str:
        picture = placed.picture
        height, width = picture.shape[:2]
        opacity = None if placed.strength == 1 else placed.strength
        place: dict[str, Any] = {"x": placed.left, "y": placed.top, "width": width, "height": height, "opacity": opacity}
        if self._counts[id(picture)] == 1:
            return format_tag("svg", f"\n{self.format_items(picture)}\n", **place)
        if id(picture) not in self._names:
            body = self.format_items(picture)
            name = self._names[id(picture)] = f"t{zlib.crc32(f'{width} {height} {body}'.encode()):08x}"
            self.symbols[name] = "\n" + format_tag("symbol", body, id=name, viewBox=f"0 0 {width} {height}")
        return format_tag("use", href=f"#{self._names[id(picture)]}", **place)
