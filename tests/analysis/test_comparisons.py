"""Comparisons of two methods, and profiles, against scipy, brute force and hand-computed values."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from momagames.analysis.comparisons import holm_correction, probability_of_improvement, statistic_difference
from momagames.analysis.profiles import performance_profile
from momagames.analysis.statistics import iqm
from momagames.errors import InvalidParameter


def scores(seed, runs=6, games=3, shift=0.0):
    return np.random.default_rng(seed).normal(shift, 1, (runs, games)).round(1)


def test_improvement_by_scipy():
    a, b = scores(0, 6), scores(1, 8, shift=0.4)
    share = np.mean([stats.mannwhitneyu(a[:, k], b[:, k]).statistic / (6 * 8) for k in range(3)])
    found = probability_of_improvement(a, b)
    assert found.value == pytest.approx(share)
    assert found.low < found.value < found.high
    assert found.runs == 6


def test_ties_count_half_and_the_two_sides_add_up():
    assert probability_of_improvement([1.0, 2.0], [2.0, 3.0]).value == pytest.approx(0.5 / 4)
    a, b = scores(2), scores(3)
    one, other = probability_of_improvement(a, b), probability_of_improvement(b, a)
    assert one.value + other.value == pytest.approx(1)
    assert one.low + other.high == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("paired", [False, True])
def test_improvement_interval_by_every_resample(paired):
    a, b = np.array([0.0, 2, 4]), np.array([1.0, 2, 1])
    drawn = list(product(range(3), repeat=3))
    pairs = zip(drawn, drawn, strict=True) if paired else product(drawn, drawn)
    every = [np.mean([(a[i] > b[j]) + (a[i] == b[j]) / 2 for i in ours for j in theirs]) for ours, theirs in pairs]
    found = probability_of_improvement(a, b, confidence=0.8, resamples=50_000, paired=paired)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(every, [0.1, 0.9], method="inverted_cdf")), abs=0.06)


def test_difference_of_paired_runs_by_scipy():
    """The permutation of paired runs is a sign test of their differences; scipy tries every sign."""
    a, b = scores(4, 7, 1, 0.8)[:, 0], scores(5, 7, 1)[:, 0]
    exact = stats.permutation_test((a - b,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided")
    found = statistic_difference(a, b, paired=True, resamples=40_000)
    assert found.interval.value == pytest.approx((a - b).mean())
    assert found.p == pytest.approx(exact.pvalue, abs=0.01)
    plain = np.random.default_rng(0).choice(a - b, (40_000, 7)).mean(axis=1)
    assert (found.interval.low, found.interval.high) == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])), abs=0.03)


def test_difference_of_unpaired_runs_by_scipy():
    a, b = scores(6, 5, 1, 1.0)[:, 0], scores(7, 6, 1)[:, 0]
    exact = stats.permutation_test((a, b), lambda x, y: x.mean() - y.mean(), permutation_type="independent", n_resamples=np.inf)
    assert statistic_difference(a, b, resamples=40_000).p == pytest.approx(exact.pvalue, abs=0.01)


def test_difference_over_games():
    a = scores(8, 10, 5)
    same = statistic_difference(a, a, statistic=iqm)
    assert same.interval.value == 0
    assert same.p == 1
    better = statistic_difference(a + 2, a, statistic=iqm, paired=True, resamples=2_000)
    assert better.interval.value == pytest.approx(2)
    assert better.interval.low > 1.5
    assert better.p == pytest.approx(1 / 2_001)
    # pairs with the same shift have no spread; without pairs there is some
    assert statistic_difference(a + 2, a, paired=True).interval.low == pytest.approx(2)
    assert statistic_difference(a + 2, a).interval.low < 1.9


@pytest.mark.parametrize("paired", [False, True])
def test_false_positive_rate(paired):
    rng = np.random.default_rng(9)
    alarms = [
        statistic_difference(rng.exponential(size=(5, 3)), rng.exponential(size=(5, 3)), resamples=400, paired=paired).p <= 0.1
        for _ in range(300)
    ]
    assert np.mean(alarms) == pytest.approx(0.1, abs=0.05)


def test_holm_by_hand():
    found = holm_correction({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.9})
    assert found == pytest.approx({"a": 0.04, "b": 0.09, "c": 0.09, "d": 0.9})
    assert list(found) == ["a", "b", "c", "d"]
    assert holm_correction({"a": 0.6, "b": 0.7}) == {"a": 1.0, "b": 1.0}
    assert holm_correction({}) == {}


# ------------------------------------------------------------------------------------------------------------ profiles


def test_profile_by_hand():
    found = performance_profile([[0.1, 0.5], [0.5, 0.9]], [0.0, 0.1, 0.49, 0.5, 0.9, 1.0])
    assert found.share.tolist() == [1, 0.75, 0.75, 0.25, 0, 0]
    assert (found.low <= found.share).all()
    assert (found.share <= found.high).all()
    assert found.low[0] == found.high[0] == 1
    assert performance_profile([0.3, 1.7]).thresholds[[0, -1]].tolist() == [0, 1.7]


@pytest.mark.parametrize("paired", [False, True])
def test_profile_band_by_every_resample(paired):
    given = np.array([[0.1, 0.8], [0.5, 0.6], [0.9, 0.2]])
    rows = list(product(range(3), repeat=3))
    pairs = list(zip(rows, rows, strict=True)) if paired else list(product(rows, rows))
    levels = [0.15, 0.55, 0.7]
    every = [[np.mean([given[list(a), 0] > t, given[list(b), 1] > t]) for t in levels] for a, b in pairs]
    found = performance_profile(given, levels, resamples=40_000, paired_runs=paired, confidence=0.9)
    low, high = np.quantile(every, [0.05, 0.95], axis=0, method="inverted_cdf")
    assert found.low == pytest.approx(low, abs=1e-9)
    assert found.high == pytest.approx(high, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: probability_of_improvement(scores(0, 5, 2), scores(0, 5, 3)), "the same number of games"),
        (lambda: probability_of_improvement(scores(0, 5), scores(0, 6), paired_runs=True), "the same shape"),
        (lambda: probability_of_improvement(scores(0, 5), scores(0, 6), paired=True), "the same shape"),
        (lambda: statistic_difference(scores(0, 5), scores(0, 6), paired=True), "the same shape"),
        (lambda: holm_correction({"a": 1.2}), "from 0 to 1"),
        (lambda: performance_profile([0.1], [[0.2]]), "thresholds"),
        (lambda: performance_profile([0.1], [np.nan]), "thresholds"),
    ],
)
def test_invalid_arguments(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()
