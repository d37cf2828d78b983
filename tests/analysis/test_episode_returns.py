"""Standard errors, ESR and SER, and stochastic dominance, against simulation and brute force."""

from itertools import product

import numpy as np
import pytest

from momagames.analysis.episode_returns import (
    esr_set,
    esr_values,
    front_standard_error,
    mean_returns,
    required_episodes,
    selected_value,
    ser_values,
    standard_errors,
)
from momagames.analysis.utilities import cobb_douglas, egalitarian, linear, symmetric_utilities, threshold
from momagames.errors import InvalidParameter

EITHER = [(1.0, 0.0), (0.0, 1.0)]  # one objective by turns
BOTH = [(0.0, 0.0), (1.0, 1.0)]  # all or nothing


# ----------------------------------------------------------------------------------------------------- standard errors


def test_standard_error_by_hand():
    returns = [[(1.0, 0.0), (3.0, 0.0), (5.0, 0.0), (7.0, 0.0)]]
    assert mean_returns(returns).tolist() == [[4, 0]]
    assert standard_errors(returns) == pytest.approx(np.array([[np.sqrt(20 / 3) / 2, 0]]))
    assert standard_errors([[(1.0, 2.0)]]).tolist() == [[np.inf, np.inf]]


def test_standard_error_is_the_spread_of_repeated_means():
    """The matches of an episode share its random seed; treating them as independent would underestimate the error."""
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(2_000, 30, 1, 1))
    returns = shared + rng.normal(size=(2_000, 30, 4, 1))
    spread = mean_returns(returns)[:, 0].std()
    assert standard_errors(returns).mean() == pytest.approx(spread, rel=0.05)
    apart = standard_errors(returns.reshape(2_000, 120, 1)).mean()
    assert apart < 0.7 * spread


def test_repeated_plays_of_an_instance_are_one_observation():
    """Five plays of each of twelve instances: treating them as independent would underestimate the error."""
    rng = np.random.default_rng(2)
    instances = np.tile(np.arange(12), 5)
    returns = rng.normal(size=(2_000, 12, 1))[:, instances] + 0.3 * rng.normal(size=(2_000, 60, 1))
    spread = mean_returns(returns)[:, 0].std()
    assert standard_errors(returns, instances).mean() == pytest.approx(spread, rel=0.05)
    assert standard_errors(returns).mean() < 0.6 * spread
    means = returns.reshape(2_000, 5, 12, 1).mean(axis=1)
    assert standard_errors(returns, instances) == pytest.approx(standard_errors(means))  # as many plays of each
    labels = np.array([f"board {number}" for number in instances])
    assert standard_errors(returns, labels) == pytest.approx(standard_errors(returns, instances))


def test_instances_with_more_episodes_count_more():
    """Deviations from the mean of 2: -1 in two episodes of a, +2 in one of b; variance (2² + 2²) * 2 / 3²."""
    assert standard_errors([[[1.0], [1.0], [4.0]]], ["a", "a", "b"]) == pytest.approx(np.sqrt(16) / 3)
    assert standard_errors([[[1.0], [2.0]]], [5, 5]).tolist() == [[np.inf]]
    with pytest.raises(InvalidParameter, match=r"invalid instances of shape \(3,\): expected \(2,\)"):
        standard_errors([[[1.0], [2.0]]], [1, 2, 3])


def test_required_episodes():
    assert required_episodes(0.01, 0.02, 100) == 400
    assert required_episodes(0.02, 0.02, 100) == 100
    assert required_episodes(0.03, 0.02, 100) == 45
    assert required_episodes(0.01, 0.0, 100) == 2
    rng = np.random.default_rng(1)
    wanted = 0.1
    first = standard_errors(rng.normal(size=(1, 200, 2))).max()
    needed = required_episodes(wanted, first, 200)
    assert standard_errors(rng.normal(size=(1, needed, 2))).max() == pytest.approx(wanted, rel=0.2)


def test_front_standard_error_is_the_largest_share_of_the_range():
    assert front_standard_error([[0.1, 2.0], [0.3, 1.0]], [1.0, 10.0]) == pytest.approx(0.3)
    assert front_standard_error([[0.1, 2.0], [0.3, 1.0]], [10.0, 1.0]) == pytest.approx(2)


