"""The report as one HTML page."""

from __future__ import annotations

import html
from collections.abc import Sequence

from momagames.benchmark.plan import Run, Suite
from momagames.benchmark.store.store import Store
from momagames.reports.data.report_data import ReportData
from momagames.reports.figures.plotly_aggregate import aggregate_figure, profiles_figure
from momagames.reports.figures.plotly_crossplay import crossplay_figure
from momagames.reports.figures.plotly_fronts import fronts_figure
from momagames.reports.html.aggregate_section import aggregate_section
from momagames.reports.html.column_help import column_help
from momagames.reports.html.crossplay_section import crossplay_section
from momagames.reports.html.document import render_document
from momagames.reports.html.overview_section import overview_section
from momagames.reports.html.panel_section import panel_section
from momagames.reports.html.provenance_section import provenance_section


def render_page(store: Store, suite: Suite, data: ReportData, errors: Sequence[tuple[Run, str]], command: str) -> str:
    """Return the whole page; `command` made the report."""
    figures = [fronts_figure(panel) for panel in data.panels]  # further figures are appended
    contents = [(f"p{i}", panel.title) for i, panel in enumerate(data.panels)]
    sections = [panel_section(i, panel, suite.indicators, figures) for i, panel in enumerate(data.panels)]
    for number, crossplay in enumerate(data.crossplay):
        figures.append(crossplay_figure(crossplay))
        contents.append((f"x{number}", f"Head-to-head: {crossplay.title}"))
        sections.append(crossplay_section(crossplay, number, len(figures) - 1, figures[-1]["views"]))
    if data.aggregate:
        contents.insert(0, ("aggregate", "All games"))
        sections.insert(0, aggregate_section(data.aggregate, len(figures)))
        figures += [aggregate_figure(data.aggregate), profiles_figure(data.aggregate)]
    runs = suite.list_runs(store.read_version())
    finished = sum(store.has_run(run) for run in runs)
    links = "".join(f'<li><a href="#{place}">{html.escape(title)}</a></li>' for place, title in contents)
    body = f"""<h1>momagames benchmark: {html.escape(suite.name)}</h1>
<p>{html.escape(suite.description)}</p>
<p><strong>{html.escape(_describe_counts(len(runs), finished, errors))}</strong></p>
<p class="introduction">{html.escape(_introduction(suite))}</p>
{column_help(suite, data)}
{overview_section(data.overview, suite.indicators) if data.overview else ""}
<nav aria-label="Contents"><ul>{links}</ul></nav>
{"".join(sections)}
{f"<section>{''.join(_render_error(run, text) for run, text in errors)}</section>" if errors else ""}
{provenance_section(store, suite, command)}"""
    return render_document(suite.name, body, figures)


def _describe_counts(total: int, finished: int, errors: Sequence[tuple[Run, str]]) -> str:
    text = f"{finished} of {total} runs finished"
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
