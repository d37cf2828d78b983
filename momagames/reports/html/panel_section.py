"""A setting on the page: fronts, scores, and folded further figures and tables, also of its head-to-head results."""

from __future__ import annotations

import html
from collections.abc import Container, Iterator

import numpy as np

from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.data.families import Family, Setting
from momagames.reports.data.overview import rank_methods
from momagames.reports.data.panels import Panel
from momagames.reports.data.report_data import ReportData
from momagames.reports.figures.kinds import Subject, list_kinds
from momagames.reports.html.parts import PageParts, fold
from momagames.reports.text import report_tables as tables
from momagames.reports.text.captions import panel_caption
from momagames.reports.text.table import Column, Table
from momagames.wording import count

FRONTS = ("front", "best")  # kinds of figures at the top of a setting
POSTER = "<!--poster {}-->"  # place of the picture of a panel
MAIN_SCORES = 3  # indicators beside a figure; all are in a folded table
MAX_LISTED = 60  # points listed for each method
MAX_OPEN = 6  # settings on the page that are unfolded; beyond that, one for each family


def family_section(family: Family, data: ReportData, parts: PageParts, featured: int | None) -> str:
    """Return the section of a family of games; the fronts of the panel `featured` are at the top of the page."""
    folds = len(data.primary) > MAX_OPEN
    sections = []
    for setting in family.settings:
        panel, place = data.panels[setting.panel], f'class="setting" id="p{setting.panel}"'
        content, heading = _render_setting(setting, data, parts, featured), f"<h3>{html.escape(panel.heading)}</h3>"
        if folds and setting is not family.settings[-1]:
            best = ", ".join(f"{method} {mean:.2f}" for method, mean in list(rank_methods(panel).items())[:3])
            sections.append(f"<details {place}><summary>{heading} {html.escape(best)}</summary>{content}</details>")
        else:
            sections.append(f"<article {place}>{heading}{content}</article>")
    return f'<section id="{family.place}"><h2>{html.escape(family.title)}</h2>{"".join(sections)}</section>'


def _render_setting(setting: Setting, data: ReportData, parts: PageParts, featured: int | None) -> str:
    panel = data.panels[setting.panel]
    if setting.panel == featured:
        front = '<p class="caption">The fronts are <a href="#summary">at the top of the page</a>.</p>'
    else:
        front = front_block(setting.panel, data, parts)
    few_runs = any(len(points) < 10 for points in panel.points.values())
    warning = " Fewer than 10 runs: the intervals are too narrow." if few_runs else ""
    content = f'<p class="id">{html.escape(panel.canonical)}</p>{front}{_render_panel(panel, data, parts, warning)}'
    if setting.crossplay is not None:
        content += _render_crossplay(data.crossplay[setting.crossplay], data, parts)
    singles = [
        fold(other.scope, front_block(number, data, parts) + _render_panel(other, data, parts), f"p{number}")
        for number, other in ((number, data.panels[number]) for number in setting.secondary)
    ]
    return content + fold("Against each opponent, and in each seat", "".join(singles))


def front_block(number: int, data: ReportData, parts: PageParts, poster: bool = True) -> str:
    """Return the fronts of a panel, figure `number`, and the place of its poster."""
    title = data.panels[number].full_heading
    place = parts.place_figure(number, f"Fronts of {title}; the points are listed below")
    return f'<div class="front"><h3>{html.escape(title)}</h3>{place}{POSTER.format(number) if poster else ""}</div>'


def _render_panel(panel: Panel, data: ReportData, parts: PageParts, warning: str = "") -> str:
    """Return the main scores, and folded figures, all scores, utilities and points."""
    main = [name for name in panel.indicators if name != "hypervolume"][:MAIN_SCORES]
    users = [*tables.make_utilities(panel, 0)]
    if panel.primary:
        users += [tables.make_policy_sets(panel, data.settings), tables.make_fairness(panel, data.settings, 0)]
    generalization = parts.add_table(tables.make_generalization(panel, 0))
    return "".join(
        [
            parts.add_table(tables.make_scores(panel, 0, main), with_notes=False),
            f'<p class="caption">{html.escape(panel_caption(panel))}{warning}</p>',
            fold("Generalization, against the exact front of each instance", generalization),
            fold("All indicators", parts.add_table(tables.make_scores(panel, 0, [*panel.indicators]), with_notes=False)),
            render_figures("panel", panel, data, parts, FRONTS),
            fold("Utility of single episodes (ESR) and of the mean return (SER)", "".join(map(parts.add_table, users))),
            fold("Points of each method", "".join(_list_points(panel, parts))),
        ]
    )


def render_figures(scope: str, subject: Subject, data: ReportData, parts: PageParts, but: Container[str] = ()) -> str:
    """Return the figures of a subject, folded, but for some kinds."""
    figures = ""
    for kind in list_kinds(scope, but):
        if kind.applies(subject):
            place = parts.add_figure(kind.make(data, subject), kind.title)
            figures += fold(kind.title, place, is_open=scope == "crossplay")  # which are folded together
    return figures


def _render_crossplay(crossplay: CrossPlay, data: ReportData, parts: PageParts) -> str:
    """Return the figures and tables of head-to-head results."""
    content = render_figures("crossplay", crossplay, data, parts)
    for table in tables.make_crossplay(crossplay, 0):
        content += fold(f"Table: {table.title.rpartition(': ')[2]}", parts.add_table(table))
    return fold("Head-to-head: every method against every opponent", content)


def _list_points(panel: Panel, parts: PageParts) -> Iterator[str]:
    """Yield the points of the first seed of each method."""
    columns = [Column("policy or plan", is_text=True, wrap="letters"), *(Column(one.name) for one in panel.game.objectives)]
    for method, by_seed in panel.points.items():
        points = by_seed[seed := min(by_seed)]
        found = list(zip(points.labels, points.values.tolist(), points.errors.tolist(), strict=True))[:MAX_LISTED]
        rows = [[label, *map(format_value, values, errors)] for label, values, errors in found]
        more = f" (first {MAX_LISTED})" if len(points.values) > MAX_LISTED else ""
        title = f"{method}: {count(len(points.values), 'point')} of seed {seed}{more}"
        yield fold(title, parts.add_table(Table("", title, columns, rows)))


def format_value(value: float, error: float) -> str:
    """Return a value with its standard error, if it has one."""
    return f"{value:.6g} ± {error:.2g}" if error and np.isfinite(error) else f"{value:.6g}"
