"""Expected utility, utility functions, and the maximum utility loss against linear programs of scipy."""

import numpy as np
import pytest
from scipy.optimize import linprog

from momagames.analysis.indicators import epsilon
from momagames.analysis.utilities import (
    Utility,
    chebyshev,
    check_monotone,
    cobb_douglas,
    delivered_utility,
    egalitarian,
    expected_family_utility,
    expected_utility,
    linear,
    sampled_weights,
    symmetric_utilities,
    threshold,
    utility_regret,
    utility_weights,
)
from momagames.analysis.utility_loss import maximum_utility_loss, solve
from momagames.errors import InvalidParameter
from tests.analysis.test_indicators import FOUR, KNOWN, LINE


def test_expected_utility_by_hand():
    lattice = np.array([(k / 4, 1 - k / 4) for k in range(5)])
    assert expected_utility(FOUR, lattice) == pytest.approx(4.3)
    assert expected_utility(KNOWN, lattice) == pytest.approx(4.3)
    even = np.array([(k / 100, 1 - k / 100) for k in range(101)])
    assert expected_utility([(1, 0), (0, 1)], even) == pytest.approx(0.75247525, abs=1e-8)
    assert expected_utility([(1, 0), (0, 1), (0.4, 0.4)], even) == pytest.approx(0.75247525, abs=1e-8)


def test_weights_are_the_fixed_lattices():
    assert [len(utility_weights(k)) for k in (2, 3, 4, 5, 6, 8, 10)] == [100, 91, 120, 210, 252, 120, 220]
    with pytest.raises(InvalidParameter, match=r"1\.\.10"):
        utility_weights(11)
    with pytest.raises(InvalidParameter, match=r"invalid objectives=2\.5: expected"):
        utility_weights(2.5)


def test_sampled_weights_are_uniform_and_fixed():
    weights = sampled_weights(6)
    assert weights.shape == (1024, 6)
    assert weights.sum(axis=1) == pytest.approx(np.ones(1024))
    assert (weights > 0).all()
    assert weights.mean(axis=0) == pytest.approx(np.full(6, 1 / 6), abs=0.02)
    assert weights.var(axis=0) == pytest.approx(np.full(6, 5 / (36 * 7)), rel=0.15)  # of Dirichlet(1)
    assert weights[0] == pytest.approx([0.033890, 0.140789, 0.094803, 0.310050, 0.067638, 0.352831], abs=1e-6)


def test_delivered_utility_by_hand():
    weights = np.array([(1, 0), (0.5, 0.5), (0, 1)])
    assert delivered_utility([(5, 1), (4, 3), (1, 5)], weights) == pytest.approx((5 + 3.5 + 5) / 3)
    assert delivered_utility([(1, 5), (4, 3), (5, 1)], weights) == pytest.approx((1 + 3.5 + 1) / 3)
    assert expected_utility([(1, 5), (4, 3), (5, 1)], weights) == pytest.approx((5 + 3.5 + 5) / 3)
    assert utility_regret([(1, 5), (4, 3), (5, 1)], weights) == pytest.approx((4 + 0 + 4) / 3)
    assert utility_regret([(5, 1), (4, 3), (1, 5)], weights) == 0


# ------------------------------------------------------------------------------------------------- utility functions


def test_utility_functions_by_hand():
    points = np.array([(0.8, 0.2), (0.5, 0.5), (1.0, -0.1)])
    assert linear([0.25, 0.75]).function(points) == pytest.approx([0.35, 0.5, 0.175])
    assert chebyshev([0.5, 0.5]).function(points) == pytest.approx([-0.4 + 0.005, -0.25 + 0.005, -0.55 + 0.0045])
    assert egalitarian().function(points) == pytest.approx([0.2, 0.5, -0.1])
    assert threshold([0.4, 0.4]).function(points) == pytest.approx([0, 0.5, 0])
    assert cobb_douglas([0.5, 0.5]).function(points) == pytest.approx([0.4, 0.5, 1e-3], abs=1e-5)
    assert threshold([0.5, 0.5]).function(points) == pytest.approx([0, 0.5, 0])  # reaching a level is enough
    assert threshold([0.4, 0.4]).name == "threshold(0.4 each)"
    assert linear([0.25, 0.75]).name == "linear(0.25, 0.75)"


def test_non_linear_utilities_value_concave_parts():
    ends = [(1, 0), (0, 1)]
    assert expected_family_utility(ends, [egalitarian()]) == 0
    assert expected_family_utility([*ends, (0.4, 0.4)], [egalitarian()]) == 0.4
    assert expected_family_utility([(0.4, 0.4)], [egalitarian()]) == 0.4
    assert expected_family_utility([*ends, (0.4, 0.4)], [egalitarian(), linear([0.5, 0.5])]) == pytest.approx(0.45)


