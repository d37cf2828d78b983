"""Pages of the leaderboard in Markdown, made from checked entries: one for each suite, and an index."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import momagames
from momagames.analysis.named_indicators import Indicator
from momagames.benchmark.suites import PlansExperiment
from momagames.errors import InvalidFile, InvalidParameter, invalid_value
from momagames.files.writing import write_page
from momagames.leaderboard.entries import Entry
from momagames.leaderboard.settings import Setting
from momagames.leaderboard.tables import Row, Table, make_tables
from momagames.reports.data.panels import short_name
from momagames.reports.text.labels import format_score
from momagames.reports.text.markdown_tables import markdown_table

INDEX = "index.md"
MARK = "<!-- This page is written by `momagames leaderboard build`. -->"  # first line of each page
OVER_BUDGET, PROVISIONAL = "†", "*"
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#&!$~^])")  # characters with a meaning in Markdown


def make_pages(entries: Sequence[Entry]) -> dict[str, str]:
    """Return the pages, by file name; they do not depend on the order of the entries.

    Raises     InvalidParameter for two entries of one name, and for one that played other episodes than those of its setting
    """
    names = [(entry.name, entry.setting.key) for entry in entries]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InvalidParameter(invalid_value("entry", repeated[0][0], "distinct names"))
    if fresh := [entry.fresh_seed for entry in entries if entry.fresh_seed is not None]:
        raise InvalidParameter(invalid_value("fresh_seed", fresh[0], "the episodes of the setting"))
    tables = make_tables(sorted(entries, key=lambda entry: entry.name))
    suites = list(dict.fromkeys(table.setting.suite for table in tables))
    pages = {f"{suite}.md": _format_suite(suite, [one for one in tables if one.setting.suite == suite]) for suite in suites}
    pages[INDEX] = _format_index(suites, tables)
    return {name: "\n".join([MARK, "", *lines]).rstrip("\n") + "\n" for name, lines in pages.items()}


def write_pages(pages: Mapping[str, str], folder: str | Path) -> None:
    """Write pages into a directory, and remove the pages of earlier calls.

    Raises     InvalidFile, before anything is written, if the directory holds other pages
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        earlier = sorted(place.glob("*.md"))
        for page in earlier:
            if not page.read_text(encoding="utf-8").startswith(MARK):
                raise InvalidFile(f"{page}: not a page of the leaderboard: choose another directory")
        for page in earlier:
            if page.name not in pages:
                page.unlink()
        for name, text in pages.items():
            write_page(place / name, text)
    except OSError as error:
        raise InvalidFile(f"{error.filename or place}: {error.strerror or error}") from None


def _format_index(suites: Sequence[str], tables: Sequence[Table]) -> Iterator[str]:
    yield from (
        "# Leaderboard",
        "",
        "Submitted results ([how to submit](../submissions.md#how-to-submit)), which are checked before they",
        "have a row: the plans of an entry are replayed move by move, and its policies play the episodes of the suite. All",
        f"scores are computed from these returns, checked with momagames {momagames.__version__}. Method, links, budget,",
        "hardware and date are stated by the submitters. Rows of the package's own methods are from the archived results of a",
        "suite, with the seeds that have been run.",
        "",
        "```{toctree}",
        ":maxdepth: 1",
        "",
        *suites,
        "```",
        "",
    )
    rows = [
        (
            f"[{table.setting.suite}]({table.setting.suite}.md)",
            table.setting.heading,
            _name_method(table.rows[0]),
            f"{table.first.heading} {_format_cell(table, table.rows[0], *next(iter(table.indicators.items())))}",
            str(len(table.rows)),
        )
        for table in tables
    ]
    yield from markdown_table(["suite", "setting", "best entry", "score", "entries"], rows, 3)
    if any(table.rows[0].entry.exceeds_budget for table in tables):
        yield from ("", f"{OVER_BUDGET} states a larger budget than that of the setting.")


def _format_suite(suite: str, tables: Sequence[Table]) -> Iterator[str]:
    yield from (f"# Leaderboard: {suite}", "")
    for table in tables:
        kind = "plans" if isinstance(table.setting.experiment, PlansExperiment) else "policies"
        columns = table.indicators.items()
        head = ["method", "runs", f"{kind} per run", *(one.heading + _mark_provisional(table, name) for name, one in columns)]
        scores = [
            (
                _name_method(row),
                str(len(row.entry.counts)),
                f"{sum(row.entry.counts.values()) / len(row.entry.counts):.4g}",
                *(_format_cell(table, row, name, one) for name, one in columns),
            )
            for row in table.rows
        ]
        yield from (f"## {table.setting.heading}", "", f"`{short_name(table.setting.game)}`", "")
        yield from (*markdown_table(head, scores), "")
        yield from (f"{_describe_setting(table)}", "")
        facts = ["method", "description", "paper", "code", "budget", "hardware", "date", "entry", "SHA-256"]
        yield from (*markdown_table(facts, [_format_facts(row) for row in table.rows], len(facts)), "")


def _name_method(row: Row) -> str:
    """Return the name of the method of a row, marked if its budget is above that of the setting."""
    return escape(row.entry.metadata.method) + (f" {OVER_BUDGET}" if row.entry.exceeds_budget else "")


def _format_cell(table: Table, row: Row, name: str, indicator: Indicator) -> str:
    text = " ".join(format_score(indicator, row.scores[name])).strip()
    first = table.rows[0].scores[name].interval.value
    is_best = indicator is table.first and row.scores[name].interval.value == first
    return f"**{text}**" if is_best else text


def _mark_provisional(table: Table, name: str) -> str:
    return f" \\{PROVISIONAL}" if name in table.provisional else ""


def _format_facts(row: Row) -> tuple[str, ...]:
    metadata = row.entry.metadata
    return (
        escape(metadata.method),
        escape(metadata.description or ""),
        f"[paper]({metadata.paper})" if metadata.paper else "",
        f"[code]({metadata.code})" if metadata.code else "",
        f"{metadata.budget:,}",
        escape(metadata.hardware),
        metadata.date,
        escape(row.entry.name),
        f"`{row.entry.sha256[:16]}`",
    )


def _describe_setting(table: Table) -> str:
    """Return the caption of a table."""
    setting, tags = table.setting, sorted({reference.tag for reference in table.references.values()})
    runs, level = max(len(row.entry.counts) for row in table.rows), setting.indicators.confidence
    means = f"Means over runs with {level:.0%} bootstrap intervals" if runs > 1 else "One run each"
    text = f"{means}; sorted by {table.first.heading}. {_describe_budget(setting)} Reference: {' or '.join(tags)} front."
    if table.provisional:
        text += f" \\{PROVISIONAL} depends on the best-known front, the union of the entries and of the package's fronts."
    if any(row.entry.exceeds_budget for row in table.rows):
        text += f" {OVER_BUDGET} states a larger budget than that of the setting."
    return text


def _describe_budget(setting: Setting) -> str:
    if setting.experiment.budget:
        return f"Budget of the setting: {setting.experiment.budget:,} environment steps for each run."
    return "The setting has no budget for training."


def escape(text: str) -> str:
    """Return a text of a submitter as Markdown that shows it unchanged."""
    return SPECIAL.sub(r"\\\1", text)
