"""One color and symbol for each method, in every report; the colors differ with color-blind vision."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest

from momagames.benchmark.choices import label_methods
from momagames.benchmark.suite_files import list_suites, load_suite
from momagames.reports.data.method_styles import COLOR_ROWS, COLUMNS, FIRST_OTHER, KNOWN, assign_numbers, number_methods
from momagames.reports.figures.matplotlib_figures import MARKERS, marker_style
from momagames.reports.figures.theme import COLORS, DARK, METHOD_COLORS, SYMBOLS, style_color, style_symbol


@pytest.fixture(scope="module")
def suites():
    return {name: load_suite(path) for name, path in list_suites().items()}


# Simulation of dichromats in linear RGB (Machado, Oliveira and Fernandes 2009), and RGB to XYZ (sRGB, D65)
VISION = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def decode_color(color):
    shares = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def to_lab(linear):
    ratios = XYZ @ np.clip(linear, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(ratios > 0.008856, np.cbrt(ratios), 7.787 * ratios + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one, other):
    light, dark = sorted(((XYZ @ decode_color(color))[1] + 0.05 for color in (one, other)), reverse=True)
    return light / dark


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("ground", ["#ffffff", DARK["#ffffff"]])
def test_colors_differ(vision, ground):
    colors = [*METHOD_COLORS] if ground == "#ffffff" else [*METHOD_COLORS.values()]
    labs = [to_lab(np.asarray(VISION[vision]) @ decode_color(color)) for color in colors]
    assert min(np.linalg.norm(one - other) for one, other in combinations(labs[:COLUMNS], 2)) > 15
    assert min(np.linalg.norm(one - other) for one, other in combinations(labs, 2)) > (15 if vision == "normal" else 8)
    assert min(contrast(color, ground) for color in colors) > 2


def test_methods_of_a_suite_differ(suites):
    for name, suite in suites.items():
        numbers = number_methods(suite)
        assert len({(style_color(number), style_symbol(number)) for number in numbers.values()}) == len(numbers), name
        families = defaultdict[str, set[str]](set)
        for experiment in suite.experiments:
            for choice in experiment.games:
                families[choice.make_game().title] |= {*label_methods(experiment.methods).values()}
        for family, names in families.items():  # they meet in the overview of its page
            assert len({style_color(numbers[one]) for one in names}) == len(names), (name, family)


def test_a_method_has_the_same_style_in_every_suite(suites):
    every = [(method, number) for suite in suites.values() for method, number in number_methods(suite).items()]
    assert len(dict(every)) == len(set(every))


def test_tables_of_styles():
    assert {len(row) for row in KNOWN} == {COLUMNS}
    assert len(COLORS) == COLUMNS * (1 + COLOR_ROWS)
    assert len(set(filter(None, (name for row in KNOWN for name in row)))) == sum(bool(name) for row in KNOWN for name in row)
    assert MARKERS.keys() == SYMBOLS.keys()
    markers = [marker_style(number) for number in range(COLUMNS * len(SYMBOLS))]
    assert len({tuple(sorted(marker.items())) for marker in markers}) == len(markers)


def test_other_methods_have_colors_of_their_own():
    numbers = assign_numbers(["random", "mine:First", "greedy", "greedy(divisions=2)", "mine:Second"])
    assert numbers["random"] == 0
    assert numbers["greedy"] == 1
    assert min(numbers[name] for name in numbers if name not in ("random", "greedy")) >= FIRST_OTHER
    assert len({style_color(number) for number in numbers.values()}) == 5
