"""Figures for papers: the reference front first, and a limited number of lines."""

from types import SimpleNamespace

import numpy as np
import pytest

from momagames.analysis.reference import Reference
from momagames.reports.data.points import Points
from momagames.reports.figures.fronts import draw_fronts
from momagames.reports.figures.matplotlib_figures import MAX_LINES, draw_with_matplotlib
from momagames.reports.figures.theme import REFERENCE_COLOR

pytest.importorskip("matplotlib", reason='needs matplotlib: pip install "momagames[figures]"')


def make_panel(objectives, counts):
    rng = np.random.default_rng(0)
    points = {}
    for name, count in counts.items():
        values = rng.random((count, objectives))
        points[name] = {0: Points(values, ("",) * count, np.zeros_like(values))}
    reference = Reference(np.ones((2, objectives)), "exact", np.zeros(objectives), np.ones(objectives))
    game = SimpleNamespace(objectives=[SimpleNamespace(name=f"o{i}", unit="") for i in range(objectives)])
    styles = {name: i for i, name in enumerate(counts)}
    scores = {name: {} for name in counts}
    return SimpleNamespace(points=points, references={0: reference}, game=game, styles=styles, scores=scores)


def test_lines_of_parallel_coordinates_are_few():
    (axes,) = draw_with_matplotlib(draw_fronts(make_panel(4, {"a": 5, "b": 1000, "c": 1000}))).axes
    assert axes.lines[0].get_color() == REFERENCE_COLOR  # drawn first, equal points once
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["exact front", "a", "b", "c"]
    assert len(axes.lines) == 1 + 5 + 2 * (MAX_LINES // 3)
    assert {handle.get_alpha() for handle in axes.get_legend().legend_handles} == {1}


@pytest.mark.parametrize("same", [True, False])
def test_reference_of_attainment_surfaces(same):
    panel = make_panel(2, {"a": 3})
    panel.points["a"][1] = panel.points["a"][0]
    other = np.ones((2, 2)) if same else np.full((1, 2), 0.5)
    panel.references[1] = Reference(other, "exact", np.zeros(2), np.ones(2))
    (axes,) = draw_with_matplotlib(draw_fronts(panel)).axes
    assert (axes.lines[0].get_color() == REFERENCE_COLOR) == same


@pytest.mark.parametrize(("length", "columns"), [(3, 3), (30, 1), (200, 1)])
def test_the_legend_is_no_wider_than_the_axes(length, columns):
    counts = {f"{i} {'x' * length}": 3 for i in range(9)}
    (axes,) = draw_with_matplotlib(draw_fronts(make_panel(3, counts))).axes
    legend = axes.get_legend()
    axes.figure.draw_without_rendering()
    assert legend._ncols == columns
    assert legend._ncols == 1 or legend.get_window_extent().width <= axes.get_window_extent().width
