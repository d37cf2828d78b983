"""The compiled rules of MO-SameGame against the oracle, to the end of whole games."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.duel import play_aec_api, play_batch_api
from tests.games.samegame.naive import SYMBOLS, SameGame

ID = "mo-samegame-v0"


def case(width, height, colors, agents=1, team=False, by_color=True, bonus=0.0, scoring="squares", count=False):
    return {
        "board_width": width,
        "board_height": height,
        "num_colors": colors,
        "num_agents": agents,
        "team_rewards": team,
        "color_rewards": by_color,
        "clear_bonus": bonus,
        "scoring": scoring,
        "move_rewards": count,
    }


SMALL = [
    case(3, 3, 2),
    case(3, 3, 10, 2),
    case(5, 5, 3, 3, team=True),
    case(4, 9, 4, 2, by_color=False),
    case(9, 4, 5, 5, team=True, by_color=False),
    case(3, 12, 2, 4, bonus=1000.0),
    case(12, 3, 2, 2, team=True, bonus=0.5),
    case(7, 5, 6, 3),
    case(5, 7, 7, 1),
    case(6, 8, 8, 5),
    case(8, 6, 9, 4, team=True),
    case(9, 7, 4),
    case(8, 8, 3, 2),
    case(13, 5, 5),
    case(3, 3, 2, scoring="classic"),
    case(6, 4, 3, 3, scoring="classic"),
    case(4, 7, 5, 2, team=True, scoring="classic"),
    case(5, 5, 4, by_color=False, scoring="classic"),
    case(4, 5, 3, 3, count=True),
    case(5, 4, 4, 2, team=True, by_color=False, bonus=2.5, count=True),
    case(4, 4, 2, 2, team=True, scoring="classic", count=True),
    case(5, 5, 3, by_color=False, scoring="classic", count=True),
]
LARGE = [
    case(15, 15, 5),
    case(15, 15, 5, scoring="classic"),
    case(15, 15, 5, by_color=False, scoring="classic", count=True),
    case(30, 30, 5, scoring="classic"),
    case(30, 30, 10, 5),
    case(30, 3, 3, 2),
    case(3, 30, 3, 2),
    case(30, 11, 4),
    case(11, 30, 2, 3),
]


def name(params):
    return "-".join(str(value) for value in params.values())


def board(chance, params):
    """Any settled board: columns of any height, the used ones on the left."""
    columns = [chance.randint(1, params["board_height"]) for _ in range(chance.randint(1, params["board_width"]))]
    color = min(params["num_colors"], chance.randint(2, params["num_colors"]))
    rows = []
    for y in range(params["board_height"]):
        filled = [len(columns) > x and params["board_height"] - y <= columns[x] for x in range(params["board_width"])]
        rows.append("".join(SYMBOLS[chance.randint(1, color)] if full else "." for full in filled))
    return rows


@pytest.mark.parametrize("params", SMALL, ids=name)
def test_generated_games(params):
    for seed in (0, 1, 2**63 + 5):
        assert play_aec_api(ID, SameGame.generate(seed, **params), params, seed) >= 1


@pytest.mark.parametrize("params", LARGE, ids=name)
@pytest.mark.long
def test_generated_games_on_large_boards(params, interpreted):
    if interpreted and params["board_width"] * params["board_height"] > 120:
        pytest.skip("too slow without the compiler")
    assert play_aec_api(ID, SameGame.generate(3, **params), params, 3) >= 1


@pytest.mark.parametrize("params", SMALL, ids=name)
def test_given_positions(params):
    for seed in (0, 1):
        chance = random.Random(seed)
        rows, first = board(chance, params), chance.randrange(params["num_agents"])
        options = {"board": rows, "first_agent": f"agent_{first}"}
        play_aec_api(ID, SameGame.given(rows, first, **params), params, seed, options)


@pytest.mark.parametrize("params", SMALL, ids=name)
def test_batch(params):
    chance = random.Random(5)
    oracles = [SameGame.generate(seed, **params) for seed in range(3)]
    oracles += [SameGame.given(board(chance, params), chance.randrange(params["num_agents"]), **params) for _ in range(3)]
    play_batch_api(ID, oracles, params, 5, threads=2)


@given(st.data())
def test_any_parameters(data):
    params = case(
        data.draw(st.integers(3, 8)),
        data.draw(st.integers(3, 8)),
        data.draw(st.integers(2, 10)),
        data.draw(st.integers(1, 5)),
        data.draw(st.booleans()),
        data.draw(st.booleans()),
        *data.draw(st.tuples(st.floats(0, 100_000), st.just("squares")) | st.just((0.0, "classic"))),
        data.draw(st.booleans()),
    )
    rows = board(random.Random(data.draw(st.integers(0, 2**32))), params)
    play_aec_api(ID, SameGame.given(rows, **params), params, 7, {"board": rows})


def test_one_color_attains_the_bound():
    params = case(30, 30, 2, bonus=1000.0)
    rows = ["1" * 30] * 30
    oracle = SameGame.given(rows, **params)
    assert play_aec_api(ID, oracle, params, 0, {"board": rows}) == 1
