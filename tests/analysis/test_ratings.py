"""Ratings and circles, by hand."""

import numpy as np
import pytest

from momagames.analysis.ratings import ELO, PRIOR, bradley_terry, intervals, largest_cycle
from momagames.errors import InvalidParameter


def test_two_entrants_by_hand():
    """Nine wins to none and a prior of half a win each way: odds of 19 to 1."""
    assert bradley_terry([[0, 9], [0, 0]], anchor=1) == pytest.approx([400 * np.log10(19), 0], abs=0.01)
    assert bradley_terry([[0, 9], [0, 0]], anchor=0) == pytest.approx([0, -400 * np.log10(19)], abs=0.01)
    assert bradley_terry([[0, 3], [3, 0]]).tolist() == pytest.approx([0, 0])


def test_a_chain_adds_up():
    """Who never met is compared by way of others: ten to one twice is a hundred to one."""
    wins = np.zeros((3, 3))
    wins[0, 1] = wins[1, 2] = 10 - PRIOR
    wins[1, 0] = wins[2, 1] = 1 - PRIOR
    assert bradley_terry(wins, anchor=2) == pytest.approx([800, 400, 0], abs=0.05)


def test_ratings_are_the_most_likely():
    """Where the likelihood is largest, everybody has as many wins as the ratings expect."""
    wins = np.array([[0, 7, 2, 9], [3, 0, 6, 5], [8, 4, 0, 1], [1, 5, 0, 0]], float)
    ratings = bradley_terry(wins, anchor=3)
    games = wins + wins.T + 2 * PRIOR * (1 - np.eye(4))
    expected = (games / (1 + np.exp((ratings[None] - ratings[:, None]) / ELO))).sum(axis=1)
    assert expected == pytest.approx(wins.sum(axis=1) + 3 * PRIOR, abs=1e-3)
    assert ratings[3] == 0


def test_many_at_once_are_each_alone():
    wins = np.random.default_rng(0).integers(0, 9, (5, 3, 3)) * (1 - np.eye(3))
    assert bradley_terry(wins) == pytest.approx(np.array([bradley_terry(one) for one in wins]), abs=0.05)


def test_intervals_hold_the_ratings_and_narrow():
    rng = np.random.default_rng(1)
    won = (rng.random(400) < 0.75).astype(float)
    samples = np.zeros((400, 2, 2))
    samples[:, 0, 1], samples[:, 1, 0] = won, 1 - won
    few, many = (intervals(samples[:n], anchor=1)[0] for n in (40, 400))
    assert few.low < few.value < few.high
    assert many.high - many.low < (few.high - few.low) / 2
    assert many.low < 400 * np.log10(3) < many.high
    assert intervals(samples, anchor=1)[1] == (type(few))(0, 0, 0, 400)


def test_stone_paper_and_scissors_have_no_ratings_but_a_circle():
    wins = np.array([[0, 10, 0], [0, 0, 10], [10, 0, 0]], float) * (10 - PRIOR) / 10
    wins += np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]) * (1 - PRIOR)
    assert bradley_terry(wins) == pytest.approx([0, 0, 0])
    cycle = largest_cycle(wins)
    assert cycle.entrants in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    assert cycle.residual == pytest.approx(1200)
    assert set(largest_cycle(wins.T).entrants) == {0, 1, 2}
    assert largest_cycle(wins.T).residual == pytest.approx(1200)


def test_results_that_ratings_explain_have_no_circle():
    strengths = np.array([1.0, 2.0, 5.0])
    games = 90 * (1 - np.eye(3))
    wins = games * strengths[:, None] / (strengths[:, None] + strengths) - PRIOR * (1 - np.eye(3))
    assert largest_cycle(wins).residual == pytest.approx(0, abs=1e-9)
    assert largest_cycle([[0, 9], [0, 0]]) is None


@pytest.mark.parametrize(
    ("wins", "told"),
    [
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], "never met"),
        ([[1, 1], [1, 0]], "against itself"),
        ([[0, -1], [1, 0]], "at least 0"),
        ([[0, 1, 0], [1, 0, 0]], "shape"),
    ],
)
def test_what_is_impossible(wins, told):
    with pytest.raises(InvalidParameter, match=told):
        bradley_terry(wins)
