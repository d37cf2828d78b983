"""HTML tables with values and intervals."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from momagames.analysis.statistics import Interval
from momagames.reports.text.labels import format_bounds


def render_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column holds the row headers; for cells see `_render_cell`."""
    top = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    lines = "".join(
        f'<tr><th scope="row">{html.escape(row[0])}</th>'
        + "".join(f"<td>{_render_cell(text)}</td>" for text in row[1:])
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide" tabindex="0"><table><tr>{top}</tr>{lines}</table></div>'


def render_facts(facts: Iterable[tuple[str, str]]) -> str:
    """Return a table with a name and a value in each row."""
    rows = "".join(f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}</td></tr>' for name, value in facts)
    return f'<div class="wide" tabindex="0"><table class="facts">{rows}</table></div>'


def _render_cell(text: str) -> str:
    """Return the first line of the text, with the second line below it in small letters."""
    first, _, below = text.partition("\n")
    return html.escape(first) + (f"<small>{html.escape(below)}</small>" if below else "")


def format_cell(at: Interval, form: str = ".3f") -> str:
    """Return a value with its interval in a second line, for `render_table`."""
    return f"{at.value:{form}}\n{format_bounds(at, form)}"
