"""Statistics over runs and games against hand-computed values, brute force, and scipy."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from momagames.analysis.statistics import STATISTICS, bootstrap, iqm, lower_quartile_mean, mean, median, optimality_gap
from momagames.errors import InvalidParameter

EIGHT = np.array([[0.1, 0.9], [0.2, 1.4], [0.3, 0.5], [0.4, -0.6]])


def test_statistics_by_hand():
    flat = EIGHT.reshape(-1)  # sorted: -0.6 0.1 0.2 0.3 0.4 0.5 0.9 1.4
    assert mean(flat) == pytest.approx(3.2 / 8)
    assert median(flat) == pytest.approx(0.35)
    assert iqm(flat) == pytest.approx((0.2 + 0.3 + 0.4 + 0.5) / 4)
    assert lower_quartile_mean(flat) == pytest.approx((-0.6 + 0.1) / 2)
    assert optimality_gap(flat) == pytest.approx(1 - 2.8 / 8)  # 1.4 counts as 1
    assert iqm(np.array([1.0, 2, 9])) == 4  # a quarter of three is none
    assert lower_quartile_mean(np.array([3.0, 1, 2, 5, 4])) == 1.5


@pytest.mark.parametrize("n", [1, 4, 5, 7, 8, 50])
def test_iqm_by_scipy(n):
    values = np.random.default_rng(n).normal(size=n)
    assert iqm(values) == pytest.approx(stats.trim_mean(values, 0.25))


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_work_along_the_last_axis(name):
    many = np.random.default_rng(0).normal(size=(5, 12))
    assert STATISTICS[name](many) == pytest.approx([float(STATISTICS[name](row)) for row in many])


def test_interval_of_a_normal_sample():
    """Against the normal approximation of a mean, which 200 values justify."""
    values = np.random.default_rng(1).normal(5, 2, 200)
    found = bootstrap(values)
    error = 1.96 * values.std() / np.sqrt(200)
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - error, abs=0.02)
    assert found.high == pytest.approx(values.mean() + error, abs=0.02)
    assert found.runs == 200


@pytest.mark.long
@pytest.mark.parametrize(
    ("runs", "distribution", "coverage"),
    [(3, "normal", 0.75), (5, "normal", 0.84), (3, "exponential", 0.70), (5, "exponential", 0.79), (10, "exponential", 0.86)],
)
def test_coverage_of_few_runs(runs, distribution, coverage):
    """The figures of docs/metrics.md, within three standard errors."""
    samples = getattr(np.random.default_rng(runs), distribution)(size=(1000, runs))
    found = [bootstrap(sample, resamples=1000) for sample in samples]
    truth = float(distribution == "exponential")
    share = np.mean([one.low <= truth <= one.high for one in found])
    assert share == pytest.approx(coverage, abs=3 * np.sqrt(coverage * (1 - coverage) / 1000))


@pytest.mark.parametrize("paired", [False, True])
def test_interval_by_every_resample(paired):
    """All samples of three runs on two games, drawn separately for each game, or in whole rows."""
    scores = np.array([[0.0, 5.0], [1.0, 7.0], [4.0, 6.5]])
    rows = list(product(range(3), repeat=3))
    pairs = [(row, row) for row in rows] if paired else list(product(rows, rows))
    every = [iqm(np.concatenate([scores[list(a), 0], scores[list(b), 1]])) for a, b in pairs]
    found = bootstrap(scores, statistic=iqm, paired_runs=paired, resamples=50_000)
    assert found.value == iqm(scores.reshape(-1))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(every, [0.025, 0.975], method="inverted_cdf")), abs=0.1)


def test_randomness_shared_by_games_widens_the_interval():
    shared = np.arange(10.0)[:, None]
    scores = shared + np.zeros((10, 4))
    free, paired = bootstrap(scores), bootstrap(scores, paired_runs=True)
    assert (paired.high - paired.low) > 1.7 * (free.high - free.low)


def test_resampling_keeps_games_apart():
    """Two games without any spread: every resample holds both, whatever the runs."""
    found = bootstrap(np.array([[0.0, 1.0]] * 3))
    assert (found.low, found.value, found.high) == (0.5, 0.5, 0.5)


def test_interval_is_reproducible_and_widens_with_confidence():
    values = [0.1, 0.5, 0.9, 0.4]
    assert bootstrap(values) == bootstrap(values)
    assert bootstrap(values, 0.99).low < bootstrap(values, 0.5).low


def test_global_generator_is_unchanged():
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    bootstrap([0.1, 0.5])
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_warning_for_few_runs():
    one = bootstrap([3.0])
    assert (one.low, one.value, one.high, one.runs) == (3.0, 3.0, 3.0, 1)
    assert one.warning == "one run: no interval"
    assert bootstrap(np.arange(9.0)).warning == "9 runs: intervals are too narrow below 10"
    assert bootstrap(np.arange(10.0)).warning == ""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap([]), "finite numbers"),
        (lambda: bootstrap([1.0, float("nan")]), "finite numbers"),
        (lambda: bootstrap([[[1.0]]]), "finite numbers"),
        (lambda: bootstrap([1.0, 2.0], confidence=1.0), "between 0 and 1"),
        (lambda: bootstrap([1.0, 2.0], resamples=0), "1 or more"),
    ],
)
def test_invalid_arguments(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()
