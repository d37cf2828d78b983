"""Ratings and cycles against hand-computed values."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momagames.analysis.ratings import ELO_SCALE, PRIOR, bradley_terry, find_clearest_cycle, rating_intervals
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


def rotate(players):
    """The players of a cycle, the first number first."""
    first = players.index(min(players))
    return players[first:] + players[:first]


def test_rock_paper_scissors_has_equal_ratings_and_a_cycle():
    wins = np.array([[0, 9, 1], [1, 0, 9], [9, 1, 0]], float)
    assert bradley_terry(wins) == pytest.approx([0, 0, 0])
    assert find_clearest_cycle(wins) == ((0, 1, 2), 0.9)
    assert find_clearest_cycle(wins.T) == ((0, 2, 1), 0.9)


def test_a_cycle_needs_three_wins():
    """A clear win, a narrow one and a narrow loss add up to log odds above 0, and are no cycle."""
    wins = np.array([[0, 98, 45], [2, 0, 52], [55, 48, 0]], float)  # 0 beats 1, 1 beats 2, 2 beats 0
    assert find_clearest_cycle(wins) == ((0, 1, 2), 0.52)
    wins[[2, 0], [0, 2]] = 45, 55  # now 0 beats 2
    assert find_clearest_cycle(wins) is None


def test_a_tie_is_no_win():
    wins = np.array([[0, 6, 5], [4, 0, 6], [5, 4, 0]], float)
    assert find_clearest_cycle(wins) is None
    shares = wins / 10
    shares[2, 0] = 0.1 + 0.2 + 0.2000000000000001  # one half but for rounding
    assert find_clearest_cycle(shares) is None
    shares[2, 0] = 0.51
    assert find_clearest_cycle(shares).players == (0, 1, 2)


@given(st.integers(3, 6), st.integers(0, 2**32))
def test_the_clearest_cycle(players, seed):
    """Against all ordered triples; pairs may not have met, or be level."""
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 4, (players, players)) / 2 * (1 - np.eye(players))
    wins[np.arange(1, players), np.arange(players - 1)] += 1  # all are connected
    rates = {
        (a, b): Fraction(wins[a, b]) / Fraction(wins[a, b] + wins[b, a])
        for a, b in permutations(range(players), 2)
        if wins[a, b] + wins[b, a]
    }
    cycles = {}
    for a, b, c in permutations(range(players), 3):
        each = [rates.get(pair, 0) for pair in ((a, b), (b, c), (c, a))]
        if min(each) > Fraction(1, 2):
            cycles[rotate((a, b, c))] = float(min(each))
    found = find_clearest_cycle(wins)
    if cycles:
        assert found.win_rate == max(cycles.values()) == cycles[rotate(found.players)]
    else:
        assert found is None


def test_transitive_results_have_no_cycle():
    strengths = np.array([1.0, 2.0, 5.0])
    games = 90 * (1 - np.eye(3))
    wins = games * strengths[:, None] / (strengths[:, None] + strengths) - PRIOR * (1 - np.eye(3))
    assert find_clearest_cycle(wins) is None
    assert find_clearest_cycle([[0, 9], [0, 0]]) is None


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
