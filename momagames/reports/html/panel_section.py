"""Parts of a panel on the page: scores, further figures, utilities and lists of points."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from momagames.analysis.named_indicators import WEIGHT_INDICATORS, Indicator
from momagames.analysis.statistics import Interval
from momagames.benchmark.plan import Indicators
from momagames.reports.data.anytime_curves import compute_anytime_curves
from momagames.reports.data.generalization import list_intervals
from momagames.reports.data.overview import INDICATOR, rank_methods
from momagames.reports.data.panels import Panel
from momagames.reports.data.policy_sets import summarize_policy_sets
from momagames.reports.data.team_fairness import measure_team_fairness
from momagames.reports.figures.plotly_anytime import anytime_figure
from momagames.reports.figures.plotly_attainment import PAIRS_CAPTION, pairs_figure
from momagames.reports.figures.plotly_fronts import format_value
from momagames.reports.html.column_help import CRITERION_MEANINGS, FAIRNESS_MEANINGS, POLICY_SET_MEANINGS
from momagames.reports.html.document import add_figure
from momagames.reports.html.html_tables import format_cell, render_table
from momagames.reports.text.captions import FAIRNESS_CAPTION, GENERALIZATION_CAPTION, anytime_caption
from momagames.reports.text.labels import format_score, generalization_heads
from momagames.wording import count

MAIN_SCORES = 3  # indicators beside a figure; all are in a folded table
MAX_LISTED = 60  # points listed for each method
UTILITY_CAPTION = "Utility of normalized returns of the best policy in the selection episodes; higher is better."


def panel_details(panel: Panel, settings: Indicators, figures: list[dict[str, Any]]) -> str:
    """Return what is folded below the fronts and scores of a panel; its figures are appended to `figures`."""
    parts = [
        _generalization(panel),
        _all_scores(panel),
        _pairs(panel, figures),
        _anytime(panel, settings, figures),
        _utilities(panel, settings),
    ]
    return "".join([*parts, _point_lists(panel)])


def short_scores(panel: Panel) -> str:
    """Return the three best methods with their hypervolume ratios, as a line."""
    best = list(rank_methods(panel).items())[:3]
    return html.escape(", ".join(f"{method} {mean:.2f}" for method, mean in best))


def _generalization(panel: Panel) -> str:
    """Return the scores against the exact front of each instance; empty for other experiments."""
    if not panel.generalization:
        return ""
    rows = [[method, *map(format_cell, list_intervals(scores))] for method, scores in panel.generalization.items()]
    return (
        "<details><summary>Generalization, against the exact front of each instance</summary>"
        f'{render_table(["method", *generalization_heads()], rows)}<p class="caption">{GENERALIZATION_CAPTION}</p></details>'
    )


def _pairs(panel: Panel, figures: list[dict[str, Any]]) -> str:
    figure = pairs_figure(panel)
    if not figure:
        return ""
    label = "Median attainment in pairs of objectives"
    return add_figure(figures, figure, "Pairs of objectives", label, PAIRS_CAPTION, folded=True)


def _anytime(panel: Panel, settings: Indicators, figures: list[dict[str, Any]]) -> str:
    curves = compute_anytime_curves(panel, settings)
    if not curves:
        return ""
    figure = anytime_figure(curves, panel.styles)
    label = "Indicator of the points found, by environment steps"
    return add_figure(figures, figure, "Anytime performance", label, anytime_caption(panel, settings), folded=True)


def scores_table(panel: Panel) -> str:
    """Return the main scores: the hypervolume ratio, which the overview has, and the first other indicators of the suite."""
    others = [name for name in panel.indicators if name not in (INDICATOR, "hypervolume")]
    names = [INDICATOR, *others] if INDICATOR in panel.indicators else others
    return _render_scores(panel, {name: panel.indicators[name] for name in names[:MAIN_SCORES]})


def _all_scores(panel: Panel) -> str:
    return f"<details><summary>All indicators</summary>{_render_scores(panel, panel.indicators)}</details>"


def _render_scores(panel: Panel, indicators: Mapping[str, Indicator]) -> str:
    head = "".join(f'<th scope="col">{html.escape(one.heading)}</th>' for one in indicators.values())
    lines = []
    for method, scores in panel.scores.items():
        cells = ""
        for name, one in indicators.items():
            mean, interval = format_score(one, scores.get(name))
            cells += f"<td>{mean}<small>{interval}</small></td>"
        missing = panel.missing_runs.get(method, 0)
        runs = f"{len(panel.points[method])}" + (f" <small>{missing} missing</small>" if missing else "")
        seconds = f"<td>{panel.median_seconds[method]:.2f}</td>"
        lines.append(f'<tr><th scope="row">{html.escape(method)}</th>{cells}<td>{runs}</td>{seconds}</tr>')
    for method, missing in panel.missing_runs.items():
        if method not in panel.scores:
            cell = f'<td colspan="{len(indicators) + 2}">{count(missing, "run")} missing</td>'
            lines.append(f'<tr><th scope="row">{html.escape(method)}</th>{cell}</tr>')
    body = "\n".join(lines)
    top = f"<tr><th>method</th>{head}<th>runs</th><th>median s / run</th></tr>"
    return f'<div class="wide" tabindex="0"><table>{top}{body}</table></div>'


def _utilities(panel: Panel, settings: Indicators) -> str:
    """Return the ESR and SER utilities and the policy sets; empty for plans, whose returns are deterministic."""
    if not panel.user_utilities:
        return ""
    names = list(next(iter(panel.user_utilities.values())))
    rows = [
        [method, criterion, *(format_cell(getattr(utilities[name], criterion.lower())) for name in names)]
        for method, utilities in panel.user_utilities.items()
        for criterion in CRITERION_MEANINGS
    ]
    return (
        f"<details><summary>Utility of single episodes (ESR) and of the mean return (SER)</summary>"
        f'{render_table(["method", "", *names], rows)}<p class="caption">{UTILITY_CAPTION}</p>'
        f"{_policy_sets(panel, settings) + _fairness(panel, settings) if panel.primary else ''}</details>"
    )


def _policy_sets(panel: Panel, settings: Indicators) -> str:
    rows = [
        [
            method,
            *(format_cell(at, ".3g") for at in (summary.policies, summary.front)),
            *map(_format_optional, (summary.esr, *(summary.control.get(name) for name in WEIGHT_INDICATORS))),
        ]
        for method, summary in summarize_policy_sets(panel, settings).items()
    ]
    return render_table(["method", *POLICY_SET_MEANINGS, *(one.heading for one in WEIGHT_INDICATORS.values())], rows)


def _fairness(panel: Panel, settings: Indicators) -> str:
    """Return the fairness over the agents of teams; empty for games and panels without a team of several evaluated agents."""
    measured = measure_team_fairness(panel, settings)
    if not measured:
        return ""
    rows = [[method, *(format_cell(at, ".3g") for at in values.values())] for method, values in measured.items()]
    return f'{render_table(["method", *FAIRNESS_MEANINGS], rows)}<p class="caption">{FAIRNESS_CAPTION}</p>'


def _format_optional(at: Interval | None) -> str:
    return "–" if at is None else format_cell(at, ".3g")


def _point_lists(panel: Panel) -> str:
    """Return the points of the first seed of each method."""
    parts = []
    for method, by_seed in panel.points.items():
        seed = min(by_seed)
        points = by_seed[seed]
        head = "".join(f"<th>{html.escape(objective.name)}</th>" for objective in panel.game.objectives)
        rows = list(zip(points.values.tolist(), points.errors.tolist(), points.labels, strict=True))[:MAX_LISTED]
        body = "".join(
            "<tr>"
            + "".join(f"<td>{format_value(v, e)}</td>" for v, e in zip(value, error, strict=True))
            + f'<td class="label">{html.escape(label)}</td></tr>'
            for value, error, label in rows
        )
        more = f" (first {MAX_LISTED})" if len(points.values) > MAX_LISTED else ""
        parts.append(
            f"<details><summary>{html.escape(method)}: {count(len(points.values), 'point')} of seed {seed}{more}</summary>"
            f'<div class="wide" tabindex="0"><table><tr>{head}<th>policy or plan</th></tr>{body}</table></div></details>'
        )
    return f"<details><summary>Points of each method</summary>{''.join(parts)}</details>"
