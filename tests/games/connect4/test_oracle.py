"""The compiled rules of MO-Connect4 against the oracle, to the end of whole games."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.connect4.naive import Connect4
from tests.games.duel import play_aec_api, play_batch_api

ID = "mo-connect4-v0"


def case(width, height, column_objectives=True, names=None):
    params = {"board_width": width, "board_height": height, "column_objectives": column_objectives}
    return params | ({"objectives": names} if names else {})


SMALL = [
    case(4, 4),
    case(7, 6),
    case(7, 6, False),
    case(4, 7),
    case(9, 4),
    case(6, 5, names=("column_5", "win")),
    case(5, 6, names=("speed",)),
]
LARGE = [case(8, 8), case(16, 4), case(4, 16), case(13, 5, False), case(20, 20)]  # observations of several words


def name(params):
    return "-".join(str(value) for value in params.values())


def start(chance, params):
    """A game after some moves that does not end with the last of them."""
    game = Connect4(**params)
    for _ in range(chance.randrange(params["board_width"] * params["board_height"])):
        before = game.rows()
        game.step(chance.choice(sorted(game.legal(game.mover))))
        if game.over:
            return Connect4.given(before, 1 - game.mover, **params)
    return Connect4.given(game.rows(), game.mover, **params)


@pytest.mark.parametrize("params", SMALL, ids=name)
def test_generated_games(params):
    for seed in (0, 1, 2):
        assert play_aec_api(ID, Connect4.generate(seed, **params), params, seed) >= 7


@pytest.mark.parametrize("params", LARGE, ids=name)
def test_generated_games_on_large_boards(params):
    assert play_aec_api(ID, Connect4.generate(3, **params), params, 3) >= 7


@pytest.mark.parametrize("params", SMALL + LARGE[:2], ids=name)
def test_given_positions(params):
    for seed in range(4):
        oracle = start(random.Random(seed), params)
        play_aec_api(ID, oracle, params, seed, {"board": oracle.rows()})


@pytest.mark.parametrize("params", SMALL, ids=name)
def test_batch(params):
    chance = random.Random(5)
    oracles = [Connect4.generate(seed, **params) for seed in range(3)]
    oracles += [start(chance, params) for _ in range(3)]
    play_batch_api(ID, oracles, params, 5, threads=2)


@given(st.data())
def test_any_parameters(data):
    width, height = data.draw(st.integers(4, 9)), data.draw(st.integers(4, 9))
    known = ["win", "speed", *(f"column_{x}" for x in range(width))]
    params = case(width, height, names=tuple(data.draw(st.lists(st.sampled_from(known), min_size=1, unique=True))))
    oracle = start(random.Random(data.draw(st.integers(0, 2**32))), params)
    play_aec_api(ID, oracle, params, 7, {"board": oracle.rows()})
