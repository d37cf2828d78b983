"""The tables of a report in LaTeX, for papers: booktabs, with the numbers of the terminal and the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from momagames.files.writing import write_file_atomically
from momagames.reports.data.report_data import ReportData
from momagames.reports.text.labels import NO_SCORE, SAME_NAME_MARK, format_bounds
from momagames.reports.text.report_tables import list_tables
from momagames.reports.text.table import PAPER, Cell, Number, Runs, Table
from momagames.wording import show_controls

HEADER = "% Tables of momagames bench report. Needs \\usepackage{booktabs} and \\usepackage{graphicx}.\n"
SPECIAL = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    SAME_NAME_MARK: r"$\diamond$",
    "–": "--",
}  # fmt: skip
MAX_NARROW = 5  # columns of a table in one column of a paper; with more it spans both


def escape(text: str) -> str:
    """Return text in which no character has a meaning of its own in LaTeX; control characters are shown as escapes."""
    return "".join(SPECIAL.get(character, character) for character in show_controls(text))


def latex_report(data: ReportData, every: bool = False, names: Sequence[str] = ()) -> str:
    """Return the tables of `Report.table` as LaTeX: the overview, the primary panels, and the aggregate over all games.

    every     add the other panels, the ESR and SER utilities, the fairness over agents, and the head-to-head results
    names     the indicators of the panels, in this order; empty: all that the suite names
    Raises    InvalidParameter for an indicator that no panel has

    Each table is a `table` environment with caption and label, as wide as the line at most; wide ones span both columns of a
    paper (`table*`). The best value of each indicator
    is bold, all of them where several are equal after rounding; intervals are small.
    """
    return HEADER + "\n" + "\n".join(map(draw_latex, list_tables(data, PAPER, every, names)))


def write_latex(data: ReportData, path: str | Path, every: bool = False, names: Sequence[str] = ()) -> None:
    """Write the tables of `latex_report` to a file. Raises InvalidFile, InvalidParameter."""
    write_file_atomically(Path(path), latex_report(data, every, names))


def draw_latex(table: Table) -> str:
    """Return a table; its texts are escaped here. Methods without a finished run have no row."""
    selected = table.select_columns(PAPER).drop_unfinished()
    best = selected.find_best()
    head = " & ".join(escape(column.heading) for column in selected.columns)
    rows = [" & ".join(_format_cell(one, (i, j) in best) for j, one in enumerate(row)) for i, row in enumerate(selected.rows)]
    first, *others = (line + r" \\" for line in (head, *rows))
    environment = "table*" if len(selected.columns) > MAX_NARROW else "table"
    caption = ". ".join(filter(None, [table.title, table.notes]))
    if table.best_of_rows:
        caption = caption.replace("* marks", "bold marks").replace(" below", "")
    return "\n".join(
        [
            rf"\begin{{{environment}}}[tbp]",
            r"\centering",
            rf"\caption{{{escape(caption)}}}",
            rf"\label{{tab:{table.name}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{''.join('l' if column.is_text else 'r' for column in selected.columns)}}}",
            r"\toprule",
            first,
            r"\midrule",
            *others,
            r"\bottomrule",
            r"\end{tabular}}",
            rf"\end{{{environment}}}",
            "",
        ]
    )


def _format_cell(cell: Cell, is_best: bool) -> str:
    if isinstance(cell, Number):
        value, bounds = escape(cell.text), format_bounds(cell.at, cell.form)
        bold = rf"\textbf{{{value}}}" if is_best else value
        return bold + (rf" {{\scriptsize {bounds}}}" if bounds else "")
    return escape(f"{cell.finished}" if isinstance(cell, Runs) else NO_SCORE if cell is None else cell)
