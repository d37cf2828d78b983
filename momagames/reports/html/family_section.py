"""The section of a family of games: its settings, each with fronts, scores, and folded further comparisons."""

from __future__ import annotations

import html
from typing import Any

from momagames.benchmark.plan import Indicators
from momagames.reports.data.families import Family, Setting
from momagames.reports.data.report_data import ReportData
from momagames.reports.html.crossplay_section import crossplay_block
from momagames.reports.html.panel_section import panel_details, scores_table, short_scores
from momagames.reports.html.summary_section import front_block
from momagames.reports.text.captions import panel_caption

MAX_OPEN = 6  # settings on the page that are unfolded; beyond that, one for each family


def family_section(
    family: Family,
    data: ReportData,
    settings: Indicators,
    figures: list[dict[str, Any]],
    first_crossplay: int,
    featured: int | None,
) -> str:
    """Return the section. Further figures are appended to `figures`.

    first_crossplay    number of the figure of the first head-to-head results
    featured           the panel whose fronts are at the top of the page
    """
    folds = sum(panel.primary for panel in data.panels) > MAX_OPEN
    unfolded = family.settings[-1] if folds else None
    parts = []
    for setting in family.settings:
        content = _render_setting(setting, data, settings, figures, first_crossplay, featured)
        heading = html.escape(data.panels[setting.panel].heading)
        if folds and setting is not unfolded:
            summary = f"<h3>{heading}</h3> {short_scores(data.panels[setting.panel])}"
            parts.append(f'<details class="setting" id="p{setting.panel}"><summary>{summary}</summary>{content}</details>')
        else:
            parts.append(f'<article class="setting" id="p{setting.panel}"><h3>{heading}</h3>{content}</article>')
    return f'<section id="{family.place}"><h2>{html.escape(family.title)}</h2>{"".join(parts)}</section>'


def _render_setting(
    setting: Setting,
    data: ReportData,
    settings: Indicators,
    figures: list[dict[str, Any]],
    first_crossplay: int,
    featured: int | None,
) -> str:
    panel = data.panels[setting.panel]
    if setting.panel == featured:
        front = '<p class="caption">The fronts are <a href="#summary">at the top of the page</a>.</p>'
    else:
        front = front_block(setting.panel, data, figures)
    few_runs = any(len(points) < 10 for points in panel.points.values())
    warning = " Fewer than 10 runs: the intervals are too narrow." if few_runs else ""
    parts = [
        f'<p class="id">{html.escape(panel.canonical)}</p>',
        front,
        scores_table(panel),
        f'<p class="caption">{html.escape(panel_caption(panel))}{warning}</p>',
        panel_details(panel, settings, figures),
    ]
    if setting.crossplay is not None:
        crossplay = data.crossplay[setting.crossplay]
        parts.append(crossplay_block(crossplay, first_crossplay + setting.crossplay, figures))
    singles = []
    for number in setting.secondary:
        other = data.panels[number]
        singles.append(
            f'<details id="p{number}"><summary>{html.escape(other.scope)}</summary>'
            f"{front_block(number, data, figures)}{scores_table(other)}"
            f'<p class="caption">{html.escape(panel_caption(other))}</p>{panel_details(other, settings, figures)}</details>'
        )
    if singles:
        parts.append(f"<details><summary>Against each opponent, and in each seat</summary>{''.join(singles)}</details>")
    return "".join(parts)
