"""Figures that compare methods: overview, statistics over games, generalization, anytime performance, head-to-head results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from momagames.analysis.arrays import Array
from momagames.analysis.named_indicators import INDICATORS
from momagames.analysis.statistics import Interval
from momagames.benchmark.suites import Indicators
from momagames.reports.data.aggregate import Aggregate
from momagames.reports.data.anytime_curves import compute_anytime_curves
from momagames.reports.data.crossplay import CrossPlay
from momagames.reports.data.generalization import MORE_IS_BETTER
from momagames.reports.data.head_to_head import HeadToHeadScores
from momagames.reports.data.overview import OverviewRow, list_methods
from momagames.reports.data.panels import Panel
from momagames.reports.figures.drawing import Axis, Band, Drawing, Heatmap, Intervals, Line, Mark, Plot
from momagames.reports.text import captions
from momagames.reports.text.labels import SAME_NAME_MARK, describe_interval
from momagames.wording import count

Styles = Mapping[str, int]  # method or role -> its number, see `data.method_styles`
STATISTICS = {"iqm": ("IQM", True), "optimality_gap": ("optimality gap", False)}  # of a figure: label, and more is better
WIDE = 6.5  # inches
HEAT_COLUMNS = 2  # heat maps side by side on the page


def draw_overview(rows: Sequence[OverviewRow], styles: Styles) -> Drawing:
    """Return a row for each setting with the hypervolume ratio of each method."""
    marks = []
    for method in list_methods(rows):
        at = [(number, row.scores[method]) for number, row in enumerate(rows) if method in row.scores]
        texts = [f"{rows[number].title}\n{method}: {describe_interval(one)}, {count(one.runs, 'run')}" for number, one in at]
        marks.append(Intervals(name=method, style=styles[method], at=at, texts=texts, is_small=True))
    axes = (
        Axis("hypervolume ratio", more_is_better=True, start_at_zero=True),
        Axis(categories=[row.title for row in rows], heads_rows=True),
    )
    return Drawing([Plot(axes, marks)], 85 + 46 * len(rows), size=None, legend="outside")


def draw_statistics(aggregate: Aggregate, styles: Styles) -> Drawing:
    """Return interquartile means and optimality gaps: a row for each method, a plot for each statistic."""
    plots = []
    for statistic, (label, more_is_better) in STATISTICS.items():
        scores = {method: found[statistic] for method, found in aggregate.statistics.items()}
        plots.append(_plot_rows(Axis(label, more_is_better=more_is_better), scores, styles))
    return _place_rows(plots, len(aggregate.statistics), f"{captions.aggregate_caption(aggregate)}.")


def draw_profiles(aggregate: Aggregate, styles: Styles) -> Drawing:
    """Return performance profiles: the share of scores above each threshold, with pointwise bands."""
    marks: list[Mark] = []
    for method, profile in aggregate.profiles.items():
        text = "{y:.0%} of the runs above {x:.2f}"
        curves = np.column_stack([profile.low, profile.share, profile.high])
        marks += _draw_curve(method, styles[method], profile.thresholds, curves, text)
    axes = Axis("HV ratio t"), Axis("share of scores above t", is_share=True, limits=(-0.02, 1.02))
    return Drawing([Plot(axes, marks)], 420, caption=captions.PROFILES_CAPTION)


def draw_generalization(panel: Panel) -> Drawing:
    """Return each indicator in training (hollow) and in test instances (filled), a row for each method."""
    plots = []
    for name, is_up in MORE_IS_BETTER.items():
        marks = []
        for row, (method, found) in enumerate(panel.generalization.items()):
            for kind, at, place in (("training", found[name].training, row - 0.14), ("unseen", found[name].test, row + 0.14)):
                text = f"{method}, {kind} instances: {describe_interval(at)}"
                is_filled = kind != "training"
                marks.append(
                    Intervals(name=method, style=panel.styles[method], at=[(place, at)], texts=[text], is_filled=is_filled)
                )
        label = f"{name} ({'more' if is_up else 'less'} is better)"
        plots.append(Plot((Axis(label), Axis(categories=list(panel.generalization))), marks))
    note = "hollow: training instances, filled: unseen instances"
    return _place_rows(plots, len(panel.generalization), captions.GENERALIZATION_CAPTION, note)


def draw_anytime(panel: Panel, settings: Indicators) -> Drawing:
    """Return the anytime performance of each method, with a band for several runs."""
    curves = compute_anytime_curves(panel, settings)
    assert curves
    marks: list[Mark] = []
    label = INDICATORS[curves.indicator].label
    for method, band in curves.bands.items():
        text = f"{label} {{y:.3f}} at {{x:,}} steps, mean of {count(curves.runs[method], 'run')}"
        lines = np.column_stack([band.low, band.mean, band.high]).round(6)
        drawn = _draw_curve(method, panel.styles[method], curves.budgets, lines, text)
        marks += drawn if curves.runs[method] > 1 else drawn[1:]
    axes = Axis("environment steps", is_log=True), Axis(label, start_at_zero=True)
    return Drawing([Plot(axes, marks)], 380, caption=captions.anytime_caption(panel, settings))


def draw_crossplay(crossplay: CrossPlay) -> Drawing:
    """Return a heat map of methods against opponents for each seat; the views are the tables."""
    methods, opponents, seats = crossplay.methods, crossplay.opponents, crossplay.seats
    same = {(methods.index(m), opponents.index(o)) for m, o in crossplay.same_name}
    axes = Axis("opponent", categories=opponents), Axis(categories=methods)
    plots = []
    for seat in seats:
        marks = []
        for name, table in crossplay.tables.items():
            cells = [[table[seat, m, o] for o in opponents] for m in methods]
            texts = [
                [f"{at.value:.2f}" + (f" {SAME_NAME_MARK}" if (i, j) in same else "") for j, at in enumerate(row)]
                for i, row in enumerate(cells)
            ]
            details = [
                [f"{m} against {o}, as {seat}: {name} {_describe_cell(at)}" for o, at in zip(opponents, row, strict=True)]
                for m, row in zip(methods, cells, strict=True)
            ]
            values = np.array([[at.value for at in row] for row in cells])
            marks.append(Heatmap(name=name, view=name, values=values, texts=texts, details=details, outlined=sorted(same)))
        plots.append(Plot(axes, marks, f"as {seat}"))
    columns = min(HEAT_COLUMNS, len(seats))
    height = 110 + -(-len(seats) // columns) * (90 + 46 * len(methods))
    size = 1.2 + len(seats) * (0.5 + 0.8 * len(opponents)), 1.0 + 0.5 * len(methods)
    return Drawing(plots, height, size, columns, "none", caption=captions.crossplay_caption(crossplay))


def draw_head_to_head(scores: HeadToHeadScores, styles: Styles) -> Drawing:
    """Return the ratings of the players, best first, and the share of games that each wins against each."""
    players = sorted(scores.players, key=lambda player: -scores.ratings[player].value)
    ratings = _plot_rows(Axis("rating (Elo points)"), {player: scores.ratings[player] for player in players}, styles, ".0f")
    values = np.array([[scores.wins[a, b].value for b in players] for a in players])
    texts = [[f"{value:.2f}" for value in row] for row in values.tolist()]
    details = [[f"{a} against {b}: {_describe_cell(scores.wins[a, b])} of the games" for b in players] for a in players]
    title = "share of games won by the row" if scores.two_sided else "share of games won by the row alone"
    cells = Heatmap(name=title, values=values, texts=texts, details=details, is_dense=True)
    wins = Plot((Axis(categories=players), Axis(categories=players)), [cells], title)
    size = 3.0 + 0.55 * len(players), 1.3 + 0.36 * len(players)
    height, caption = 150 + 36 * len(players), captions.HEAD_TO_HEAD_CAPTION
    return Drawing([ratings, wins], height, size, 2, "none", caption=caption)


def _describe_cell(at: Interval) -> str:
    return f"{describe_interval(at)}, {count(at.runs, 'run')}"


def _plot_rows(axis: Axis, scores: Mapping[str, Interval], styles: Styles, form: str = ".3f") -> Plot:
    """Return a plot with a row for each method."""
    marks = [
        Intervals(name=name, style=styles[name], at=[(row, at)], texts=[f"{name}: {describe_interval(at, form)}"])
        for row, (name, at) in enumerate(scores.items())
    ]
    return Plot((axis, Axis(categories=list(scores))), marks)


def _place_rows(plots: Sequence[Plot], rows: int, caption: str, note: str = "") -> Drawing:
    """Return plots of the same rows side by side."""
    return Drawing(plots, 120 + 36 * rows, (WIDE, 0.9 + 0.3 * rows), len(plots), "none", note=note, caption=caption)


def _draw_curve(method: str, style: int, x: ArrayLike, curves: Array, text: str) -> list[Mark]:
    """Return a band and a line in it; curves: float[n, 3], low end, line and high end."""
    low, line, high = (np.column_stack([x, column]) for column in curves.T)
    band = Band(name=method, style=style, low=low, high=high, in_legend=False)
    return [band, Line(name=method, style=style, corners=line, text=text)]
