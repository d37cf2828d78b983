"""Fairness over agents by hand, and its properties."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from momagames.analysis.fairness import (
    agent_utilities,
    alpha_fair_welfare,
    generalized_lorenz_curves,
    gini,
    lorenz_front,
    nash_welfare,
)
from momagames.errors import InvalidParameter

EQUAL, UNEQUAL, ALL_TO_ONE = (0.5, 0.5), (0.2, 0.8), (0.0, 1.0)
UTILITIES = arrays(np.float64, (3, 4), elements=st.integers(0, 1000).map(lambda number: number / 100))


def test_agent_utilities_by_hand():
    returns = [[[1, 0], [0.5, 0.25]], [[0, 1], [1, 1]]]
    assert agent_utilities(returns, [[1, 1], [0, 2]]) == pytest.approx(np.array([[0.5, 0.375], [1, 1]]))


def test_gini_by_hand():
    assert gini([EQUAL, UNEQUAL, ALL_TO_ONE]) == pytest.approx([0, 0.3, 0.5])
    assert gini([(0, 0, 0, 1)]) == pytest.approx([0.75])
    assert gini([(1, 2, 3, 4)]) == pytest.approx([0.25])  # pairs differ by 1, 2 or 3: 20 / (2 * 16 * 2.5)
    assert gini([(0, 0), (-1, -2)]).tolist() == [0, 0]


def test_welfare_by_hand():
    assert nash_welfare([EQUAL, UNEQUAL, ALL_TO_ONE]) == pytest.approx([0.5, 0.4, 0])
    assert alpha_fair_welfare([UNEQUAL], 0) == pytest.approx([0.5])  # the mean
    assert alpha_fair_welfare([UNEQUAL], 0.5) == pytest.approx([((0.2**0.5 + 0.8**0.5) / 2) ** 2])
    assert alpha_fair_welfare([UNEQUAL], 2) == pytest.approx([0.32])  # the harmonic mean
    assert alpha_fair_welfare([UNEQUAL, ALL_TO_ONE], np.inf) == pytest.approx([0.2, 0])
    assert alpha_fair_welfare([ALL_TO_ONE, (0, 0)], 0.5) == pytest.approx([0.25, 0])
    assert alpha_fair_welfare([(1e-300, 1e-3)], 50) == pytest.approx([1e-300 * 0.5 ** (1 / -49)])


def test_agents_below_the_reference_point_count_as_at_it():
    assert gini([(-3, 1)]) == gini([(0, 1)])
    assert nash_welfare([(-3, -1), (-3, 1)]).tolist() == [0, 0]
    assert generalized_lorenz_curves([(1, -3)]).tolist() == [[-3, -2]]


def test_lorenz_front_by_hand():
    """(0.2, 0.8) and (0.5, 0.5) have equal sums; both beat (0.1, 0.2); (0.3, 1) and (0.5, 0.5) are incomparable."""
    assert generalized_lorenz_curves([UNEQUAL, (0.8, 0.2)]) == pytest.approx(np.array([[0.2, 1], [0.2, 1]]))
    assert lorenz_front([UNEQUAL, EQUAL, (0.1, 0.2), (0.3, 1.0)]).tolist() == [False, True, False, True]
    assert lorenz_front([(0.8, 0.2), UNEQUAL, (0.1, 0.2), UNEQUAL]).tolist() == [True, True, False, True]  # equal curves
    assert lorenz_front([(0.0, 0.4, 0.2), (0.0, 0.3, 0.3)]).tolist() == [False, True]  # equal sums but for rounding errors
    assert lorenz_front([(1e6, 4e5, 2e5), (1e6, 3e5, 3e5 + 1e-6)]).tolist() == [False, True]


@given(UTILITIES)
def test_properties(utilities):
    """Bounds, order of agents, scale, and the order of welfare in the aversion to inequality."""
    count = utilities.shape[1]
    index = gini(utilities)
    assert ((index >= 0) & (index <= 1 - 1 / count + 1e-12)).all()
    assert gini(utilities[:, ::-1] * 7) == pytest.approx(index)
    levels = [alpha_fair_welfare(utilities, alpha) for alpha in (0, 0.5, 1, 2, 9, np.inf)]
    assert levels[0] == pytest.approx(utilities.mean(axis=1))
    for less, more in itertools.pairwise(levels):
        assert (more <= less + 1e-9).all()
    assert alpha_fair_welfare(utilities * 7, 2) == pytest.approx(7 * alpha_fair_welfare(utilities, 2))
    front = lorenz_front(utilities)
    assert utilities[front].sum(axis=1).max() == pytest.approx(utilities.sum(axis=1).max())
    assert utilities[front].min(axis=1).max() == utilities.min(axis=1).max()


@given(UTILITIES, st.floats(0.01, 0.5))
def test_a_transfer_to_a_poorer_agent_is_fairer(utilities, share):
    """Pigou-Dalton principle: each measure prefers the outcome in which the richest agent gives to the poorest."""
    before = utilities[:1]
    low, high = before[0].argmin(), before[0].argmax()
    gap = before[0, high] - before[0, low]
    assume(gap > 0)
    after = before.copy()
    after[0, low] += share * gap
    after[0, high] -= share * gap
    assert gini(after) < gini(before)
    assert nash_welfare(after) >= nash_welfare(before) - 1e-12
    assert alpha_fair_welfare(after, 0.5) > alpha_fair_welfare(before, 0.5)
    curves = generalized_lorenz_curves(np.concatenate([before, after]))
    assert (curves[1] >= curves[0] - 1e-9).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gini([1, 2]), "of utilities"),
        (lambda: gini(np.zeros((1, 0))), "one agent or more"),
        (lambda: nash_welfare([(np.nan, 1)]), "finite"),
        (lambda: alpha_fair_welfare([(1, 2)], -1), "invalid alpha=-1"),
        (lambda: lorenz_front(np.zeros((0, 2))), "1 or more"),
        (lambda: agent_utilities([[1, 2]], [[1, 1]]), "outcomes, agents, objectives"),
        (lambda: agent_utilities([[[1, 2]]], [[0, 0]]), "one above 0"),
        (lambda: agent_utilities([[[1, 2]]], [[1, 0]] * 2), "expected 1 rows"),
    ],
)
def test_invalid_arguments(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()
