import numpy as np
import pytest

from momagames.baselines.weight_lattice import label, simplex_lattice
from momagames.errors import InvalidParameter


@pytest.mark.parametrize(
    ("objectives", "divisions", "count"), [(1, 1, 1), (2, 99, 100), (3, 12, 91), (5, 6, 210), (10, 3, 220)]
)
def test_sizes_are_those_of_the_literature(objectives, divisions, count):
    assert simplex_lattice(objectives, divisions).shape == (count, objectives)


def test_every_multiple_once():
    found = simplex_lattice(3, 4) * 4
    expected = [(a, b, 4 - a - b) for a in range(4, -1, -1) for b in range(4 - a, -1, -1)]
    assert found.tolist() == [list(map(float, row)) for row in expected]


def test_rows_sum_to_one_and_differ():
    rows = simplex_lattice(4, 7)
    assert np.allclose(rows.sum(axis=1), 1)
    assert len(np.unique(rows, axis=0)) == len(rows)


@pytest.mark.parametrize(("objectives", "divisions", "said"), [(0, 3, "1 or more"), (3, 0, "1 or more"), (10, 60, "weights")])
def test_impossible_sizes(objectives, divisions, said):
    with pytest.raises(InvalidParameter, match=said):
        simplex_lattice(objectives, divisions)


def test_labels_are_short():
    assert label(np.array([1 / 3, 2 / 3, 0.0])) == "w=(0.333, 0.667, 0)"
