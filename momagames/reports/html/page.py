"""The report as one HTML page: what won, a section for each family of games, and how the numbers were made."""

from __future__ import annotations

import html
from collections.abc import Sequence

from momagames.benchmark.runs import Run
from momagames.benchmark.store.store import Store
from momagames.benchmark.suites import Suite
from momagames.reports.data.families import Family, group_by_family
from momagames.reports.data.report_data import ReportData
from momagames.reports.figures.kinds import FIGURE_KINDS
from momagames.reports.figures.plotly_figures import convert_drawing
from momagames.reports.html.document import render_document
from momagames.reports.html.panel_section import FRONTS, family_section, render_figures
from momagames.reports.html.parts import PageParts, fold
from momagames.reports.html.provenance_section import provenance_section
from momagames.reports.html.summary_section import summary_section
from momagames.reports.text import report_tables as tables
from momagames.wording import count


def render_page(store: Store, suite: Suite, data: ReportData, errors: Sequence[tuple[Run, str]], command: str) -> str:
    """Return the whole page; `command` made the report.

    The fronts of panel i are figure i. The place of its poster is an HTML comment, see `replay_player.add_player`.
    """
    parts = PageParts()
    for panel in data.panels:
        kind = next(kind for name in FRONTS if (kind := FIGURE_KINDS[name]).applies(panel))
        parts.figures.append(convert_drawing(kind.make(data, panel)))
    families = group_by_family(data.panels, data.crossplay)
    featured = _choose_featured(data)
    sections = [family_section(family, data, parts, featured) for family in families]
    runs = suite.list_runs(store.read_versions())
    finished = sum(store.has_run(run) for run in runs)
    body = f"""{_render_navigation(suite, data, families, errors)}
<main>
<header id="top"><h1>{html.escape(suite.name)} <small>momagames benchmark</small></h1>
<p>{html.escape(suite.description)} <strong>{html.escape(_describe_counts(len(runs), finished, errors))}.</strong></p></header>
{summary_section(families, data, featured, parts) if data.overview else ""}
{"".join(sections)}
{_render_all_games(data, parts)}
{_render_overview(data, parts) if data.overview else ""}
{f'<section id="errors"><h2>Errors</h2>{"".join(_render_error(run, text) for run, text in errors)}</section>' if errors else ""}
<section id="reading"><h2>How to read this page</h2><p class="introduction">{html.escape(_introduction(suite))}</p>
{parts.explain_columns()}</section>
{provenance_section(store, suite, command)}
</main>"""
    return render_document(suite.name, body, parts.figures)


def _choose_featured(data: ReportData) -> int | None:
    """Return the primary panel whose front is shown first: of two objectives, or as few as there are; of these the last."""
    sizes = [(max(2, len(panel.game.objectives)), -i) for i, panel in enumerate(data.panels) if panel.primary]
    return -min(sizes)[1] if sizes else None


def _render_navigation(suite: Suite, data: ReportData, families: Sequence[Family], errors: Sequence[tuple[Run, str]]) -> str:
    links: list[tuple[str, str, Sequence[tuple[str, str]]]] = [("top", "In short", ())]
    for family in families:
        inner = tuple((f"p{setting.panel}", data.panels[setting.panel].heading) for setting in family.settings)
        links.append((family.place, family.title, inner))
    links += [("aggregate", "All games", ())] if data.aggregate else []
    links += [("overview", "All scores", ())] if data.overview else []
    links += [("errors", "Errors", ())] if errors else []
    links += [("reading", "How to read this page", ()), ("provenance", "Provenance", ())]
    items = "".join(
        f'<li><a href="#{place}">{html.escape(title)}</a>'
        + (f"<ul>{''.join(f'<li>{_link(*one)}</li>' for one in inner)}</ul>" if inner else "")
        + "</li>"
        for place, title, inner in links
    )
    return (
        f'<nav aria-label="Contents"><details open><summary>{html.escape(suite.name)}: contents</summary>'
        f"<ul>{items}</ul></details></nav>"
    )


def _link(place: str, title: str) -> str:
    return f'<a href="#{place}">{html.escape(title)}</a>'


def _render_all_games(data: ReportData, parts: PageParts) -> str:
    """Return the section of the comparison over games, and of other figures of the whole report."""
    content = ""
    if data.aggregate:
        overall = FIGURE_KINDS["overall"]
        place = parts.add_figure(
            overall.make(data, data.aggregate), "Interquartile means and optimality gaps of the table below"
        )
        table, pairs = tables.make_statistics(data.aggregate), tables.make_method_pairs(data.aggregate)
        content = place + fold("Table", parts.add_table(table, with_notes=False))
        content += fold(pairs.title, parts.add_table(pairs, with_notes=False))
        content += fold(
            "List of games", f"<ul>{''.join(f'<li>{html.escape(game)}</li>' for game in data.aggregate.games)}</ul>"
        )
        content += render_figures("aggregate", data.aggregate, data, parts, ("overall",))
    content += render_figures("report", data, data, parts, ("overview",))
    return f'<section id="aggregate"><h2>All games</h2>{content}</section>' if content else ""


def _render_overview(data: ReportData, parts: PageParts) -> str:
    """Return a folded table that scrolls sideways below a fixed first column."""
    table = parts.add_table(tables.make_overview(data.overview, data.settings))
    return f'<section id="overview"><h2>All scores</h2>{fold("Hypervolume ratios of all methods", table)}</section>'


def _describe_counts(total: int, finished: int, errors: Sequence[tuple[Run, str]]) -> str:
    text = f"{finished:,} of {count(total, 'run')} finished"
    return text + (f", {len(errors)} failed" if errors else "")


def _render_error(run: Run, text: str) -> str:
    return (
        f"<details open><summary>{html.escape(run.method.name)}, seed {run.seed}, {html.escape(run.canonical)}</summary>"
        f"<pre>{html.escape(text)}</pre></details>"
    )


def _introduction(suite: Suite) -> str:
    settings = suite.indicators
    return (
        "All objectives are maximized. Numbers are means over runs, one for each seed; brackets are "
        f"{settings.confidence:.0%} bootstrap intervals. Hypervolumes are measured from the reference point of each game, "
        f"moved outwards by {settings.margin:.0%} of the range. Returns are normalized to 0 at the reference point and 1 at "
        "the ideal point, which is the declared bound of each objective or the best value of the reference front, as set in "
        "the suite. The HV ratio is the hypervolume divided by that of the reference front; IGD+, epsilon+, expected utility "
        "and normalized hypervolume use normalized returns. ~ marks an estimated hypervolume. An exact reference front is "
        "proven to be the Pareto front. A best-known reference front is the union of the points found by the methods of the "
        "report and by archived runs; better points may exist."
    )
