"""Pages of results for a family of games, from the archive of the suite paper (see make_results.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from archives import read_archive
from page_figures import PageSet, fold, image, join_lines
from track_page import score_table

from momagames.reports.data.overview import OverviewRow, list_methods
from momagames.reports.data.panels import Panel, short_name
from momagames.reports.data.report_data import ReportData
from momagames.reports.data.verdicts import compare_methods, count_leads, find_panel_leaders
from momagames.reports.figures.comparisons import draw_overview
from momagames.reports.figures.kinds import FIGURE_KINDS
from momagames.reports.figures.paper_figures import Figure, list_figures
from momagames.reports.text.captions import overview_caption, panel_caption
from momagames.reports.text.labels import EXACT_MARK, describe_interval
from momagames.reports.text.markdown_tables import markdown_table
from momagames.reports.text.verdicts import describe_leads, describe_verdict

TITLES = {
    "samegame": "MO-SameGame",
    "breakthrough": "MO-Breakthrough",
    "pommerman": "MO-Pommerman",
    "tileblast": "MO-TileBlast",
    "robotmail": "MO-RoboticMail",
    "evolution": "Trained policies",
}


def make_pages(name: str, file: Path) -> PageSet:
    """Make the pages of the families in an archived collection of suites."""
    archive = read_archive(file)
    data, facts = archive.data, archive.facts
    families = list_families(data)
    figures = list_figures(data, list_kinds())
    figures |= {f"overview-{family}": make_overview_figure(family, data) for family in families}
    names = {(figure.kind, figure.title): name for name, figure in figures.items()}
    return PageSet({family: join_lines(format_family(family, data, names)) for family in families}, figures, facts=facts)


def list_kinds() -> dict[str, str]:
    """Return the kinds of figures of a setting with their titles."""
    kinds = (kind for kind in FIGURE_KINDS.values() if kind.scope in ("panel", "crossplay") and kind.in_papers)
    return {kind.name: kind.title for kind in kinds}


def list_families(data: ReportData) -> list[str]:
    """Return the suites of the collection, in their order."""
    return list(dict.fromkeys(find_family(panel) for panel in data.panels))


def find_family(panel: Panel) -> str:
    return panel.experiment.partition(": ")[0]


def select_panels(family: str, data: ReportData) -> list[Panel]:
    return [panel for panel in data.panels if panel.primary and find_family(panel) == family]


def select_rows(family: str, data: ReportData) -> list[OverviewRow]:
    return [row for row in data.overview if find_family(data.panels[row.panel]) == family]


def make_overview_figure(family: str, data: ReportData) -> Figure:
    """Return the figure of the scores of a family."""
    return Figure("overview", family, partial(draw_overview, select_rows(family, data), data.styles))


def format_family(family: str, data: ReportData, names: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield the lines of a page: the message, figures, folded tables.

    names    kind and title of a figure -> its file name without extension
    """
    panels, rows = select_panels(family, data), select_rows(family, data)
    yield from (f"# Results: {TITLES.get(family, family)}", "", describe_family(panels, data), "")
    if name := names.get(("overview", family)):
        yield from (image("Hypervolume ratios of every method in every setting", f"{name}.svg"), "")
    caption = overview_caption(rows, data.settings).replace("* marks", "bold marks")
    yield from fold("Hypervolume ratios", [caption, "", *overview_table(rows)])
    unfolded: set[str] = set()
    for panel in panels:
        lines = list(format_panel(panel, names))
        if panel.experiment in unfolded:
            yield from fold(panel.full_heading, lines)
        else:  # the first setting of an experiment is unfolded
            yield from (f"## {panel.full_heading}", "", *lines)
        unfolded.add(panel.experiment)


def describe_family(panels: Sequence[Panel], data: ReportData) -> str:
    """Return sentences: the best method over all settings and its lead, and the leaders of single settings."""
    verdict = compare_methods(panels, data.settings)
    leaders = count_leads(find_panel_leaders(panel, data.settings) for panel in panels)
    single = f"Ahead of all others: {describe_leads(leaders, len(panels))}."
    return f"{describe_verdict(verdict)} {single}" if verdict else single


def format_panel(panel: Panel, names: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield the figures of a setting, and its folded table."""
    for kind, caption in list_kinds().items():
        if name := names.get((kind, panel.full_heading)):
            yield from (image(f"{caption}: {panel.full_heading}", f"{name}.svg"), "")
    yield from fold("All indicators", [f"`{short_name(panel.game)}`", "", *score_table(panel), "", panel_caption(panel)])


def overview_table(rows: Sequence[OverviewRow]) -> Iterator[str]:
    methods = list_methods(rows)
    cells = [
        (row.title + (f" {EXACT_MARK}" if row.is_exact else ""), *(format_cell(row, method) for method in methods))
        for row in rows
    ]
    return markdown_table(["setting", *methods], cells)


def format_cell(row: OverviewRow, method: str) -> str:
    if method not in row.scores:
        return ""
    text = describe_interval(row.scores[method])
    return f"**{text}**" if method in row.best else text
