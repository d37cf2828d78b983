"""Ratings and cycles against hand-computed values."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momagames.analysis.ratings import ELO_SCALE, PRIOR, bradley_terry, find_clearest_cycle, rating_intervals
from momagames.analysis.statistics import Interval
from momagames.errors import InvalidParameter


def test_two_players_by_hand():
    """Nine wins to none and a prior of half a win each way: odds of 19 to 1."""
    assert bradley_terry([[0, 9], [0, 0]], anchor=1) == pytest.approx([400 * np.log10(19), 0], abs=0.01)
    assert bradley_terry([[0, 9], [0, 0]], anchor=0) == pytest.approx([0, -400 * np.log10(19)], abs=0.01)
    assert bradley_terry([[0, 3], [3, 0]]).tolist() == pytest.approx([0, 0])


def test_chain_of_ratings_adds_up():
    """Players that never met are compared through others: ten to one twice is a hundred to one."""
    wins = np.zeros((3, 3))
    wins[0, 1] = wins[1, 2] = 10 - PRIOR
    wins[1, 0] = wins[2, 1] = 1 - PRIOR
    assert bradley_terry(wins, anchor=2) == pytest.approx([800, 400, 0], abs=0.05)


def test_ratings_maximize_the_likelihood():
    """At the maximum likelihood, every player has as many wins as its rating predicts."""
    wins = np.array([[0, 7, 2, 9], [3, 0, 6, 5], [8, 4, 0, 1], [1, 5, 0, 0]], float)
    ratings = bradley_terry(wins, anchor=3)
    games = wins + wins.T + 2 * PRIOR * (1 - np.eye(4))
    expected = (games / (1 + np.exp((ratings[None] - ratings[:, None]) / ELO_SCALE))).sum(axis=1)
    assert expected == pytest.approx(wins.sum(axis=1) + 3 * PRIOR, abs=1e-3)
    assert ratings[3] == 0


def test_batched_ratings_equal_single_ones():
    wins = np.random.default_rng(0).integers(0, 9, (5, 3, 3)) * (1 - np.eye(3))
    assert bradley_terry(wins) == pytest.approx(np.array([bradley_terry(one) for one in wins]), abs=0.05)


def test_intervals_contain_the_ratings_and_narrow():
    rng = np.random.default_rng(1)
    won = (rng.random(400) < 0.75).astype(float)
    samples = np.zeros((400, 2, 2))
    samples[:, 0, 1], samples[:, 1, 0] = won, 1 - won
    few, many = (rating_intervals(samples[:n], anchor=1)[0] for n in (40, 400))
    assert few.low < few.value < few.high
    assert many.high - many.low < (few.high - few.low) / 2
    assert many.low < 400 * np.log10(3) < many.high
    assert rating_intervals(samples, anchor=1)[1] == (type(few))(0, 0, 0, 400)


def play_seeds(shares, games=100, seeds=10):
    """Return the wins of each pair in each seed, float[E, N, N], for shares of the games between 0 and 1, one row a player."""
    upper = np.triu(np.random.default_rng(0).binomial(games, shares, (seeds, *np.shape(shares))), 1)
    return upper + np.triu(games * np.ones(np.shape(shares)) - upper, 1).swapaxes(1, 2)


def test_rock_paper_scissors_has_equal_ratings_and_a_cycle():
    wins = np.array([[0, 9, 1], [1, 0, 9], [9, 1, 0]], float)
    assert bradley_terry(wins) == pytest.approx([0, 0, 0])
    samples = np.stack([wins, wins])
    found = find_clearest_cycle("abc", samples)
    assert found.players == ("a", "b", "c")
    assert found.shares == (Interval(0.9, 0.9, 0.9, 2),) * 3
    assert find_clearest_cycle("abc", samples.swapaxes(1, 2)).players == ("a", "c", "b")
    assert find_clearest_cycle("abc", samples[:1]) is None  # one unit has no interval


def test_a_cycle_needs_three_clear_wins():
    """Two clear wins and a narrow one are no cycle, nor is a win by games that are mostly ties and seldom decided."""
    shares = [[0, 0.8, 0.2], [0, 0, 0.7], [0, 0, 0]]  # a beats b, b beats c, c beats a
    assert find_clearest_cycle("abc", play_seeds(shares)).players == ("a", "b", "c")
    shares[0][2] = 0.49
    assert play_seeds(shares)[:, 2, 0].mean() > 50
    assert find_clearest_cycle("abc", play_seeds(shares)) is None
    seldom = play_seeds([[0, 0.8, 0.2], [0, 0, 0.7], [0, 0, 0]])
    seldom[:, 2, 0] = np.arange(10) == 0  # the only decided game of 1,000
    seldom[:, 0, 2] = 0
    assert find_clearest_cycle("abc", seldom) is None


def test_ties_take_no_part_in_cycles():
    """Each player wins one game of ten against the next, loses none, and the others are ties."""
    samples = np.repeat(np.array([[[0, 1, 0], [0, 0, 1], [1, 0, 0]]]), 10, axis=0)
    assert [share.low for share in find_clearest_cycle("abc", samples).shares] == [1, 1, 1]


@given(st.integers(3, 6), st.integers(0, 2**32))
def test_the_clearest_cycle(players, seed):
    """Of units that are all equal, against all ordered triples; pairs may not have met, or be level."""
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 4, (players, players)) * (1 - np.eye(players))
    rates = {(a, b): Fraction(wins[a, b]) / Fraction(wins[a, b] + wins[b, a]) for a, b in np.argwhere(wins).tolist()}
    cycles = {}
    for a, b, c in permutations(range(players), 3):
        each = [rates.get(pair, Fraction(0)) for pair in ((a, b), (b, c), (c, a))]
        if min(each) > Fraction(1, 2):
            cycles[a, b, c] = float(min(each))
    found = find_clearest_cycle(range(players), np.stack([wins] * 3), resamples=2)
    if cycles:
        assert min(share.value for share in found.shares) == max(cycles.values()) == cycles[found.players]
    else:
        assert found is None


@pytest.mark.parametrize(
    ("wins", "message"),
    [
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], "not connected"),
        ([[1, 1], [1, 0]], "against itself"),
        ([[0, -1], [1, 0]], "at least 0"),
        ([[0, 1, 0], [1, 0, 0]], "shape"),
    ],
)
def test_invalid_arguments(wins, message):
    with pytest.raises(InvalidParameter, match=message):
        bradley_terry(wins)
