"""Tables in a terminal of 80 columns, drawn by Rich."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from momagames.analysis.statistics import Interval
from momagames.reports.summary import SummaryRow
from momagames.reports.text.labels import NO_SCORE
from momagames.reports.text.table import TERMINAL, Cell, Number, Runs, Table

MAX_COMPARED = 5  # columns of a table that compares rows; more are split into several tables


def draw_tables(tables: Iterable[Table]) -> Group:
    """Return tables for the terminal."""
    return Group(*(part for table in tables for part in _draw_table(table.select_columns(TERMINAL))))


def draw_summary(rows: Sequence[SummaryRow]) -> RichTable:
    """Return a line for each comparison: the best methods, and the next one, with their means and controllability."""
    title = "Mean hypervolume, as a share of that of the exact front or of the best one known"
    if any(row.control for row in rows):
        title += f"; then the controllability ({NO_SCORE}: no policies for weights)"
    table = RichTable(title=title, title_justify="left", title_style="dim", box=None, padding=(0, 1, 0, 0))
    for name in ("comparison", "best", "next"):
        table.add_column(name, overflow="fold", style="bold" if name == "best" else "")
    for row in rows:
        control = dict(row.control)
        table.add_row(row.title, _describe_best(row.best, control), _describe_best(row.others[:1], control))
    return table


def _describe_best(methods: Sequence[tuple[str, float]], control: Mapping[str, float]) -> str:
    """Return the names of methods of one mean, that mean, and their controllability, if any method of the row has one."""
    names = ", ".join(name for name, _ in methods)
    means = [f"{mean:.3f}" for _, mean in methods[:1]]
    steering = [f"{control[name]:.3f}" if name in control else NO_SCORE for name, _ in methods] if control else []
    return " ".join(filter(None, [names, *means, ", ".join(steering)]))


def _draw_table(table: Table) -> Iterator[RenderableType]:
    title = ": ".join(filter(None, [table.title, table.subtitle]))
    if not table.notes_apart:
        yield _make_table(table, title, table.notes)
        return
    yield Text(title, "bold")
    for part in _split_rows(table) if table.best_of_rows else [table]:
        yield _make_table(part, "", "")
    if not table.notes_follow:
        yield Text(f"{table.notes}\n", "dim italic")


def _split_rows(table: Table) -> Iterator[Table]:
    """Yield a table for each set of columns that rows fill, of a few columns each."""
    filled = [tuple(j for j, cell in enumerate(row) if j and cell != "") for row in table.rows]
    for columns in dict.fromkeys(filled):
        rows = [row for row, own in zip(table.rows, filled, strict=True) if own == columns]
        for first in range(0, len(columns), MAX_COMPARED):
            yield replace(table, rows=rows).with_columns([0, *columns[first : first + MAX_COMPARED]])


def _make_table(table: Table, title: str, caption: str) -> RichTable:
    drawn = RichTable(
        title=title,
        title_justify="left",
        title_style="bold",
        caption=caption,
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for column in table.columns:
        heading = column.short or column.heading
        drawn.add_column(
            heading.replace(column.break_at, "\n", 1) if column.break_at else heading,
            justify="left" if column.is_text else "right",
            no_wrap=column.wrap == "never",
            overflow="fold" if column.wrap == "letters" else "ellipsis",
        )
    for row in table.rows:
        if any(cell is not None for cell in row[1:]):
            drawn.add_row(*(_format_cell(cell, table.best_of_rows) for cell in row))
    return drawn


def _format_cell(cell: Cell, has_stars: bool) -> Text | str:
    if isinstance(cell, Number):
        star = "*" if has_stars and cell.is_best else ""
        mark = f"{cell.mark} " if cell.mark else ""
        return Text.assemble((star, "bold"), mark + cell.text, (_format_bounds(cell.at, cell.form), "dim"))
    if isinstance(cell, Runs):
        return f"{cell.finished}" + (f" (-{cell.missing})" if cell.missing else "")
    return NO_SCORE if cell is None else cell


def _format_bounds(at: Interval, form: str) -> str:
    """Return the bounds in a line of their own, rounded and without leading zeros: ".88–.97"; empty without a width."""
    short = ".0f" if form in (".0f", ".1f") else ".2f"
    low, high = (re.sub(r"^(-?)0\.", r"\1.", format(bound, short)) for bound in (at.low, at.high))
    return f"\n{low}–{high}" if at.has_width else ""
