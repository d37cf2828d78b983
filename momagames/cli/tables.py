"""Tables in the terminal: every cell is printed whole, whatever the width of the output."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.status import Status
from rich.table import Column, Table
from rich.text import Text

from momagames.wording import show_controls

TEXT_WIDTH = 16  # cells up to this width are not wrapped
UNLIMITED = 10_000  # width of an output that is no terminal


class TableConsole(Console):
    """A console that cuts nothing away.

    A table that is too wide wraps its long texts between words. If it is still too wide, it is printed as blocks: one for
    each row, with a line "name: value" for each cell. An output that is no terminal has no limit, unless COLUMNS sets one.

    Texts, which may come from files of others, are shown as they are written: brackets are no markup, `:name:` is no emoji, and
    control characters are escapes (see `show_controls`).
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, "highlight": False, **options})
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = UNLIMITED
        self._has_printed = False

    def print(self, *objects: Any, **options: Any) -> None:
        """Print without cutting lines at the width; in a pipe, without spaces at their ends and empty lines at first."""
        options = {"crop": False, **options}
        if self.is_terminal:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        text = re.sub(r" +$", "", captured.get(), flags=re.MULTILINE)
        self.file.write(text if self._has_printed else text.lstrip("\n"))
        self._has_printed = True

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render anything; tables, also those in groups, in a form that fits."""
        options = options or self.options
        if isinstance(renderable, Text) and (visible := show_controls(renderable.plain)) != renderable.plain:
            renderable = Text(visible, renderable.style)
        elif isinstance(renderable, Table) and renderable.show_header:  # else a grid, such as a progress bar
            renderable = _fit_table(self, renderable, options) or _make_blocks(renderable, options.max_width)
        return super().render(renderable, options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a text of `print`, a cell or a title."""
        return super().render_str(show_controls(text), **options)

    def status(self, status: RenderableType, **options: Any) -> Status:
        """Return a status; its text, also that of updates, is no markup."""
        return TextStatus(status, console=self, **options)


class TextStatus(Status):
    """A status whose texts are no markup."""

    def __init__(self, status: RenderableType, **options: Any) -> None:
        super().__init__(_make_text(status), **options)

    def update(self, status: RenderableType | None = None, **options: Any) -> None:
        """Replace the text, or options of Rich."""
        super().update(_make_text(status), **options)


def _make_text(renderable: Any) -> Any:
    return Text(show_controls(renderable)) if isinstance(renderable, str) else renderable


def make_table(*columns: str, numbers: Iterable[str] = ()) -> Table:
    """Return an empty table in the style of this package, whose last columns are those of numbers, aligned right."""
    return Table(*columns, *(Column(name, justify="right") for name in numbers), box=SIMPLE_HEAD, padding=(0, 1, 0, 0))


def format_facts(facts: Iterable[tuple[str, str]], width: int) -> Text:
    """Return a line "name: value" for each fact. Long values are wrapped between words; a word stays whole."""
    lines = [(f"{name}:" if name else "", show_controls(value)) for name, value in facts]
    margin = 1 + max(len(label) for label, _ in lines)
    text = Text(no_wrap=True, overflow="ignore")
    for label, value in lines:
        wrapped = textwrap.wrap(value, max(width - margin, TEXT_WIDTH), break_long_words=False, break_on_hyphens=False)
        text.append("\n" if text else "").append(label.ljust(margin), "dim").append(f"\n{' ' * margin}".join(wrapped))
    return text


def _fit_table(console: Console, table: Table, options: ConsoleOptions) -> Table | None:
    """Return the table with widths of its columns that fit, with narrow gaps if need be; None if it does not fit."""
    ranges = [_measure_column(console, column, options) for column in table.columns]
    for padding in [table.padding, (0, 0, 0, 0)] if table.box else [table.padding]:
        margins = _copy_table(table, [0] * len(ranges), padding).__rich_measure__(console, options).maximum
        for cap in range(options.max_width, 0, -1):
            widths = [max(least, min(most, cap)) for least, most in ranges]
            if sum(widths) + margins <= options.max_width:
                return _copy_table(table, widths, padding)
    return None


def _measure_column(console: Console, column: Column, options: ConsoleOptions) -> tuple[int, int]:
    """Return the least and the largest useful width of a column.

    Headers and long cells may be wrapped between words, and headers of columns with overflow="fold" also within words.
    """
    options = options.update(width=UNLIMITED)
    header = Measurement.get(console, options, column.header)
    cells = [Measurement.get(console, options, cell) for cell in column.cells]
    least = [each.maximum if column.no_wrap else max(each.minimum, min(each.maximum, TEXT_WIDTH)) for each in cells]
    words = 1 if column.overflow == "fold" else header.minimum
    return max([words, *least]), max(each.maximum for each in [header, *cells])


def _copy_table(table: Table, widths: list[int], padding: tuple[int, int, int, int]) -> Table:
    """Return a copy of a table with these widths of its columns, and this padding of its cells."""
    fitted = copy(table)
    fitted.padding = padding
    fitted.columns = [replace(column, width=width) for column, width in zip(table.columns, widths, strict=True)]
    return fitted


def _make_blocks(table: Table, width: int) -> Group:
    """Return the title of a table, a block of lines "name: value" for each row, and the caption."""
    names = [_join_lines(column.header) for column in table.columns]
    parts: list[RenderableType] = [Text(str(table.title), "bold")] if table.title else []
    for row in zip(*(column.cells for column in table.columns), strict=True):
        facts = zip(names, map(_join_lines, row), strict=True)
        parts += ["", format_facts([fact for fact in facts if fact[1]], width)]
    return Group(*parts, "", *([Text(str(table.caption), "dim italic")] if table.caption else []))


def _join_lines(cell: RenderableType) -> str:
    """Return the text of a cell in one line."""
    return " ".join(str(cell).split())
