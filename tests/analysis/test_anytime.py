"""Anytime curves against hand-computed values."""

import numpy as np
import pytest

from momagames.analysis.anytime import anytime_budgets, anytime_curve, bootstrap_band
from momagames.analysis.indicators import hypervolume
from momagames.analysis.statistics import bootstrap
from momagames.errors import InvalidParameter


def volume(points):
    return hypervolume(points, [0, 0]).value


def test_curve_of_hypervolumes():
    """(1, 1) is found first and later dominated by (2, 1); the final archive is (2, 1) and (1, 3): 2 + 3 - 1."""
    found, values = [5, 40, 90], [(1, 1), (2, 1), (1, 3)]
    assert anytime_curve(found, values, [4, 5, 39, 40, 89, 90, 1000], volume).tolist() == [0, 1, 1, 2, 2, 4, 4]


def test_indicator_is_computed_once_for_each_set():
    asked = []
    anytime_curve([1, 50], [(1, 1), (2, 2)], range(100), lambda points: float(asked.append(len(points)) or 0))
    assert asked == [0, 1, 2]


def test_budgets_end_with_the_full_budget():
    found = anytime_budgets(20_000)
    assert found[-1] == 20_000
    assert found[0] == 20  # 10^(21/16), rounded down: the first from 20 on
    assert 48 <= len(found) <= 50
    assert (np.diff(np.log(found.astype(float)))[-10:-1].round(2) == round(np.log(10) / 16, 2)).all()
    assert anytime_budgets(1).tolist() == [1]


def test_band_is_the_interval_of_the_mean():
    curves = np.array([[0.0, 0.2], [0.5, 0.4], [1.0, 0.9]])
    found = bootstrap_band(curves, resamples=4000)
    assert found.mean == pytest.approx([0.5, 0.5])
    for k in (0, 1):
        single = bootstrap(curves[:, k], resamples=4000)
        assert (found.low[k], found.high[k]) == pytest.approx((single.low, single.high))
    alone = bootstrap_band(curves[:1])
    assert alone.low.tolist() == alone.high.tolist() == [0, 0.2]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: anytime_budgets(0),
        lambda: anytime_curve([1], [(1, 1), (2, 2)], [1], volume),
        lambda: bootstrap_band(np.zeros((0, 3))),
        lambda: bootstrap_band([[1.0]], confidence=1.0),
    ],
)
def test_invalid_arguments(wrong):
    with pytest.raises(InvalidParameter):
        wrong()
