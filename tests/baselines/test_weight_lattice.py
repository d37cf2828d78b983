"""The simplex lattice and the names of its weights."""

import numpy as np
import pytest

import momagames
from momagames.baselines import policy
from momagames.baselines.weight_lattice import format_weights, resolve_weights, simplex_lattice
from momagames.cli.console import parse_weights
from momagames.errors import InvalidParameter
from momagames.wrappers import Scalarize


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


def test_weights_by_the_names_of_objectives():
    """In policies, Scalarize and the command line; objectives that are not named have 0."""
    game = momagames.spec("mo-breakthrough-v0")
    assert resolve_weights("x", game, {"win": 1, "losses": 0.5}).tolist() == [1, 0, 0, 0.5]
    expected = r"weights name the objective 'wins'; there are 'win', .*; did you mean 'win'"
    with pytest.raises(InvalidParameter, match=expected):
        policy("greedy", game, weights={"wins": 1})
    env = momagames.make("mo-breakthrough-v0")
    assert Scalarize(env, {"win": 2}).transform.weights.tolist() == [[2, 0, 0, 0]] * 2
    by_agent = {"player_0": {"speed": 1}, "player_1": [0, 0, 1, 0]}
    assert Scalarize(env, by_agent).transform.weights.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]
    for weights in ({"wins": 1, "speed": 1}, {"player_0": {"wins": 1}, "player_1": {"win": 1}}):
        with pytest.raises(InvalidParameter, match=expected.replace("weights name", "weights.* name")):
            Scalarize(env, weights)
    with pytest.raises(InvalidParameter, match=r"name the agent 'wins'; .* and the objectives .*; did you mean 'win'"):
        Scalarize(env, {"wins": 1})
    assert parse_weights("win=1,losses=0.5", game) == (1, 0, 0, 0.5) == parse_weights("1,0,0,0.5", game)
    for text, message in [("win=x", "expected numbers such as 1,0, or by name: win=1"), ("1,0", "4 finite numbers, for win")]:
        with pytest.raises(InvalidParameter, match=message):
            parse_weights(text, game)
