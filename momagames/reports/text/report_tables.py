"""Tables of the report in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from momagames.analysis.named_indicators import Indicator
from momagames.benchmark.plan import Indicators
from momagames.reports.data.aggregate import Aggregate
from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.data.generalization import list_intervals
from momagames.reports.data.overview import OverviewRow
from momagames.reports.data.panels import Panel
from momagames.reports.data.scores import Score
from momagames.reports.data.team_fairness import FAIRNESS_COLUMNS, measure_team_fairness
from momagames.reports.summary import SummaryRow
from momagames.reports.text.captions import (
    CONTROL_CAPTION,
    FAIRNESS_CAPTION,
    GENERALIZATION_CAPTION,
    HEAD_TO_HEAD_CAPTION,
    PAIRS_CAPTION,
    UTILITY_CAPTION,
    aggregate_caption,
    crossplay_caption,
    head_to_head_table,
    overview_caption,
    panel_caption,
    ratings_caption,
    sort_ratings,
)
from momagames.reports.text.labels import (
    EXACT_MARK,
    SAME_NAME_MARK,
    STATISTIC_LABELS,
    format_score,
    generalization_heads,
)
from momagames.reports.text.sections import TableMaker
from momagames.reports.text.terminal_tables import format_bounds, format_interval, new_table

METHODS_PER_TABLE = 5  # in the overview; more methods are split into several tables


def overview_tables(rows: Sequence[OverviewRow], settings: Indicators) -> list[RenderableType]:
    """Return the overview: one table for each group of games with the same methods."""
    if not rows:
        return []
    tables: list[RenderableType] = [Text("Overview", "bold")]
    for names in dict.fromkeys(tuple(row.scores) for row in rows):
        for first in range(0, len(names), METHODS_PER_TABLE):
            columns = names[first : first + METHODS_PER_TABLE]
            table = new_table("", "")
            table.add_column("game", overflow="fold")
            for name in columns:
                table.add_column(name, justify="right", overflow="fold")
            for row in rows:
                if tuple(row.scores) == names:
                    title = row.title + (f" {EXACT_MARK}" if row.is_exact else "")
                    table.add_row(title, *(_overview_cell(row, name) for name in columns))
            tables.append(table)
    return [*tables, Text(f"{overview_caption(rows, settings)}\n", "dim italic")]


def summary_table(rows: Sequence[SummaryRow]) -> Table:
    """Return a line for each comparison: the best methods, and the next one, with their means."""
    title = "Mean hypervolume, as a share of that of the exact front or of the best one known"
    table = Table(title=title, title_justify="left", title_style="dim", box=None, padding=(0, 1, 0, 0))
    for name in ("comparison", "best", "next"):
        table.add_column(name, overflow="fold", style="bold" if name == "best" else "")
    for row in rows:
        best = ", ".join(name for name, _ in row.best) + f" {row.best[0][1]:.3f}"
        table.add_row(row.title, best, "{} {:.3f}".format(*row.others[0]) if row.others else "")
    return table


def _overview_cell(row: OverviewRow, method: str) -> Text:
    text = format_interval(row.scores[method])
    return Text.assemble(("*", "bold"), text) if method in row.best else text


def scores_table(panel: Panel) -> Table:
    """Return the scores of a panel: means with their intervals below. The page has all indicators."""
    table = new_table(panel.full_heading, panel_caption(panel))
    table.add_column("method", no_wrap=True)
    table.add_column("runs", justify="right")
    columns = {name: one for name, one in panel.indicators.items() if one.is_main and not one.needs_weights}
    for one in columns.values():
        table.add_column(one.heading, justify="right")
    for method, scores in panel.scores.items():
        missing = panel.missing_runs.get(method, 0)
        runs = f"{len(panel.points[method])}" + (f" (-{missing})" if missing else "")
        table.add_row(method, runs, *(_score_cell(one, scores.get(name)) for name, one in columns.items()))
    for method, missing in panel.missing_runs.items():
        if method not in panel.scores:
            table.add_row(method, f"0 (-{missing})", *[""] * len(columns))
    return table


def control_table(panel: Panel) -> Table | None:
    """Return the indicators of weight-conditioned policies; None if the suite names none of them, or no method has any."""
    columns = {name: one for name, one in panel.indicators.items() if one.needs_weights}
    if not columns:
        return None
    table = new_table(f"{panel.full_heading}: weight-conditioned policies", CONTROL_CAPTION)
    table.add_column("method", no_wrap=True)
    for one in columns.values():
        table.add_column(one.heading.replace(" ", "\n", 1), justify="right")
    for method, scores in panel.scores.items():
        if columns.keys() & scores.keys():
            table.add_row(method, *(_score_cell(one, scores.get(name)) for name, one in columns.items()))
    return table


def generalization_table(panel: Panel) -> Table | None:
    """Return the scores against the exact front of each instance; None for other experiments."""
    if not panel.generalization:
        return None
    table = new_table(f"{panel.full_heading}: exact fronts of instances", GENERALIZATION_CAPTION)
    table.add_column("method", no_wrap=True)
    for head in generalization_heads():
        table.add_column(head.replace(", ", "\n"), justify="right")
    for method, scores in panel.generalization.items():
        table.add_row(method, *(format_interval(at) for at in list_intervals(scores)))
    return table


def _score_cell(indicator: Indicator, score: Score | None) -> Text:
    bounds = "" if score is None else format_bounds(score.interval, ".0f" if indicator.form == ".1f" else ".2f")
    return Text.assemble(format_score(indicator, score)[0], (bounds, "dim"))


def utility_table(panel: Panel) -> Table:
    """Return the ESR and SER utilities of a panel."""
    table = new_table(f"{panel.full_heading}: ESR and SER", UTILITY_CAPTION)
    table.add_column("method", no_wrap=True)
    for name in next(iter(panel.user_utilities.values())):
        table.add_column(name.replace("(", "\n(") + " ↑", justify="right")
    for method, utilities in panel.user_utilities.items():
        cells = [f"ESR {utility.esr.value:.3f}\nSER {utility.ser.value:.3f}" for utility in utilities.values()]
        table.add_row(method, *cells)
    return table


def fairness_table(panel: Panel, settings: Indicators) -> Table | None:
    """Return the fairness over the agents of teams; None without a team of several evaluated agents."""
    measured = measure_team_fairness(panel, settings)
    if not measured:
        return None
    table = new_table(f"{panel.full_heading}: fairness over agents", FAIRNESS_CAPTION)
    table.add_column("method", no_wrap=True)
    for name in FAIRNESS_COLUMNS:
        table.add_column(name, justify="right")
    for method, values in measured.items():
        table.add_row(method, *(format_interval(interval) for interval in values.values()))
    return table


def crossplay_tables(crossplay: CrossPlay) -> list[RenderableType]:
    """Return the head-to-head tables of a game, and its ratings."""
    tables: list[RenderableType] = []
    for name, cells in crossplay.tables.items():
        table = new_table("", "")
        table.add_column("seat")
        table.add_column("method", no_wrap=True)
        for opponent in crossplay.opponents:
            table.add_column(f"against\n{opponent}", justify="right")
        for seat in crossplay.seats:
            for m in crossplay.methods:
                marks = [Text(f"{SAME_NAME_MARK} ") if (m, o) in crossplay.same_name else Text() for o in crossplay.opponents]
                values = [format_interval(cells[seat, m, o]) for o in crossplay.opponents]
                table.add_row(seat, m, *(mark + value for mark, value in zip(marks, values, strict=True)))
        tables += [Text(f"{crossplay.title}: {name}", "bold"), table]
    tables.append(Text(f"{crossplay_caption(crossplay)}\n", "dim italic"))
    if crossplay.ratings:
        table = new_table("", "")
        table.add_column("player")
        table.add_column("Elo ↑", justify="right")
        for name, rating in sort_ratings(crossplay):
            table.add_row(name, format_interval(rating, ".0f"))
        tables += [Text(f"{crossplay.title}: ratings", "bold"), table]
        tables.append(Text(f"{ratings_caption(crossplay)}\n", "dim italic"))
    if crossplay.head_to_head:
        heads, rows = head_to_head_table(crossplay.head_to_head)
        table = new_table("", "")
        for head in heads:
            table.add_column(head, justify="left" if head == heads[0] else "right")
        for row in rows:
            table.add_row(*row)
        tables += [Text(f"{crossplay.title}: wins and responses", "bold"), table]
        tables.append(Text(f"{HEAD_TO_HEAD_CAPTION}\n", "dim italic"))
    return tables


def aggregate_table(aggregate: Aggregate) -> Table:
    """Return the statistics over all games."""
    table = new_table("All games", f"{aggregate_caption(aggregate)}.")
    table.add_column("method", no_wrap=True)
    for name in next(iter(aggregate.statistics.values())):
        table.add_column(STATISTIC_LABELS[name], justify="right")
    for method, statistics in aggregate.statistics.items():
        table.add_row(method, *(format_interval(interval) for interval in statistics.values()))
    return table


def pairs_table(aggregate: Aggregate) -> Table:
    """Return the comparison of all pairs of methods over all games."""
    table = new_table("Pairwise comparison of methods", PAIRS_CAPTION)
    for name in ("first", "second"):
        table.add_column(name, no_wrap=True)
    for name in ("P(better)", "IQM difference", "p"):
        table.add_column(name, justify="right")
    for (first, second), pair in aggregate.pairs.items():
        improvement, difference = format_interval(pair.improvement), format_interval(pair.difference.interval)
        table.add_row(first, second, improvement, difference, f"{pair.p:.2g}")
    return table


def _panel_tables(panel: Panel, number: int) -> list[RenderableType]:
    return [table for table in (scores_table(panel), control_table(panel), generalization_table(panel)) if table is not None]


def _user_tables(panel: Panel, number: int, settings: Indicators) -> list[RenderableType]:
    tables = [utility_table(panel) if panel.user_utilities else None, fairness_table(panel, settings)]
    return [table for table in tables if table is not None]


TERMINAL: TableMaker[RenderableType] = TableMaker(
    overview=lambda data: overview_tables(data.overview, data.settings),
    panel=_panel_tables,
    users=_user_tables,
    crossplay=lambda crossplay, number: crossplay_tables(crossplay),
    aggregate=lambda aggregate: [aggregate_table(aggregate), *([pairs_table(aggregate)] if aggregate.pairs else [])],
)