# --------------------------------------------------------------------------------------------------------- ESR and SER


def test_esr_and_ser_prefer_different_policies():
    returns = [EITHER, BOTH, [(0.4, 0.4), (0.4, 0.4)]]
    assert ser_values(returns, egalitarian()) == pytest.approx([0.5, 0.5, 0.4])
    assert esr_values(returns, egalitarian()) == pytest.approx([0, 0.5, 0.4])
    assert esr_values(returns, threshold([0.3, 0.3])) == pytest.approx([0, 0.5, 0.4])
    assert ser_values(returns, threshold([0.3, 0.3])) == pytest.approx([0.5, 0.5, 0.4])


@pytest.mark.parametrize("objectives", [1, 2, 4])
def test_jensen(objectives):
    """Equal for linear utilities, never more for concave ones."""
    returns = np.random.default_rng(objectives).uniform(0, 1, (5, 40, 3, objectives))
    even = np.full(objectives, 1 / objectives)
    assert esr_values(returns, linear(even)) == pytest.approx(ser_values(returns, linear(even)))
    for concave in (egalitarian(), cobb_douglas(even), symmetric_utilities(objectives)[1]):
        assert (esr_values(returns, concave) <= ser_values(returns, concave) + 1e-12).all()
    if objectives > 1:
        assert (esr_values(returns, egalitarian()) < ser_values(returns, egalitarian())).all()


def test_policy_is_selected_on_other_episodes():
    assert selected_value(np.array([0.9, 0.2]), np.array([0.1, 0.8])) == 0.1


# ------------------------------------------------------------------------------------------------- stochastic dominance


def by_brute_force(returns):
    """Every distribution function at every point of the common grid."""
    samples = [np.asarray(sample) for sample in returns]
    axes = [sorted(set(np.concatenate(samples)[:, k])) for k in range(samples[0].shape[1])]
    tables = [[(sample <= x).all(axis=1).mean() for x in product(*axes)] for sample in map(np.asarray, samples)]
    member = []
    for b, worse in enumerate(tables):
        beats = [np.less_equal(t, worse).all() and (t != worse or a < b) for a, t in enumerate(tables) if a != b]
        member.append(not any(beats))
    return member


@pytest.mark.parametrize("objectives", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_esr_set_by_brute_force(objectives, seed):
    rng = np.random.default_rng([objectives, seed])
    returns = rng.integers(0, 4, (6, 4, objectives)) + rng.integers(0, 3, (6, 1, 1))
    returns = np.concatenate([returns, returns[:1]]).astype(float)
    found = esr_set(returns)
    assert found.tolist() == by_brute_force(returns)
    assert found.any()
    assert not found[6]


def test_esr_set_of_one_objective_is_first_order_dominance():
    assert esr_set([[(1.0,), (3.0,)], [(2.0,), (3.0,)], [(0.0,), (9.0,)]]).tolist() == [False, True, True]


def test_esr_set_prefers_substitutes_over_complements():
    """The limitation stated in the docs: a user who needs both at once prefers the other policy."""
    assert esr_set([EITHER, BOTH]).tolist() == [True, False]
    assert esr_values([EITHER, BOTH], egalitarian()).tolist() == [0, 0.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_returns([[1.0, 2.0]]), "policies, episodes, objectives"),
        (lambda: mean_returns([[(1.0, np.nan)]]), "finite"),
        (lambda: esr_set(np.zeros((2, 3, 4))), "up to 3"),
        (lambda: esr_set(np.random.default_rng(0).random((2, 300, 3))), "use fewer episodes"),
        (lambda: front_standard_error([[0.1]], [0.0]), "above 0"),
        (lambda: front_standard_error([0.1], [1.0]), "invalid errors of shape"),
        (lambda: required_episodes(0.0, 0.1, 10), "above 0"),
        (lambda: required_episodes(0.1, np.inf, 10), "finite error"),
    ],
)
def test_invalid_arguments(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()
