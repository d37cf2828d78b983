"""Indicators over the budget, by hand."""

import numpy as np
import pytest

from momagames.analysis.indicators import hypervolume
from momagames.analysis.progress import band, marks, progress
from momagames.analysis.statistics import bootstrap
from momagames.errors import InvalidParameter


def volume(points):
    return hypervolume(points, [0, 0]).value


def test_volumes_of_what_had_been_found():
    """(1, 1) is found first and beaten by (2, 1); at the end (2, 1) and (1, 3) stand: 2 + 3 - 1."""
    found, values = [5, 40, 90], [(1, 1), (2, 1), (1, 3)]
    assert progress(found, values, [4, 5, 39, 40, 89, 90, 1000], volume).tolist() == [0, 1, 1, 2, 2, 4, 4]


def test_an_indicator_is_asked_once_for_each_set():
    asked = []
    progress([1, 50], [(1, 1), (2, 2)], range(100), lambda points: float(asked.append(len(points)) or 0))
    assert asked == [0, 1, 2]


def test_marks_end_with_the_budget():
    found = marks(20_000)
    assert found[-1] == 20_000
    assert found[0] == 20  # 10^(21/16), rounded down: the first from 20 on
    assert 48 <= len(found) <= 50
    assert (np.diff(np.log(found.astype(float)))[-10:-1].round(2) == round(np.log(10) / 16, 2)).all()
    assert marks(1).tolist() == [1]


def test_bands_are_intervals_of_means():
    curves = np.array([[0.0, 0.2], [0.5, 0.4], [1.0, 0.9]])
    found = band(curves, resamples=4000)
    assert found.mean == pytest.approx([0.5, 0.5])
    for k in (0, 1):
        single = bootstrap(curves[:, k], resamples=4000)
        assert (found.low[k], found.high[k]) == pytest.approx((single.low, single.high))
    alone = band(curves[:1])
    assert alone.low.tolist() == alone.high.tolist() == [0, 0.2]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: marks(0),
        lambda: progress([1], [(1, 1), (2, 2)], [1], volume),
        lambda: band(np.zeros((0, 3))),
        lambda: band([[1.0]], confidence=1.0),
    ],
)
def test_what_is_impossible(wrong):
    with pytest.raises(InvalidParameter):
        wrong()
