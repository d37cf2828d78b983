"""Description of a table as plain data, which the terminal, the page, LaTeX and Markdown print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from momagames.analysis.statistics import Interval

TERMINAL, PAGE, PAPER, SITE = MEDIA = "terminal", "page", "paper", "site"  # the site: pages of the documentation


@dataclass(frozen=True)
class Number:
    """A value with its interval.

    form           of the value, and of its bounds where there is room
    is_estimate    "~" is before it
    is_best        of the row
    mark           before it, in the terminal
    """

    at: Interval
    form: str = ".3f"
    is_estimate: bool = False
    is_best: bool = False
    mark: str = ""

    @property
    def text(self) -> str:
        """The value without its interval."""
        return f"{'~' if self.is_estimate else ''}{self.at.value:{self.form}}"

    @property
    def rounded(self) -> float:
        """The value as it is printed."""
        return float(format(self.at.value, self.form))


@dataclass(frozen=True)
class Runs:
    """A number of finished runs, and of those that are missing."""

    finished: int
    missing: int = 0


Cell = Number | Runs | str | None  # None: without a value


@dataclass(frozen=True)
class Column:
    """A column.

    help              its meaning
    more_is_better    the direction of the best value; None: it has none
    break_at          where narrow outputs break the heading, which may also leave this out
    media             that have it
    wrap              where narrow outputs break long texts
    short             heading in terminals; "": the same
    """

    heading: str
    help: str = ""
    more_is_better: bool | None = None
    is_text: bool = False
    break_at: str = ""
    media: Sequence[str] = MEDIA
    wrap: Literal["words", "letters", "never"] = "words"
    short: str = ""


@dataclass(frozen=True)
class Table:
    """A table.

    name             of references in LaTeX
    subtitle         what the notes say, too, where they do not follow the title
    notes            captions; `notes_apart`: wider than the table; `notes_follow`: the next table has the same
    media            that have it
    best_of_rows     the best values are those of rows, and each row is a comparison of its own methods
    is_grouped       the best values of columns are those of rows with the same first cell
    links            places on the page that rows lead to
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: str = ""
    subtitle: str = ""
    notes_apart: bool = False
    notes_follow: bool = False
    media: Sequence[str] = MEDIA
    best_of_rows: bool = False
    is_grouped: bool = False
    links: Sequence[str] = ()

    def select_columns(self, medium: str) -> Table:
        """Return the table with the columns of a medium."""
        return self.with_columns([i for i, column in enumerate(self.columns) if medium in column.media])

    def drop_unfinished(self) -> Table:
        """Return the table without the rows of methods that have no finished run."""
        return replace(self, rows=[row for row in self.rows if all(cell.finished for cell in row if isinstance(cell, Runs))])

    def with_columns(self, indices: Sequence[int]) -> Table:
        """Return the table with these columns."""
        rows = [[row[i] for i in indices] for row in self.rows]
        return replace(self, columns=[self.columns[i] for i in indices], rows=rows)

    def find_best(self) -> set[tuple[int, int]]:
        """Return row and column of the best values: all that are equal after rounding, of two or more."""
        if self.best_of_rows:
            numbers = [(i, j, cell) for i, row in enumerate(self.rows) for j, cell in enumerate(row)]
            return {(i, j) for i, j, cell in numbers if isinstance(cell, Number) and cell.is_best}
        best = set()
        for j, column in enumerate(self.columns):
            groups: dict[Cell, dict[int, float]] = {}
            for i, row in enumerate(self.rows):
                if column.more_is_better is not None and isinstance(cell := row[j], Number):
                    groups.setdefault(row[0] if self.is_grouped else "", {})[i] = cell.rounded
            for values in groups.values():
                top = max(values.values()) if column.more_is_better else min(values.values())
                best |= {(i, j) for i, value in values.items() if value == top and len(values) > 1}
        return best
