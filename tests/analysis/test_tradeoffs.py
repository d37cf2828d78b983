"""Whether fronts are trade-offs, on fronts whose volumes are known by hand."""

import numpy as np
import pytest

from momagames.analysis.tradeoffs import measure_tradeoffs
from momagames.errors import InvalidParameter

LINE = np.stack([np.linspace(10, 30, 51), np.linspace(0, -5, 51)], axis=1)  # straight, in units of its own


def staircase(points):
    """The volume of a scaled front with two objectives, above a point 0.1 below its nadir."""
    scaled = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    volume = below = 0.0
    for x, y in sorted(scaled.tolist(), reverse=True):
        volume += (x + 0.1) * (y + 0.1 - below)
        below = y + 0.1
    return volume


def test_a_straight_front_is_a_tradeoff():
    found = measure_tradeoffs(LINE, LINE[:1] - [0, 5])
    assert found.single_share == pytest.approx(0.6 * 0.6 / staircase(LINE))
    assert found.single_share == pytest.approx(0.51, abs=0.01)
    assert found.points == 51
    assert found.losses == (1, 1)
    assert found.simple_share == pytest.approx(0.1 * 0.1 / staircase(LINE))  # the nadir point
    assert found.list_failures() == []
    assert found.untrained_share == found.simple_share
    assert measure_tradeoffs(LINE).simple_share is None
    both = measure_tradeoffs(LINE, LINE[:1] - [0, 5], LINE)
    assert (both.simple_share, both.untrained_share) == (found.simple_share, pytest.approx(1))
    assert both.list_failures() == []  # policies that look ahead are not judged
    assert measure_tradeoffs(LINE, None, LINE).simple_share is None


def test_what_a_front_lacks():
    knee = np.array([[0.0, 1.0], [0.9, 0.9], [1.0, 0.0]])
    assert measure_tradeoffs(knee).list_failures() == ["one policy is enough", "few points"]
    assert measure_tradeoffs(LINE, LINE[::5]).list_failures() == ["simple policies are enough"]
    fine = LINE + np.linspace(0, 1e-3, 51)[:, None]  # points that differ by less than the grid count once
    assert measure_tradeoffs(np.concatenate([LINE, fine])).points == 51
    assert measure_tradeoffs([[2.0, 3.0]]).list_failures() == ["one policy is enough", "few points", "an extreme costs little"]


def test_the_least_loss_of_an_extreme_counts():
    """Of the best points for an objective, but for rounding errors, the one that loses least."""
    front = np.array([[1, 0.2, 0.5], [1, 0.9, 0.4], [0, 1, 0.9], [0.3, 0.95, 1], [0.5, 0, 0.95]])
    assert measure_tradeoffs(front).losses == pytest.approx((1 - 0.1 / 0.6, 1.0, 0.7))
    cheap = np.array([[1.0, 0.9], [0.99, 0.95], [0.98, 1.0], [0.0, 1.0 + 1e-12]])
    assert measure_tradeoffs(cheap).losses == pytest.approx((1, 0.02))


def test_an_objective_without_a_range_costs_nothing():
    found = measure_tradeoffs([[1.0, 5.0, 3.0], [2.0, 5.0, 1.0]])
    assert found.losses == (1, 0, 1)
    assert "an extreme costs little" in found.list_failures()


def test_more_objectives_have_a_lower_limit():
    front = np.concatenate([np.eye(3), [[0.62, 0.62, 0.62]]])
    volume = measure_tradeoffs(front)
    assert volume.max_single_share == 0.6
    assert measure_tradeoffs(LINE).max_single_share == 0.65


def test_rejects_what_is_no_front():
    for wrong in ([], [[1.0]], [[1.0, np.nan]]):
        with pytest.raises(InvalidParameter):
            measure_tradeoffs(wrong)
    with pytest.raises(InvalidParameter, match="simple"):
        measure_tradeoffs(LINE, [[1.0, 2.0, 3.0]])
