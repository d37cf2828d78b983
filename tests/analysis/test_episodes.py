"""Standard errors, ESR and SER, and stochastic dominance, against simulation and brute force."""

from itertools import product

import numpy as np
import pytest

from momagames.analysis.episode_returns import (
    delivered,
    deviations,
    episodes_for,
    esr_set,
    esr_values,
    front_error,
    means,
    ser_values,
    standard_errors,
)
from momagames.analysis.utilities import cobb_douglas, egalitarian, family, linear, threshold
from momagames.errors import InvalidParameter

EITHER = [(1.0, 0.0), (0.0, 1.0)]  # one objective by turns
BOTH = [(0.0, 0.0), (1.0, 1.0)]  # all or nothing


# ----------------------------------------------------------------------------------------------------- standard errors


def test_standard_error_by_hand():
    returns = [[(1.0, 0.0), (3.0, 0.0), (5.0, 0.0), (7.0, 0.0)]]
    assert means(returns).tolist() == [[4, 0]]
    assert deviations(returns) == pytest.approx(np.array([[np.sqrt(20 / 3), 0]]))
    assert standard_errors(returns) == pytest.approx(np.array([[np.sqrt(20 / 3) / 2, 0]]))
    assert standard_errors([[(1.0, 2.0)]]).tolist() == [[np.inf, np.inf]]


def test_standard_error_is_the_spread_of_repeated_means():
    """Also where the matches of an episode share its luck, which is what taking them as independent would overlook."""
    rng = np.random.default_rng(0)
    luck = rng.normal(size=(2_000, 30, 1, 1))
    returns = luck + rng.normal(size=(2_000, 30, 4, 1))
    spread = means(returns)[:, 0].std()
    assert standard_errors(returns).mean() == pytest.approx(spread, rel=0.05)
    apart = standard_errors(returns.reshape(2_000, 120, 1)).mean()
    assert apart < 0.7 * spread


def test_number_of_episodes_for_an_error():
    assert episodes_for(0.01, 0.02, 100) == 400
    assert episodes_for(0.02, 0.02, 100) == 100
    assert episodes_for(0.03, 0.02, 100) == 45
    assert episodes_for(0.01, 0.0, 100) == 2
    rng = np.random.default_rng(1)
    wanted = 0.1
    first = standard_errors(rng.normal(size=(1, 200, 2))).max()
    needed = episodes_for(wanted, first, 200)
    assert standard_errors(rng.normal(size=(1, needed, 2))).max() == pytest.approx(wanted, rel=0.2)


def test_error_of_a_front_is_its_worst_in_shares_of_the_range():
    assert front_error([[0.1, 2.0], [0.3, 1.0]], [1.0, 10.0]) == pytest.approx(0.3)
    assert front_error([[0.1, 2.0], [0.3, 1.0]], [10.0, 1.0]) == pytest.approx(2)


# --------------------------------------------------------------------------------------------------------- ESR and SER


def test_who_lives_through_one_episode_sees_another_front():
    returns = [EITHER, BOTH, [(0.4, 0.4), (0.4, 0.4)]]
    assert ser_values(returns, egalitarian()) == pytest.approx([0.5, 0.5, 0.4])
    assert esr_values(returns, egalitarian()) == pytest.approx([0, 0.5, 0.4])
    assert esr_values(returns, threshold([0.3, 0.3])) == pytest.approx([0, 0.5, 0.4])
    assert ser_values(returns, threshold([0.3, 0.3])) == pytest.approx([0.5, 0.5, 0.4])


@pytest.mark.parametrize("goals", [1, 2, 4])
def test_jensen(goals):
    """Equal for linear utilities, never more for concave ones."""
    returns = np.random.default_rng(goals).uniform(0, 1, (5, 40, 3, goals))
    even = np.full(goals, 1 / goals)
    assert esr_values(returns, linear(even)) == pytest.approx(ser_values(returns, linear(even)))
    for concave in (egalitarian(), cobb_douglas(even), family(goals)[1]):
        assert (esr_values(returns, concave) <= ser_values(returns, concave) + 1e-12).all()
    if goals > 1:
        assert (esr_values(returns, egalitarian()) < ser_values(returns, egalitarian())).all()


def test_the_policy_is_chosen_by_other_episodes():
    assert delivered(np.array([0.9, 0.2]), np.array([0.1, 0.8])) == 0.1


# ------------------------------------------------------------------------------------------------- stochastic dominance


def by_brute_force(returns):
    """Every distribution function at every point of the common grid."""
    samples = [np.asarray(sample) for sample in returns]
    axes = [sorted(set(np.concatenate(samples)[:, k])) for k in range(samples[0].shape[1])]
    tables = [[(sample <= x).all(axis=1).mean() for x in product(*axes)] for sample in map(np.asarray, samples)]
    kept = []
    for b, worse in enumerate(tables):
        beats = [np.less_equal(t, worse).all() and (t != worse or a < b) for a, t in enumerate(tables) if a != b]
        kept.append(not any(beats))
    return kept


@pytest.mark.parametrize("goals", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_esr_set_by_brute_force(goals, seed):
    rng = np.random.default_rng([goals, seed])
    returns = rng.integers(0, 4, (6, 4, goals)) + rng.integers(0, 3, (6, 1, 1))
    returns = np.concatenate([returns, returns[:1]]).astype(float)
    found = esr_set(returns)
    assert found.tolist() == by_brute_force(returns)
    assert found.any()
    assert not found[6]


def test_one_objective_is_the_classical_order():
    assert esr_set([[(1.0,), (3.0,)], [(2.0,), (3.0,)], [(0.0,), (9.0,)]]).tolist() == [False, True, True]


def test_the_order_prefers_one_objective_in_turn_over_all_or_nothing():
    """Its limit, told in the docs: a user who wants both at once thinks otherwise."""
    assert esr_set([EITHER, BOTH]).tolist() == [True, False]
    assert esr_values([EITHER, BOTH], egalitarian()).tolist() == [0, 0.5]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: means([[1.0, 2.0]]), "policies, episodes, objectives"),
        (lambda: means([[(1.0, np.nan)]]), "finite"),
        (lambda: esr_set(np.zeros((2, 3, 4))), "up to 3 objectives"),
        (lambda: esr_set(np.random.default_rng(0).random((2, 300, 3))), "Take fewer episodes"),
        (lambda: front_error([[0.1]], [0.0]), "above 0"),
        (lambda: front_error([0.1], [1.0]), "errors have shape"),
        (lambda: episodes_for(0.0, 0.1, 10), "above 0"),
        (lambda: episodes_for(0.1, np.inf, 10), "finite error"),
    ],
)
def test_what_does_not_fit_is_refused(call, said):
    with pytest.raises(InvalidParameter, match=said):
        call()
