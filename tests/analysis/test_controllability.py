"""Controllability and ordering score by hand, and policy sets with a perfect front that ignore their weights."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from momagames.analysis import controllability
from momagames.analysis.controllability import compute_controllability, ordering_score
from momagames.analysis.indicators import hypervolume_ratio
from momagames.analysis.utilities import delivered_utility, expected_utility, utility_regret
from momagames.baselines.weight_lattice import simplex_lattice
from momagames.errors import InvalidParameter

THREE = np.array([[1, 0], [0.5, 0.5], [0, 1]])
FIVE = simplex_lattice(2, 4)
ARC = np.sqrt(FIVE)  # the front of a quarter circle: the policy for each weight is on it


def test_controllability_by_hand():
    assert compute_controllability(THREE, [[9.0, 1], [4, 2], [1, 3]]).tolist() == [1, 1]
    assert compute_controllability(THREE, [[1.0, 5], [4, 5], [9, 5]]).tolist() == [-1, 0]
    assert compute_controllability(THREE[:1], [[1.0, 5]]).tolist() == [0, 0]
    # ranks (1, 2, 3, 4, 5) and (2, 1, 3, 4, 5): 1 - 6 * 2 / (5 * 24)
    swapped = np.column_stack([[2.0, 1, 3, 4, 5], np.arange(5.0)])
    assert compute_controllability(FIVE[np.argsort(FIVE[:, 0])], swapped)[0] == pytest.approx(0.9)


def test_ordering_score_by_hand():
    """Two objectives have one sweep each; three with weights of a lattice of two divisions have two each."""
    assert ordering_score(THREE, [[9, 1], [4, 2], [1, 3]]) == 1
    assert ordering_score(THREE, [[1, 3], [4, 2], [9, 1]]) == 0
    assert ordering_score(THREE, [[1, 1], [4, 2], [9, 3]]) == 0.5  # the first objective is reversed
    # in the order of the first weights: (1, 3, 2), of which the rank correlation with (1, 2, 3) is 0.5
    assert ordering_score(THREE, [[2, 0], [3, 1], [1, 2]]) == pytest.approx((0.75 + 1) / 2)
    lattice = simplex_lattice(3, 2)
    assert ordering_score(lattice, lattice) == 1
    mixed = lattice.copy()
    mixed[:, 0] = 1 - mixed[:, 0]
    assert ordering_score(lattice, mixed) == pytest.approx(4 / 6 + 0 / 6)


def sweeps_by_fractions(weights):
    """The number of sweeps of integer weights int[n, K], from exact directions."""
    found = 0
    for k in range(weights.shape[1]):
        sweeps = {}
        for row in weights.tolist():
            own, rest = Fraction(row[k], sum(row)), row[:k] + row[k + 1 :]
            sweeps.setdefault(tuple(Fraction(part, sum(rest)) for part in rest) if any(rest) else None, set()).add(own)
        ends = sweeps.pop(None, set())
        found += sum(len(levels | ends) > 1 for levels in sweeps.values())
    return found


def count_sweeps(weights):
    return len(list(controllability._list_sweeps(controllability._as_pairs(weights, np.zeros(weights.shape))[0])))


@pytest.mark.parametrize("divisions", range(2, 13))
def test_sweeps_of_lattices(divisions):
    lattice = np.rint(simplex_lattice(3, divisions) * divisions).astype(int)
    assert count_sweeps(lattice) == count_sweeps(lattice / divisions) == sweeps_by_fractions(lattice)


@given(weights=st.lists(st.lists(st.integers(0, 60), min_size=4, max_size=4).filter(any), min_size=1, max_size=12))
def test_sweeps_of_integer_weights(weights):
    assert count_sweeps(np.array(weights)) == sweeps_by_fractions(np.array(weights))


def test_weights_that_differ_by_rounding_errors_are_equal():
    weights = [(1, 2, 3), (2, 4, 0)]  # the shares of the first two are 1/6 and 2/6, 2/6 and 4/6
    assert ordering_score(weights, [(0, 0, 1), (0, 0, 0)]) == 1
    assert ordering_score(weights, [(0, 0, 0), (0, 0, 1)]) == 0
    assert ordering_score([(0.1 + 0.2, 0.7), (0.3, 0.7)], [(1, 0), (0, 1)]) is None
    assert compute_controllability([(0.1 + 0.2, 0.7), (0.3, 0.7)], [(1, 0), (0, 1)]).tolist() == [0, 0]


def test_correlation_is_that_of_scipy():
    rng = np.random.default_rng(0)
    for _ in range(50):
        first, second = rng.integers(6, size=(2, 8)).astype(float)  # with ties
        weights = np.stack([first, 6 - first], axis=1)
        expected = round(float(spearmanr(first, second).statistic), 9)
        assert compute_controllability(weights, np.stack([second, second], axis=1)).tolist() == [expected, -expected]


def test_equal_returns_are_in_order():
    """The score counts what is out of order: a policy that ignores its weights has 1, but no controllability."""
    assert ordering_score(THREE, np.ones((3, 2))) == 1
    assert ordering_score(THREE, [[5, 0], [5, 0], [1, 3]]) == 1
    assert compute_controllability(THREE, np.ones((3, 2))).tolist() == [0, 0]


def test_no_order_without_sweeps():
    assert ordering_score(THREE[:1], [[1, 5]]) is None
    assert ordering_score([[1, 1], [2, 2]], [[1, 5], [3, 3]]) is None  # equal weights
    assert ordering_score([[5, 3, 2], [2, 3, 5]], np.zeros((2, 3))) is None  # no rest in the same proportions
    assert ordering_score([[1, 1], [2, 2], [1, 0]], [[0, 5], [2, 3], [2, 1]]) == 1  # equal weights count with their mean


@pytest.mark.parametrize("order", [[1, 4, 2, 0, 3], [3, 0, 2, 4, 1]])
def test_perfect_front_without_control(order):
    """Policies that cover the front exactly, conditioned on each other's weights: no indicator of fronts sees it."""
    own, mixed = ARC, ARC[order]
    assert hypervolume_ratio(mixed, (0, 0), ARC).value == 1
    assert expected_utility(mixed, FIVE) == expected_utility(own, FIVE)
    assert compute_controllability(FIVE, own) == pytest.approx([1, 1])
    assert compute_controllability(FIVE, mixed) == pytest.approx([0, 0], abs=1e-12)
    assert ordering_score(FIVE, own) == pytest.approx(1)
    assert ordering_score(FIVE, mixed) == pytest.approx(0.5)
    assert utility_regret(mixed, FIVE) > utility_regret(own, FIVE) + 0.1
    assert delivered_utility(mixed, FIVE) == pytest.approx(expected_utility(mixed, FIVE) - utility_regret(mixed, FIVE))


