"""Figures of the fronts of a panel: the points of each run, attainment surfaces of all runs, and where two methods differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from momagames.analysis.arrays import Array, filter_dominated
from momagames.analysis.attainment import attainment_difference_map, attainment_surfaces, pairwise_projections
from momagames.analysis.reference import Reference
from momagames.reports.data.overview import rank_methods
from momagames.reports.data.panels import Panel
from momagames.reports.data.points import Points
from momagames.reports.figures.drawing import (
    PAPER_VIEW,
    Axis,
    Band,
    Cloud,
    Drawing,
    Line,
    Mark,
    Plot,
    Rectangles,
    stair_corners,
)
from momagames.reports.text.captions import OBJECTIVE_PAIRS_CAPTION

ATTAINMENT = "attainment surfaces of all runs: median, worst, best"
MAX_PAIRS = 15  # six objectives
PAIR_COLUMNS = 3
PAIR_SIZE = (2.4, 2.1)  # inches of a small plot in a paper
LABEL_LENGTH = 70  # of a point


def draw_best(panel: Panel) -> Drawing:
    """Return the best value of each run, for one objective."""
    seeds = sorted(panel.references)
    marks = []
    for method, by_seed in panel.points.items():
        runs = [by_seed[seed] for seed in sorted(by_seed)]
        top = [int(points.values[:, 0].argmax()) for points in runs]
        values = np.array([[seeds.index(s), p.values[k, 0]] for s, p, k in zip(sorted(by_seed), runs, top, strict=True)])
        indices = [(i, runs[i].front_indices[k]) for i, k in enumerate(top) if runs[i].front_indices]
        origin = [points.run for points in runs], indices
        labels = [f"seed {seed}" for seed in sorted(by_seed)]
        ends = values.min(axis=0), values.max(axis=0)
        marks.append(
            Cloud(
                name=method, style=panel.styles[method], values=values, labels=labels, low=ends[0], high=ends[1], origin=origin
            )
        )
    (objective,) = panel.game.objectives
    return Drawing([Plot((Axis(categories=[f"seed {seed}" for seed in seeds]), Axis.of(objective)), marks)], 400)


def draw_fronts(panel: Panel) -> Drawing:
    """Return the fronts of two or more objectives.

    The views are the seeds; for two and three objectives the attainment surfaces of all runs; for two the difference of the two
    best methods.
    """
    objectives = panel.game.objectives
    marks: list[Mark] = [mark for seed in sorted(panel.references) for mark in _list_clouds(panel, seed)]
    printed = None
    if len(objectives) == 2:
        printed = ATTAINMENT if any(len(runs) > 1 for runs in panel.points.values()) else PAPER_VIEW
        marks += [*_list_surfaces(panel, printed), *_list_differences(panel)]
    elif len(objectives) == 3:
        marks += _list_surfaces_in_space(panel)
    height = 460 if len(objectives) == 3 else 400
    return Drawing([Plot([Axis.of(one) for one in objectives], marks)], height, legend="outside", printed=printed)


def _list_clouds(panel: Panel, seed: int) -> Iterator[Cloud]:
    """Yield the reference front and the points of each method in a view of a seed."""
    reference, view = panel.references[seed], f"seed {seed}"
    ends: dict[str, Any] = {"low": reference.ref, "high": reference.ideal, "view": view}
    yield Cloud(name=reference_name(reference), values=np.unique(reference.values, axis=0), **ends)
    for method, runs in panel.points.items():
        if seed in runs:
            yield Cloud(name=method, style=panel.styles[method], **_sort_points(runs[seed]), **ends)


def _sort_points(points: Points) -> dict[str, Any]:
    """Return the points in order of the first objective; without standard errors, where they have none."""
    order = np.lexsort(points.values.T[::-1])
    has_errors = bool(points.errors.any() and np.isfinite(points.errors).all())
    return {
        "values": points.values[order],
        "labels": [_truncate(points.labels[i]) for i in order],
        "errors": points.errors[order] if has_errors else None,
        "origin": ([points.run], [(0, points.front_indices[i]) for i in order if points.front_indices]),
    }


def _list_surfaces(panel: Panel, view: str) -> Iterator[Mark]:
    """Yield the reference front, if all seeds have the same, and the median attainment of each method in its band."""
    if reference := _find_common_reference(panel):
        corners = stair_corners(reference.values, reference.ref)
        yield Line(name=reference_name(reference), view=view, corners=corners, is_main=False)
    low = _find_low(panel)
    text = "\n".join(f"{o.name} {{{axis}:.6g}}" for o, axis in zip(panel.game.objectives, "xy", strict=True))
    for method, runs in panel.points.items():
        bounds = attainment_surfaces([runs[seed].values for seed in sorted(runs)])
        worst, median, best = (stair_corners(values, low) for values in (bounds.worst, bounds.median, bounds.best))
        mark: dict[str, Any] = {"name": method, "style": panel.styles[method], "view": view}
        texts = f"{text}\nworst run of {len(runs)}", f"{text}\nbest run of {len(runs)}"
        yield Band(**mark, low=worst, high=best, texts=texts, opacity=0.13, in_legend=False)
        yield Line(**mark, corners=median, text=f"{text}\nmedian run of {len(runs)}")


def _find_common_reference(panel: Panel) -> Reference | None:
    """Return the reference front if all seeds have the same."""
    first, *others = (panel.references[seed] for seed in sorted(panel.references))
    return first if all(np.array_equal(first.values, other.values) for other in others) else None


def _list_surfaces_in_space(panel: Panel) -> Iterator[Mark]:
    """Yield the median attainment of methods with several runs, and the worst and best as smaller points."""
    low = _find_low(panel)
    for method, runs in panel.points.items():
        if len(runs) > 1:
            bounds = attainment_surfaces([runs[seed].values for seed in sorted(runs)])
            for name, values in (("median", bounds.median), ("worst", bounds.worst), ("best", bounds.best)):
                yield Cloud(
                    name=method,
                    style=panel.styles[method],
                    view=ATTAINMENT,
                    in_legend=name == "median",
                    values=values,
                    labels=[f"{name} run of {len(runs)}"] * len(values),
                    low=low,
                    high=values.max(axis=0),
                    scale=1.0 if name == "median" else 0.5,
                )


def draw_pairs(panel: Panel) -> Drawing:
    """Return the attainment surfaces in each pair of objectives as small plots: the median, and a band from worst to best.

    The plots begin at the reference point: points below it, which count for no indicator, would flatten the rest.
    """
    objectives, low, high = panel.game.objectives, _find_low(panel), _find_high(panel)
    pairs = _list_pairs(panel)
    marks: dict[tuple[int, int], list[Mark]] = {pair: [] for pair in pairs}
    if reference := _find_common_reference(panel):
        for pair in pairs:
            corners = stair_corners(filter_dominated(reference.values[:, pair]), reference.ref[list(pair)])
            is_first = pair == pairs[0]
            marks[pair].append(Line(name=reference_name(reference), corners=corners, is_main=False, in_legend=is_first))
    for method, runs in panel.points.items():
        projections = pairwise_projections([points.values for _, points in sorted(runs.items())])
        for pair in pairs:
            bounds, ends = attainment_surfaces(projections[pair]), low[list(pair)]
            worst, median, best = (stair_corners(values, ends) for values in (bounds.worst, bounds.median, bounds.best))
            text = f"{objectives[pair[0]].name} {{x:.6g}}\n{objectives[pair[1]].name} {{y:.6g}}"
            mark: dict[str, Any] = {"name": method, "style": panel.styles[method]}
            if len(runs) > 1:
                marks[pair].append(Band(**mark, low=worst, high=best, opacity=0.13, in_legend=False))
            marks[pair].append(Line(**mark, corners=median, text=text, in_legend=pair == pairs[0]))
    axes = [Axis(one.name, limits=(start, end)) for one, start, end in zip(objectives, low, high, strict=True)]
    plots = [Plot((axes[i], axes[j]), marks[i, j]) for i, j in pairs]
    columns = min(PAIR_COLUMNS, len(pairs))
    rows = -(-len(pairs) // columns)
    size = PAIR_SIZE[0] * columns, PAIR_SIZE[1] * rows
    return Drawing(plots, 80 + 230 * rows, size, columns, legend="outside", caption=OBJECTIVE_PAIRS_CAPTION)


def select_objectives(panel: Panel, names: Sequence[str]) -> Panel | None:
    """Return a panel with some of its objectives, in this order, for its figures; None if it lacks one of them."""
    known = [one.name for one in panel.game.objectives]
    if not set(names) <= set(known):
        return None
    chosen = [known.index(name) for name in names]

    def select(one: Any) -> Array:
        return np.asarray(one)[..., chosen]

    points = {
        method: {seed: replace(one, values=select(one.values), errors=select(one.errors)) for seed, one in runs.items()}
        for method, runs in panel.points.items()
    }
    references = {}
    for seed, one in panel.references.items():
        front = filter_dominated(select(one.values))
        references[seed] = replace(one, values=front, ref=select(one.ref), ideal=select(one.ideal), declared=None)
    game = replace(panel.game, objectives=tuple(panel.game.objectives[i] for i in chosen))
    return replace(panel, points=points, references=references, game=game)


def has_pairs(panel: Panel) -> bool:
    """Return whether the objectives are too many for a plot of two, and few enough for small plots of pairs."""
    return panel.primary and len(panel.game.objectives) > 2 and len(_list_pairs(panel)) <= MAX_PAIRS


def _list_pairs(panel: Panel) -> list[tuple[int, int]]:
    return list(combinations(range(len(panel.game.objectives)), 2))


def find_best_two(panel: Panel) -> Sequence[str]:
    """Return the two methods with the highest hypervolume ratio among those with several runs; empty if there are fewer."""
    ranked = [method for method in rank_methods(panel) if len(panel.points[method]) > 1]
    return ranked[:2] if len(ranked) > 1 else ()


def _list_differences(panel: Panel) -> Iterator[Mark]:
    """Yield areas in the color of the one of the two best methods that attains them in more of its runs."""
    methods = find_best_two(panel)
    if not methods:
        return
    runs = [[points.values for points in panel.points[method].values()] for method in methods]
    ends, shares = attainment_difference_map(runs[0], runs[1], _find_low(panel))
    view = f"difference in attainment: {methods[0]} and {methods[1]}"
    for method, sign in zip(methods, (1, -1), strict=True):
        for share in np.unique(np.round(shares[shares * sign > 0], 6)):
            name, opacity = f"{method}: attained by {abs(share):.0%} more of its runs", round(0.15 + 0.7 * abs(float(share)), 3)
            inside = ends[np.isclose(shares, share)]
            yield Rectangles(name=name, style=panel.styles[method], view=view, ends=inside, opacity=opacity)


def reference_name(reference: Reference) -> str:
    """Return the name of a reference front in figures."""
    return f"{reference.tag} front"


def _find_low(panel: Panel) -> Array:
    return np.asarray(np.min([reference.ref for reference in panel.references.values()], axis=0))


def _find_high(panel: Panel) -> Array:
    """Return the highest value of each objective, with a margin."""
    low = _find_low(panel)
    ideals = [reference.ideal for reference in panel.references.values()]
    best = [points.values.max(axis=0) for runs in panel.points.values() for points in runs.values() if len(points.values)]
    top = np.max([*ideals, *best], axis=0)
    return np.asarray(low + 1.03 * np.where(top > low, top - low, 1.0))


def _truncate(label: str) -> str:
    return label if len(label) <= LABEL_LENGTH else label[: LABEL_LENGTH - 3] + "..."
