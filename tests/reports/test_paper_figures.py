"""Figures for papers: the reference front first, and a limited number of lines."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from momagames.analysis.reference import Reference
from momagames.reports.data.points import Points
from momagames.reports.figures.fronts import draw_fronts, draw_pairs
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


@pytest.mark.parametrize(("methods", "length", "columns"), [(3, 3, 3), (3, 30, 1), (3, 200, 1)])
def test_the_legend_of_few_methods_is_no_wider_than_the_axes(methods, length, columns):
    counts = {f"{i} {'x' * length}": 3 for i in range(methods)}
    (axes,) = draw_with_matplotlib(draw_fronts(make_panel(3, counts))).axes
    legend = axes.get_legend()
    axes.figure.draw_without_rendering()
    assert legend._ncols == columns
    assert legend._ncols == 1 or legend.get_window_extent().width <= axes.get_window_extent().width


@pytest.mark.parametrize(("methods", "columns"), [(8, 1), (25, 2)])
def test_the_legend_of_many_methods_takes_no_height(methods, columns):
    (axes,) = draw_with_matplotlib(draw_fronts(make_panel(3, {str(i): 3 for i in range(methods)}))).axes
    legend = axes.get_legend()
    axes.figure.draw_without_rendering()
    assert legend._ncols == columns
    assert legend.get_window_extent().x0 >= axes.get_window_extent().x1
    assert legend.get_window_extent().height <= axes.figure.bbox.height


def test_pairs_of_objectives_begin_at_the_reference_point():
    panel = make_panel(3, {"a": 5, "b": 5})
    panel.points["a"][1] = replace(panel.points["a"][0], values=panel.points["a"][0].values - 1000)  # a bad run
    panel.references[1] = panel.references[0]
    figure = draw_with_matplotlib(draw_pairs(panel))
    assert [(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes] == [("o0", "o1"), ("o0", "o2"), ("o1", "o2")]
    assert {axes.get_xlim()[0] for axes in figure.axes} == {0.0}
    assert all(len(axes.patches) == 1 for axes in figure.axes)  # the band of the method with two runs
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["exact front", "a", "b"]
