"""The tables of a report in LaTeX, for papers: booktabs, with the numbers of the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from momagames.analysis.named_indicators import Indicator
from momagames.analysis.statistics import Interval
from momagames.benchmark.plan import Indicators
from momagames.files.writing import write_file_atomically
from momagames.reports.data.aggregate import Aggregate
from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.data.generalization import MORE_IS_BETTER, list_intervals
from momagames.reports.data.overview import OverviewRow, list_methods
from momagames.reports.data.panels import Panel
from momagames.reports.data.report_data import ReportData
from momagames.reports.data.team_fairness import FAIRNESS_COLUMNS, LORENZ_FRONT, measure_team_fairness
from momagames.reports.text.captions import (
    CONTROL_CAPTION,
    FAIRNESS_CAPTION,
    GENERALIZATION_CAPTION,
    PAIRS_CAPTION,
    UTILITY_CAPTION,
    aggregate_caption,
    crossplay_caption,
    overview_caption,
    panel_caption,
    ratings_caption,
    sort_ratings,
)
from momagames.reports.text.labels import (
    EXACT_MARK,
    SAME_NAME_MARK,
    STATISTIC_LABELS,
    format_bounds,
    generalization_heads,
)
from momagames.reports.text.sections import TableMaker, make_tables
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
FAIRNESS_DIRECTIONS = {"Gini": False, LORENZ_FRONT: None}  # of the others, more is better


@dataclass(frozen=True)
class Value:
    """A number of a table.

    text      the value, rounded
    bounds    the interval, rounded; "" without one
    """

    text: str
    bounds: str = ""
    is_best: bool = False

    @staticmethod
    def of(at: Interval, form: str = ".3f", is_best: bool = False, approx: bool = False) -> Value:
        return Value(f"{'~' if approx else ''}{at.value:{form}}", format_bounds(at, form), is_best)


Cell = Value | str


def escape(text: str) -> str:
    """Return text in which no character has a meaning of its own in LaTeX; control characters are shown as escapes."""
    return "".join(SPECIAL.get(character, character) for character in show_controls(text))


def latex_report(data: ReportData, every: bool = False) -> str:
    """Return the tables of `Report.table` as LaTeX: the overview, the primary panels, and the aggregate over all games.

    every    add the other panels, the ESR and SER utilities, the fairness over agents, and the head-to-head results

    Each table is a `table` environment with caption and label, as wide as the line at most; wide ones span both columns of a
    paper (`table*`). The best value of each indicator
    is bold, all of them where several are equal after rounding; intervals are small.
    """
    return HEADER + "\n" + "\n".join(make_tables(data, LATEX, every))


def write_latex(data: ReportData, path: str | Path, every: bool = False) -> None:
    """Write the tables of `latex_report` to a file. Raises InvalidFile."""
    write_file_atomically(Path(path), latex_report(data, every))


def format_table(label: str, caption: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], text_columns: int = 1) -> str:
    """Return a table; its texts are escaped here.

    label           of references, after "tab:"
    text_columns    number of columns with texts, aligned left; the others are aligned right
    """
    columns = "l" * text_columns + "r" * (len(head) - text_columns)
    lines = [" & ".join(map(escape, head)), *(" & ".join(map(_format_cell, row)) for row in rows)]
    first, *others = (line + r" \\" for line in lines)
    environment = "table*" if len(head) > MAX_NARROW else "table"
    return "\n".join(
        [
            rf"\begin{{{environment}}}[tbp]",
            r"\centering",
            rf"\caption{{{escape(caption)}}}",
            rf"\label{{tab:{label}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{columns}}}",
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


def _format_cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return escape(cell)
    value = escape(cell.text)
    bold = rf"\textbf{{{value}}}" if cell.is_best else value
    return bold + (rf" {{\scriptsize {cell.bounds}}}" if cell.bounds else "")


def _mark_best(cells: Mapping[str, Value | None], more_is_better: bool | None) -> dict[str, Cell]:
    """Return the column of a table by method: the best of two or more values are marked; a dash without a value."""
    numbers = {name: float(cell.text.lstrip("~")) for name, cell in cells.items() if cell is not None}
    best = None
    if more_is_better is not None and len(numbers) > 1:
        best = max(numbers.values()) if more_is_better else min(numbers.values())
    return {name: "–" if cell is None else Value(cell.text, cell.bounds, numbers[name] == best) for name, cell in cells.items()}


def _overview(data: ReportData) -> Iterator[str]:
    methods = list_methods(data.overview)
    rows = [
        [row.title + (f" {EXACT_MARK}" if row.is_exact else ""), *(_overview_cell(row, method) for method in methods)]
        for row in data.overview
    ]
    caption = overview_caption(data.overview, data.settings).replace("* marks the best method", "bold marks the best method")
    yield format_table("overview", caption.replace(" below", ""), ["game", *methods], rows)


def _overview_cell(row: OverviewRow, method: str) -> Cell:
    return Value.of(row.scores[method], is_best=method in row.best) if method in row.scores else ""


def _panel_tables(panel: Panel, number: int) -> Iterator[str]:
    scores, control = (
        {name: one for name, one in panel.indicators.items() if one.needs_weights == needed} for needed in (False, True)
    )
    yield _score_table(panel, scores, f"scores-{number}", panel_caption(panel))
    if control:
        yield _score_table(panel, control, f"control-{number}", CONTROL_CAPTION)
    if panel.generalization:
        directions = [up for better in MORE_IS_BETTER.values() for up in (better, better, False)]
        values = {name: list_intervals(found) for name, found in panel.generalization.items()}
        columns = [_mark_best({name: Value.of(row[k]) for name, row in values.items()}, up) for k, up in enumerate(directions)]
        rows = [[name, *(column[name] for column in columns)] for name in values]
        caption = f"{panel.full_heading}. {GENERALIZATION_CAPTION}"
        yield format_table(f"generalization-{number}", caption, ["method", *generalization_heads()], rows)


def _score_table(panel: Panel, indicators: Mapping[str, Indicator], label: str, caption: str) -> str:
    columns = []
    for name, one in indicators.items():
        found = {method: scores.get(name) for method, scores in panel.scores.items()}
        cells = {m: None if at is None else Value.of(at.interval, one.form, approx=at.approx) for m, at in found.items()}
        columns.append(_mark_best(cells, one.more_is_better))
    rows = [[method, str(len(panel.points[method])), *(column[method] for column in columns)] for method in panel.scores]
    head = ["method", "runs", *(one.heading for one in indicators.values())]
    return format_table(label, f"{panel.full_heading}. {caption}", head, rows)


def _user_tables(panel: Panel, number: int, settings: Indicators) -> Iterator[str]:
    """Yield the utilities of users and the fairness over agents, where the panel has them."""
    if panel.user_utilities:
        heads = [(name, criterion) for name in next(iter(panel.user_utilities.values())) for criterion in ("ESR", "SER")]
        columns = [
            _mark_best(
                {m: Value.of(getattr(found[name], criterion.lower())) for m, found in panel.user_utilities.items()}, True
            )
            for name, criterion in heads
        ]
        rows: list[list[Cell]] = [[method, *(column[method] for column in columns)] for method in panel.user_utilities]
        caption = f"{panel.full_heading}: ESR and SER. {UTILITY_CAPTION}"
        head = ["method", *(f"{name}, {criterion} ↑" for name, criterion in heads)]
        yield format_table(f"utilities-{number}", caption, head, rows)
    if measured := measure_team_fairness(panel, settings):
        columns = [
            _mark_best({m: Value.of(found[name]) for m, found in measured.items()}, FAIRNESS_DIRECTIONS.get(name, True))
            for name in FAIRNESS_COLUMNS
        ]
        rows = [[method, *(column[method] for column in columns)] for method in measured]
        caption = f"{panel.full_heading}: fairness over agents. {FAIRNESS_CAPTION}"
        yield format_table(f"fairness-{number}", caption, ["method", *FAIRNESS_COLUMNS], rows)


def _crossplay_tables(crossplay: CrossPlay, number: int) -> Iterator[str]:
    for kind, (name, cells) in enumerate(crossplay.tables.items(), 1):
        rows: list[list[Cell]] = []
        for seat in crossplay.seats:
            columns = [
                _mark_best({m: Value.of(cells[seat, m, opponent]) for m in crossplay.methods}, True)
                for opponent in crossplay.opponents
            ]
            rows += [[seat, method, *(column[method] for column in columns)] for method in crossplay.methods]
        head = ["seat", "method", *(f"against {opponent}" for opponent in crossplay.opponents)]
        caption = f"{crossplay.title}: {name}. {crossplay_caption(crossplay)}"
        yield format_table(f"crossplay-{number}-{kind}", caption, head, rows, 2)
    if crossplay.ratings:
        players = _mark_best({name: Value.of(at, ".0f") for name, at in sort_ratings(crossplay)}, True)
        caption = f"{crossplay.title}: ratings. {ratings_caption(crossplay)}"
        yield format_table(f"ratings-{number}", caption, ["player", "Elo ↑"], [[*player] for player in players.items()])


def _aggregate_tables(aggregate: Aggregate) -> Iterator[str]:
    names = list(next(iter(aggregate.statistics.values())))
    columns = [
        _mark_best({m: Value.of(found[name]) for m, found in aggregate.statistics.items()}, STATISTIC_LABELS[name][-1] == "↑")
        for name in names
    ]
    rows: list[list[Cell]] = [[method, *(column[method] for column in columns)] for method in aggregate.statistics]
    head = ["method", *(STATISTIC_LABELS[name] for name in names)]
    yield format_table("aggregate", f"All games. {aggregate_caption(aggregate)}.", head, rows)
    if aggregate.pairs:
        rows = [
            [first, second, Value.of(pair.improvement), Value.of(pair.difference.interval), Value(f"{pair.p:.2g}")]
            for (first, second), pair in aggregate.pairs.items()
        ]
        head = ["first", "second", "P(better)", "IQM difference", "p"]
        yield format_table("pairs", f"Pairwise comparison of methods. {PAIRS_CAPTION}", head, rows, 2)


LATEX = TableMaker(_overview, _panel_tables, _user_tables, _crossplay_tables, _aggregate_tables)
