"""Tables in Markdown, for pages of the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from momagames.reports.text.labels import NO_SCORE, describe_interval
from momagames.reports.text.table import SITE, Cell, Number, Runs, Table


def draw_markdown(table: Table) -> Iterator[str]:
    """Yield the lines of a table without its title and notes. Methods without a finished run have no row."""
    site = table.select_columns(SITE).drop_unfinished()
    rows = [[_format_cell(cell) for cell in row] for row in site.rows]
    yield from markdown_table([column.heading for column in site.columns], rows, sum(one.is_text for one in site.columns))


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> Iterator[str]:
    """Yield the lines of a table; the first `text_columns` columns are aligned left, the others right."""
    yield f"| {' | '.join(head)} |"
    yield "|---" * text_columns + "|---:" * (len(head) - text_columns) + "|"
    for row in rows:
        yield f"| {' | '.join(text.replace('|', chr(92) + '|') for text in row)} |"


def _format_cell(cell: Cell) -> str:
    if isinstance(cell, Number):
        text = ("~" if cell.is_estimate else "") + describe_interval(cell.at, cell.form)
        return f"**{text}**" if cell.is_best else text
    if isinstance(cell, Runs):
        return f"{cell.finished}" + (f" ({cell.missing} missing)" if cell.missing else "")
    return NO_SCORE if cell is None else cell
