"""Classic scoring of MO-SameGame (SPEC §5.2): by hand, its bounds, and what learners, searches and wrappers do with it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momagames
from momagames.baselines.exact import branch_and_bound_front, pareto_front
from momagames.engine.episode import Episode
from momagames.errors import InvalidCall, InvalidParameter
from momagames.games.samegame.heuristics import optimistic, present
from momagames.kernels.jit import compile_entry_point
from momagames.wrappers import MergeColors, SplitColors
from tests.games.walk import legal, moves, start

ID = "mo-samegame-v0"
CLASSIC = {"scoring": "classic"}
SEEDS = st.integers(0, 2**64 - 1)


def write_estimates(states, out):
    optimistic(states[0], out[0])
    present(states[0], out[1])


estimate = compile_entry_point(write_estimates, "samegame.tests.estimates")


def play(rows, actions, **params):
    """Return the sum of the rewards of each objective."""
    game = momagames.spec(ID, board_height=len(rows), board_width=len(rows[0]), num_colors=3, **CLASSIC, **params)
    episode = Episode(game)
    episode.load({"board": rows})
    for action in actions:
        episode.step(action)
    assert episode.state["over"]
    return episode.returns[0].tolist()


@pytest.mark.parametrize(
    ("rows", "actions", "expected"),
    [
        (["111", "111", "111"], [0], [49 + 1000, 0, 0]),
        (["222", "111", "111"], [3, 6], [16, 1 + 1000, 0]),
        (["1..", "2..", "133"], [7], [0, 0, 0]),  # pairs score 0, single tiles and two tiles left cost nothing
        (["112", "221", "133"], [7], [-4, -1, 0]),  # four tiles of color 1 and three of color 2 are left
    ],
)
def test_games_by_hand(rows, actions, expected):
    assert play(rows, actions) == expected
    assert play(rows, actions, color_rewards=False) == [sum(expected)]


@given(SEEDS, st.integers(3, 7), st.integers(3, 7), st.integers(2, 6), st.booleans())
def test_bounds_and_sums(seed, width, height, colors, team):
    size = {"board_width": width, "board_height": height, "num_colors": colors}
    one = start(ID, seed, **size, **CLASSIC, num_agents=2, team_rewards=team)
    merged = start(ID, seed, **size, **CLASSIC, num_agents=2, team_rewards=team, color_rewards=False)
    low, high = (np.array([getattr(o, end) for o in one.game.objectives]) for end in ("low", "high"))
    for _, mover, action, reward in moves(one, seed):
        merged.step(action)
        assert np.array_equal(merged.reward, reward.sum(axis=1, keepdims=True))
        assert (reward >= low).all()
        assert (reward <= high).all()
        assert team or not reward[1 - mover].any()
        assert merged.game.objectives[0].low <= merged.reward.min() <= merged.reward.max() <= merged.game.objectives[0].high


@given(SEEDS, st.integers(3, 7), st.integers(3, 7), st.integers(2, 6), st.booleans())
def test_the_upper_bound_holds(seed, width, height, colors, by_color):
    params = {"board_width": width, "board_height": height, "num_colors": colors, "color_rewards": by_color}
    one = start(ID, seed, **params, **CLASSIC)
    bounds, gains = [], []
    while not one.state["over"]:
        out = np.zeros((2, len(one.game.objectives)))
        estimate(np.array([one.state]), out)
        bounds.append(out[0])
        one.step(legal(one)[seed % len(legal(one))])
        gains.append(one.reward[0].copy())
    futures = np.cumsum(np.array(gains)[::-1], axis=0)[::-1]
    assert (np.array(bounds) >= futures).all()


def test_estimates_by_hand():
    for params, rows, bound, sizes in (
        ({}, ["1112", "2222", "3333"], [1 + 1000, 9 + 1000, 4 + 1000], [1, 9, 4]),
        ({}, ["1112", "2222", "3222"], [1, 36, 0], [1, 36, 0]),  # the single 3 rules the bonus out
        ({"color_rewards": False}, ["1112", "2222", "3333"], [14 + 1000], [14]),
    ):
        game = momagames.spec(ID, board_width=4, board_height=3, num_colors=3, **CLASSIC, **params)
        episode = Episode(game)
        episode.load({"board": rows})
        out = np.zeros((2, len(game.objectives)))
        estimate(np.array([episode.state]), out)
        assert out.tolist() == [bound, sizes]


@pytest.mark.long
@pytest.mark.compiled
@pytest.mark.parametrize("by_color", [True, False])
def test_branch_and_bound_agrees_with_the_search_through_all_positions(by_color):
    game = momagames.spec(ID, board_width=5, board_height=5, num_colors=3, color_rewards=by_color, **CLASSIC)
    limits = {"max_states": 1_000_000, "max_bytes": 1 << 28}
    for seed in range(4):
        bounded, complete = (search(game, seed=seed, **limits) for search in (branch_and_bound_front, pareto_front))
        np.testing.assert_array_equal(bounded.points, complete.points)


def test_parameters():
    assert "scoring" not in momagames.canonical(ID)
    assert momagames.canonical(ID, **CLASSIC).endswith("clear_bonus=0.0,scoring='classic')")
    with pytest.raises(InvalidParameter, match=r"clear_bonus=5\.0: expected 0\.0, because classic scoring has its own bonus"):
        momagames.spec(ID, clear_bonus=5.0, **CLASSIC)
    with pytest.raises(InvalidParameter, match="did you mean 'classic'"):
        momagames.spec(ID, scoring="clasic")


def test_colors_can_be_merged_but_not_split():
    env, merged = MergeColors(momagames.make(ID, **CLASSIC)), momagames.make(ID, color_rewards=False, **CLASSIC)
    for one in (env, merged):
        one.reset(seed=3)
    while env.agents:
        action = int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0])
        for one in (env, merged):
            one.step(action)
        assert np.array_equal(env.rewards["agent_0"], merged.rewards["agent_0"])
        if env.terminations["agent_0"]:
            break
    with pytest.raises(InvalidCall, match="SplitColors needs a game that declares color_objectives"):
        SplitColors(momagames.make(ID, color_rewards=False, **CLASSIC))
