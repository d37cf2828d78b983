"""The compiled rules of MO-Breakthrough against the oracle, to the end of whole games."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.breakthrough.naive import NAMES, Breakthrough
from tests.games.duel import play_aec_api, play_batch_api

ID = "mo-breakthrough-v0"


def case(width, height, objectives=4, canonical=False, names=None):
    params = {"board_width": width, "board_height": height, "num_objectives": objectives, "canonical": canonical}
    return params | ({"objectives": names} if names else {})


SMALL = [
    case(3, 5),
    case(5, 5, 1),
    case(3, 8, 2),
    case(9, 5, 3),
    case(8, 8, 4),
    case(8, 8, 4, canonical=True),
    case(4, 7, 4, canonical=True),
    case(7, 5, 2, canonical=True),
    case(6, 5, names=("captures", "win")),
    case(5, 6, names=("losses",), canonical=True),
    case(5, 6, names=("losses", "captures", "speed", "win")),
]
LARGE = [  # several words of bits: boards that end inside a word, at its edge, and use all seven
    case(20, 20),
    case(20, 20, canonical=True),
    case(16, 8, canonical=True),
    case(9, 7, canonical=True),
    case(7, 9),
    case(11, 6),
    case(13, 5),
    case(5, 13, canonical=True),
    case(20, 5),
    case(3, 20, 3),
]


def name(params):
    return "-".join(str(value) for value in params.values())


def board(chance, params):
    """Any position: 1 to 2W pieces a side, none on its goal row."""
    width, height = params["board_width"], params["board_height"]
    cells = [(x, y) for x in range(width) for y in range(height)]
    first = set(chance.sample([c for c in cells if c[1] < height - 1], chance.randint(1, 2 * width)))
    second = [c for c in cells if c[1] > 0 and c not in first]
    second = set(chance.sample(second, chance.randint(1, min(len(second), 2 * width))))
    symbol = lambda cell: "1" if cell in first else "2" if cell in second else "."  # noqa: E731
    return ["".join(symbol((x, y)) for x in range(width)) for y in range(height)]


@pytest.mark.parametrize("params", SMALL, ids=name)
def test_generated_games(params):
    for seed in (0, 1, 2):
        assert play_aec_api(ID, Breakthrough.generate(seed, **params), params, seed) >= 1


@pytest.mark.parametrize("params", [pytest.param(LARGE[0], marks=pytest.mark.long), *LARGE[1:]], ids=name)
def test_generated_games_on_large_boards(params, interpreted):
    if interpreted and params["board_width"] * params["board_height"] > 130:
        pytest.skip("too slow without the compiler")
    assert play_aec_api(ID, Breakthrough.generate(3, **params), params, 3) >= 1


@pytest.mark.parametrize("params", SMALL + LARGE[2:5], ids=name)
def test_given_positions(params):
    for seed in (0, 1):
        chance = random.Random(seed)
        rows, first = board(chance, params), chance.randrange(2)
        options = {"board": rows, "first_agent": f"player_{first}"}
        play_aec_api(ID, Breakthrough.given(rows, first, **params), params, seed, options)


@pytest.mark.parametrize("params", SMALL, ids=name)
def test_batch(params):
    chance = random.Random(5)
    oracles = [Breakthrough.generate(seed, **params) for seed in range(3)]
    oracles += [Breakthrough.given(board(chance, params), chance.randrange(2), **params) for _ in range(3)]
    play_batch_api(ID, oracles, params, 5, threads=2)


@given(st.data())
def test_any_parameters(data):
    params = case(
        data.draw(st.integers(3, 9)),
        data.draw(st.integers(5, 9)),
        canonical=data.draw(st.booleans()),
        names=tuple(data.draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))),
    )
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    rows, first = board(chance, params), chance.randrange(2)
    options = {"board": rows, "first_agent": f"player_{first}"}
    play_aec_api(ID, Breakthrough.given(rows, first, **params), params, 7, options)
