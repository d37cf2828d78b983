"""Parts of a page: figures with the select elements above them, tables, and what is folded."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from momagames.reports.figures.drawing import Drawing
from momagames.reports.figures.plotly_figures import convert_drawing
from momagames.reports.text.labels import NO_SCORE, format_bounds
from momagames.reports.text.table import PAGE, Cell, Column, Number, Runs, Table

THREE_OBJECTIVES = {"all": "all (3-D)", "parallel": "all (parallel coordinates)", "2d": "two (2-D)"}
MORE_OBJECTIVES = {"all": "all (parallel coordinates)", "2d": "two (2-D)", "3d": "three (3-D)"}
PROJECTION_NOTE = "In a projection to fewer objectives, points that are non-dominated in all objectives may be dominated."


@dataclass
class PageParts:
    """What the parts of a page have in common.

    figures     for plotly.js; figure i is drawn in the element with the id "fi"
    meanings    heading of a column of a table -> its meaning
    """

    figures: list[dict[str, Any]] = field(default_factory=list)
    meanings: dict[str, str] = field(default_factory=dict)

    def add_figure(self, drawing: Drawing, label: str) -> str:
        """Add a figure; return its place with its caption."""
        self.figures.append(convert_drawing(drawing))
        return self.place_figure(len(self.figures) - 1, label) + _render_caption(drawing.caption)

    def place_figure(self, number: int, label: str) -> str:
        """Return the place of a figure, which can be on the page once, below what chooses its content (templates/picker.js)."""
        place = f'<div class="figure" id="f{number}" role="group" aria-label="{html.escape(label)}"></div>'
        return _render_pickers(number, self.figures[number]) + place

    def add_table(self, table: Table, with_notes: bool = True) -> str:
        """Return a table whose first column holds the row headers, and its notes; "" if it has no rows, or is not for pages."""
        if not table.rows or PAGE not in table.media:
            return ""
        selected = table.select_columns(PAGE)
        self.meanings |= {column.heading: column.help for column in selected.columns if column.help}
        heads = [f'<th scope="col"{_style(one)}>{html.escape(one.heading)}</th>' for one in selected.columns]
        best = selected.find_best()
        body = ""
        for i, row in enumerate(selected.rows):
            cells = [_render_cell(cell, (i, j) in best, table.best_of_rows) for j, cell in enumerate(row)]
            first = f'<a href="#{table.links[i]}">{cells[0]}</a>' if table.links else cells[0]
            rest = "".join(f"<td{_style(c)}>{text}</td>" for c, text in zip(selected.columns[1:], cells[1:], strict=True))
            body += f'<tr><th scope="row"{_style(selected.columns[0])}>{first}</th>{rest}</tr>'
        notes = (
            f'<p class="caption">{html.escape(table.notes)}</p>'
            if table.notes and with_notes and not table.notes_follow
            else ""
        )
        kind = ' class="overview"' if table.best_of_rows else ""
        content = f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{body}</tbody>"
        return f'<div class="wide" tabindex="0"><table{kind}>{content}</table></div>{notes}'

    def explain_columns(self) -> str:
        """Return the meanings of the columns of all tables that were added."""
        terms = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in self.meanings.items())
        return fold("Definitions of the columns", f"<dl>{terms}</dl>")


def fold(title: str, content: str, place: str = "", is_open: bool = False) -> str:
    """Return content that can be folded under a title; `place` is its name in links. Nothing is folded without content."""
    name = f' id="{place}"' if place else ""
    return (
        f"<details{name}{' open' if is_open else ''}><summary>{html.escape(title)}</summary>{content}</details>"
        if content
        else ""
    )


def render_facts(facts: Iterable[tuple[str, str]]) -> str:
    """Return a table with a name and a value in each row."""
    rows = "".join(f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}</td></tr>' for name, value in facts)
    return f'<div class="wide" tabindex="0"><table class="facts">{rows}</table></div>'


def _render_caption(text: str) -> str:
    return f'<p class="caption">{html.escape(text)}</p>' if text else ""


def _style(column: Column) -> str:
    return f' class="{"label" if column.wrap == "letters" else "text"}"' if column.is_text else ""


def _render_cell(cell: Cell, is_best: bool, has_stars: bool) -> str:
    if isinstance(cell, Number):
        mark = f"{html.escape(cell.mark)} " if cell.mark else ""
        star = '<span aria-label="best">*</span>' if has_stars else ""
        value = f"<strong>{cell.text}{star}</strong>" if is_best else cell.text
        runs = f"n={cell.at.runs}" if has_stars else ""
        below = " ".join(filter(None, [format_bounds(cell.at, cell.form), runs]))
        return f"{mark}{value}" + (f"<small>{below}</small>" if below else "")
    if isinstance(cell, Runs):
        return f"{cell.finished}" + (f" <small>{cell.missing} missing</small>" if cell.missing else "")
    return NO_SCORE if cell is None else html.escape(cell)


def _render_pickers(number: int, figure: dict[str, Any]) -> str:
    """Return the select elements of a figure: its views, and the objectives on its axes if there are three or more."""
    parts = []
    if figure["views"]:
        parts.append(_select(number, "figure", "show", [view["label"] for view in figure["views"]]))
    if projections := figure.get("projections"):
        names = projections["names"]
        kinds = THREE_OBJECTIVES if len(names) == 3 else MORE_OBJECTIVES
        parts.append(_select(number, "kind", "objectives", list(kinds.values()), list(kinds)))
        parts += [_select(number, axis, axis, names, chosen=k, hidden=True) for k, axis in enumerate("xyz")]
        parts.append(f'<span class="note" data-note="{number}" hidden>{PROJECTION_NOTE}</span>')
    return f'<p class="picker">{" ".join(parts)}</p>' if parts else ""


def _select(
    number: int,
    role: str,
    label: str,
    texts: Sequence[str],
    values: Sequence[str] = (),
    chosen: int = 0,
    hidden: bool = False,
) -> str:
    options = "".join(
        f'<option value="{value}"{" selected" if i == chosen else ""}>{html.escape(text)}</option>'
        for i, (text, value) in enumerate(zip(texts, values or range(len(texts)), strict=False))
    )
    return f'<label{" hidden" if hidden else ""}>{label} <select data-{role}="{number}">{options}</select></label>'