@pytest.mark.parametrize("objectives", [1, 2, 3, 6])
def test_utilities_are_monotone(objectives):
    weights = sampled_weights(objectives)[:5]
    given = [*symmetric_utilities(objectives), *map(linear, weights), *map(chebyshev, weights), *map(cobb_douglas, weights)]
    for utility in (*given, threshold(weights[0])):
        assert check_monotone(utility, objectives) is utility


def test_non_monotone_utility_is_rejected():
    with pytest.raises(InvalidParameter, match="invalid utility spread"):
        check_monotone(Utility("spread", lambda v: v.max(axis=-1) - v.min(axis=-1)), 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: expected_utility(FOUR, [(1, 0, 0)]), "of weights"),
        (lambda: expected_utility(np.zeros((0, 2)), [(1, 0)]), "1 or more"),
        (lambda: delivered_utility(FOUR, [(1, 0)]), "expected 4, one for each row"),
        (lambda: utility_regret(FOUR, [(1, 0)]), "expected 4, one for each row"),
        (lambda: sampled_weights(0), "1 or more"),
        (lambda: linear([0.5, 0.6]), "sum to 1"),
        (lambda: chebyshev([1.5, -0.5]), "at least 0"),
        (lambda: threshold([np.nan]), "finite"),
        (lambda: expected_family_utility(FOUR, []), "one or more"),
        (lambda: maximum_utility_loss(FOUR, [(1, 2, 3)]), "of points"),
        (lambda: maximum_utility_loss(np.zeros((0, 2)), KNOWN), "1 or more"),
    ],
)
def test_invalid_arguments(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()


# ------------------------------------------------------------------------------------------------------ maximum loss


def test_loss_by_hand():
    found = maximum_utility_loss(FOUR, KNOWN)
    assert found.value == pytest.approx(0.2)
    assert found.weights == pytest.approx([0.4, 0.6])
    ends = maximum_utility_loss([(5, 1), (1, 5)], KNOWN)
    assert ends.value == pytest.approx(0.5)
    assert ends.weights == pytest.approx([0.5, 0.5])
    assert maximum_utility_loss(LINE[::5], LINE).value == pytest.approx(0, abs=1e-12)
    assert maximum_utility_loss([(6, 6)], KNOWN).value == pytest.approx(-1)


def test_finite_weights_underestimate_the_loss():
    for divisions, found in ((4, 0.0), (99, 0.4848)):
        lattice = np.array([(k / divisions, 1 - k / divisions) for k in range(divisions + 1)])
        points = FOUR if divisions == 4 else [(5, 1), (1, 5)]
        losses = (lattice @ np.transpose(KNOWN)).max(axis=1) - (lattice @ np.transpose(points)).max(axis=1)
        assert losses.max() == pytest.approx(found, abs=5e-5)
        assert losses.max() < maximum_utility_loss(points, KNOWN).value


def by_linear_programs(points, known):
    """One program for each point of the reference set: weights w and a loss t, t <= w (r - v) for every v."""
    objectives = known.shape[1]
    return max(
        -linprog(
            [*[0] * objectives, -1],
            A_ub=np.column_stack([points - r, np.ones(len(points))]),
            b_ub=np.zeros(len(points)),
            A_eq=[[*[1] * objectives, 0]],
            b_eq=[1],
            bounds=[*[(0, None)] * objectives, (None, None)],
        ).fun
        for r in known
    )


@pytest.mark.parametrize("objectives", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("seed", range(3))
def test_loss_by_linear_programs(objectives, seed):
    """Also on whole numbers, where many rows of the program are equally tight."""
    rng = np.random.default_rng([objectives, seed])
    points, known = rng.normal(size=(25, objectives)), rng.normal(size=(20, objectives))
    if seed == 2:
        points, known = points.round(), known.round()
    found = maximum_utility_loss(points, known)
    assert found.value == pytest.approx(by_linear_programs(points, known), abs=1e-9)
    assert found.weights.sum() == pytest.approx(1)
    assert (found.weights >= 0).all()
    assert (known @ found.weights).max() - (points @ found.weights).max() == pytest.approx(found.value, abs=1e-9)
    assert found.value <= epsilon(points, known) + 1e-12


def test_matrix_games_of_many_ties():
    rock_paper_scissors = [(0, -1, 1), (1, 0, -1), (-1, 1, 0)]
    value, ours, theirs = solve(rock_paper_scissors)
    assert value == pytest.approx(0, abs=1e-12)
    assert ours == pytest.approx(np.full(3, 1 / 3))
    assert theirs == pytest.approx(np.full(3, 1 / 3))
    assert solve(np.full((4, 7), 3.0)).value == 3
    assert solve([(2, 7), (5, 4)]).value == pytest.approx(4.5)
    assert solve(1e9 * np.array([(2, 7), (5, 4)])).value == pytest.approx(4.5e9)
    for seed in range(200):
        payoff = np.random.default_rng(seed).integers(-1, 2, (6, 12))
        value, ours, theirs = solve(payoff)
        assert (ours @ payoff).min() == pytest.approx((payoff @ theirs).max(), abs=1e-9)