@given(seed=st.integers(0, 2**32), objectives=st.integers(2, 4), divisions=st.integers(1, 4))
def test_properties(seed, objectives, divisions):
    """Neither order nor scale of policies and weights matters; reversed returns have reversed scores."""
    rng = np.random.default_rng(seed)
    weights = simplex_lattice(objectives, divisions)
    points = rng.normal(size=weights.shape)
    correlations, score = compute_controllability(weights, points), ordering_score(weights, points)
    assert (np.abs(correlations) <= 1 + 1e-12).all()
    assert -1e-12 <= score <= 1 + 1e-12
    order, scales = rng.permutation(len(weights)), rng.uniform(0.5, 2, (len(weights), 1))
    assert compute_controllability(weights[order] * scales[order], points[order]) == pytest.approx(correlations)
    assert ordering_score(weights[order] * scales[order], points[order]) == pytest.approx(score)
    assert compute_controllability(weights, -points) == pytest.approx(-correlations)
    assert ordering_score(weights, -points) == pytest.approx(1 - score)
    assert ordering_score(weights, weights) == pytest.approx(1)
    assert ordering_score(weights, np.exp(points)) == pytest.approx(score)  # ranks only
    regret = utility_regret(points, weights)
    assert regret >= 0
    assert regret == pytest.approx(expected_utility(points, weights) - delivered_utility(points, weights))


@pytest.mark.parametrize("function", [compute_controllability, ordering_score])
@pytest.mark.parametrize(
    ("weights", "points", "message"),
    [
        (THREE, [[1, 2]], "expected 1, one for each row of points"),
        (THREE, [[1, 2, 3]] * 3, "of weights"),
        ([[0, 0]], [[1, 2]], "one above 0 in each row"),
        ([[2, -1]], [[1, 2]], "at least 0"),
        (THREE, [[1, np.nan]] * 3, "finite"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "1 or more"),
    ],
)
def test_invalid_arguments(function, weights, points, message):
    with pytest.raises(InvalidParameter, match=message):
        function(weights, points)
