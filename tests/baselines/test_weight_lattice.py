"""The simplex lattice and the names of its weights."""

import numpy as np
import pytest

from momagames.baselines.weight_lattice import format_weights, simplex_lattice
from momagames.errors import InvalidParameter


def test_sizes_match_the_literature():
    for objectives, divisions, count in [(1, 1, 1), (2, 99, 100), (3, 12, 91), (5, 6, 210), (10, 3, 220)]:
        assert simplex_lattice(objectives, divisions).shape == (count, objectives)


def test_contains_every_multiple_once():
    found = simplex_lattice(3, 4) * 4
    expected = [(a, b, 4 - a - b) for a in range(4, -1, -1) for b in range(4 - a, -1, -1)]
    assert found.tolist() == [list(map(float, row)) for row in expected]


def test_rows_are_distinct_and_sum_to_one():
    rows = simplex_lattice(4, 7)
    assert np.allclose(rows.sum(axis=1), 1)
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_rejects_invalid_sizes():
    for objectives, divisions, message in [(0, 3, "1 or more"), (3, 0, "1 or more"), (10, 60, "weights")]:
        with pytest.raises(InvalidParameter, match=message):
            simplex_lattice(objectives, divisions)


def test_format_weights():
    assert format_weights(np.array([1 / 3, 2 / 3, 0.0])) == "w=(0.333, 0.667, 0)"
