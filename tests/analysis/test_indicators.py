"""Indicators against hand-computed values, the definitions, and each other."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from momagames.analysis import indicators, utilities
from momagames.analysis.arrays import filter_dominated, normalize
from momagames.analysis.indicators import (
    cardinality,
    epsilon,
    hypervolume,
    hypervolume_ratio,
    igd_plus,
    rounded_cardinality,
    sparsity,
)
from momagames.errors import InvalidParameter

FOUR = [(5, 1), (4, 3), (2, 4), (1, 5)]
KNOWN = [(5, 1), (4, 3), (3, 4), (1, 5)]
LINE = [(k / 10, 1 - k / 10) for k in range(11)]


@pytest.mark.parametrize(
    ("points", "ref", "volume"),
    [
        ([*FOUR, (2, 2)], (0, 0), 16),
        ([*FOUR, (2, 2)], (1, 1), 7),
        ([(1, 2, 3), (3, 1, 2), (2, 3, 1)], (0, 0, 0), 13),
        ([np.roll((3, 1, 1, 1), k) for k in range(4)], (0, 0, 0, 0), 9),
        ([(1, 0), (0, 1)], (0, 0), 0),
        ([(1, 0), (0, 1), (0.4, 0.4)], (0, 0), 0.16),
        ([(3,), (5,)], (1,), 4),
        ([(0,)], (1,), 0),
        (np.zeros((0, 2)), (0, 0), 0),
    ],
)
def test_hypervolume_by_hand(points, ref, volume):
    found = hypervolume(points, ref)
    assert found.value == pytest.approx(volume)
    assert not found.approx


def by_inclusion_exclusion(points, ref):
    boxes = np.array(points, float) - ref
    return sum(
        (-1) ** (size + 1) * np.min(some, axis=0).prod()
        for size in range(1, len(boxes) + 1)
        for some in itertools.combinations(boxes, size)
    )


@pytest.mark.parametrize("objectives", [2, 3, 5, 7, 9])
def test_hypervolume_by_inclusion_and_exclusion(objectives):
    points = np.random.default_rng(objectives).random((7, objectives)) + 0.1
    assert hypervolume(points, np.zeros(objectives)).value == pytest.approx(by_inclusion_exclusion(points, 0.0))


def test_large_fronts_of_many_objectives_are_estimated_and_marked(monkeypatch):
    points = np.abs(np.random.default_rng(0).normal(size=(60, 8)))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    exact = hypervolume(points, np.zeros(8))
    monkeypatch.setitem(indicators.EXACT_POINTS, 8, 59)
    estimate = hypervolume(points, np.zeros(8))
    assert estimate.approx
    assert not exact.approx
    assert estimate.value == pytest.approx(exact.value, rel=0.005)
    assert estimate.value != exact.value


def draw_points(kind, count, objectives, rng):
    points = rng.dirichlet(np.ones(objectives), count) if kind == "simplex" else np.abs(rng.normal(size=(count, objectives)))
    return points / np.linalg.norm(points, axis=1, keepdims=True) if kind == "sphere" else points


@pytest.mark.parametrize("objectives", [7, 10, 15, 22])
@pytest.mark.parametrize("kind", ["simplex", "sphere", "cube"])
def test_the_error_of_estimates(monkeypatch, objectives, kind):
    """Also with many objectives, objectives of other scales, and an off-center reference point."""
    rng = np.random.default_rng(objectives)
    points = draw_points(kind, 11, objectives, rng)
    scale, low = 10.0 ** rng.integers(-3, 7, objectives), rng.normal(size=objectives)
    exact = hypervolume(points, np.zeros(objectives)).value
    monkeypatch.setattr(indicators, "MAX_SAMPLES", 1 << 16)
    monkeypatch.setattr(indicators, "EXACT_POINTS", dict.fromkeys(range(30), 0))
    estimate = hypervolume(points * scale + low, low)
    assert estimate.approx
    assert estimate.value / scale.prod() == pytest.approx(exact, rel=0.005)


@pytest.mark.long
@pytest.mark.parametrize("count", indicators.MEASURED_ERRORS)
def test_the_stated_standard_errors(monkeypatch, count):
    """Measured from 24 estimates of fewer samples each; errors fall with the square root of the number of samples."""
    monkeypatch.setattr(indicators, "EXACT_POINTS", dict.fromkeys(range(30), 0))
    samples, few = indicators._count_samples(count), 1 << 11
    monkeypatch.setattr(indicators, "MAX_SAMPLES", few)
    errors = []
    for kind, objectives in itertools.product(["simplex", "sphere", "cube"], [7, 10, 22]):
        points, volumes = draw_points(kind, count, objectives, np.random.default_rng(objectives)), []
        for seed in range(24):
            monkeypatch.setattr(indicators, "SEED", seed)
            volumes.append(hypervolume(points, np.zeros(objectives)).value)
        errors.append(np.std(volumes, ddof=1) / np.mean(volumes) * np.sqrt(few / samples))
    stated = indicators.MEASURED_ERRORS[count]
    assert stated / 2 < max(errors) < stated


def test_the_stated_standard_errors_are_those_of_the_page():
    page = Path(__file__).parents[2].joinpath("docs", "metrics.md").read_text(encoding="utf-8")
    small, middle, large = (f"{100 * error:g} % for {count:,}" for count, error in indicators.MEASURED_ERRORS.items())
    assert f"at most {small} points, {middle} and {large}, for random points" in " ".join(page.split())


def test_distances_by_hand():
    assert epsilon(FOUR, KNOWN) == 1.0
    assert igd_plus(FOUR, KNOWN) == 0.25
    assert igd_plus(LINE[::5], LINE) == pytest.approx(0.109091, abs=1e-6)
    assert epsilon(LINE[::5], LINE) == pytest.approx(0.2)
    assert epsilon([(6, 6)], KNOWN) == -1.0  # beats the reference set


def test_sparsity_rewards_collapse():
    """The numbers of the warning in the docstring."""
    assert sparsity(LINE) == pytest.approx(0.02)
    assert sparsity(LINE[:2]) == pytest.approx(0.02)
    assert sparsity(LINE[:1]) == 0
    assert sparsity([LINE[0], LINE[-1]]) == 2
    assert sparsity([*LINE, LINE[3], (0, 0)]) == pytest.approx(0.02)


def test_nearly_equal_points_count_once():
    cloud = [(0.500, 0.501), (0.501, 0.500), (0.502, 0.499), (0.1, 0.9), (0.3, 0.3)]
    assert cardinality(cloud) == 4
    assert rounded_cardinality(cloud) == 2
    assert rounded_cardinality(cloud, 0.001) == 4
    assert rounded_cardinality(LINE) == 11
    assert rounded_cardinality(np.zeros((0, 2))) == 0


def test_fronts_and_ratios():
    assert filter_dominated([(2, 2), (5, 1), (5, 1), (1, 5), (2, 1)]).tolist() == [[1, 5], [2, 2], [5, 1]]
    assert cardinality([*FOUR, (5, 1), (2, 2)]) == 4
    assert hypervolume_ratio(FOUR, (0, 0), KNOWN).value == pytest.approx(16 / 17)
    assert hypervolume_ratio([(6, 6)], (0, 0), KNOWN).value > 1
    assert normalize([(5, 1)], (1, 1), (9, 2)).tolist() == [[0.5, 0.0]]


def test_order_of_rows_does_not_matter():
    shuffled = np.random.default_rng(0).permutation(FOUR)
    for measure in (
        lambda p: hypervolume(p, (0, 0)).value,
        lambda p: igd_plus(p, KNOWN),
        lambda p: epsilon(p, KNOWN),
        sparsity,
    ):
        assert measure(FOUR) == pytest.approx(measure(shuffled), rel=1e-15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hypervolume([(1, np.nan)], (0, 0)), "expected finite numbers"),
        (lambda: hypervolume([(1, 2)], (0, 0, 0)), "2 finite numbers"),
        (lambda: hypervolume([(1, 2)], (0, np.inf)), "2 finite numbers"),
        (lambda: hypervolume([1, 2], (0, 0)), r"expected \(0 or more, K\)"),
        (lambda: hypervolume([[(1, 2)]], (0, 0)), r"invalid shape \(1, 1, 2\) of points"),
        (lambda: hypervolume_ratio([(1, 2)], (0, 0), [(1, 2, 3)]), "of reference_set"),
        (lambda: hypervolume_ratio([(1, 2)], (2, 2), [(1, 2)]), "above ref"),
        (lambda: igd_plus([(1, 2, 3)], KNOWN), "of points"),
        (lambda: igd_plus(FOUR, np.zeros((0, 2))), "1 or more"),
        (lambda: igd_plus(np.zeros((0, 2)), FOUR), "1 or more"),
        (lambda: epsilon(FOUR, [(np.nan, 1)]), "expected finite numbers"),
        (lambda: rounded_cardinality(FOUR, 0.0), "above 0"),
        (lambda: normalize(FOUR, (0, 0), (1, 0)), "expected values above ref"),
        (lambda: hypervolume(["a"], (0, 0)), "invalid points="),
        (lambda: hypervolume([[1, 2], [1]], (0, 0)), "invalid points="),
        (lambda: hypervolume([], b"x"), "invalid ref="),
        (lambda: igd_plus([[10**400, 1]], KNOWN), "invalid points="),
        (lambda: cardinality(np.zeros((1, 0))), "1 to 255 columns"),
        (lambda: epsilon(np.zeros((1, 0)), np.zeros((1, 0))), "1 to 255 columns"),
        (lambda: hypervolume(np.ones((1, 256)), np.zeros(256)), "1 to 255 columns"),
        (lambda: utilities.linear({"a": 1}), "invalid weights="),
        (lambda: utilities.threshold([1j]), "invalid levels="),
    ],
)
def test_invalid_arguments(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()
