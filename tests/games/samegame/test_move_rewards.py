"""The objective of moves of MO-SameGame (SPEC §5.3): recounts, its estimates, and what searches and learners do with it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momagames
from momagames.baselines.candidates.features import number_sets
from momagames.baselines.checkpoint_policy import find_champion
from momagames.baselines.exact import branch_and_bound_front, pareto_front
from momagames.engine.episode import Episode
from momagames.errors import InvalidParameter
from momagames.games.samegame.codec import format_board
from momagames.games.samegame.heuristics import EXTRA_FEATURE_NAMES, FEATURE_NAMES
from tests.games.samegame.naive import SameGame
from tests.games.samegame.test_classic import estimate
from tests.games.samegame.test_objective_features import compiled as write_features
from tests.games.walk import legal, moves, start

ID = "mo-samegame-v0"
SEEDS = st.integers(0, 2**64 - 1)
SMALL = {"board_width": 5, "board_height": 5, "num_colors": 3}
PARAMS = st.fixed_dictionaries(
    {
        "board_width": st.integers(3, 8),
        "board_height": st.integers(3, 8),
        "num_colors": st.integers(2, 6),
        "num_agents": st.integers(1, 5),
        "team_rewards": st.booleans(),
        "color_rewards": st.booleans(),
        "scoring": st.sampled_from(["squares", "classic"]),
    }
)


@given(SEEDS, PARAMS)
def test_returns_count_the_moves_and_other_objectives_stay(seed, params):
    plain, counted = start(ID, seed, **params), start(ID, seed, **params, move_rewards=True)
    count, team = np.zeros(params["num_agents"]), params["team_rewards"]
    for _, mover, action, reward in moves(plain, seed):
        counted.step(action)
        count[slice(None) if team else mover] += 1
        assert np.array_equal(counted.reward[:, :-1], reward)
        assert counted.state["board"].tobytes() == plain.state["board"].tobytes()
    assert np.array_equal(counted.returns[:, -1], -count)
    assert count.sum() == plain.state["ply"] * (params["num_agents"] if team else 1)
    *points, last = counted.game.objectives
    assert tuple(points) == plain.game.objectives
    assert (last.name, last.low, last.high, last.return_high) == ("move", -1, 0, 0)
    assert last.return_low <= -count.max()


def test_the_bound_of_the_episode_is_attained():
    for team, most in ((True, 6), (False, 3)):
        params = {"board_width": 4, "board_height": 3, "num_colors": 6, "num_agents": 2, "team_rewards": team}
        play = Episode(momagames.spec(ID, **params, move_rewards=True))
        play.load({"board": ["1122", "3344", "5566"]})
        while actions := legal(play):
            play.step(actions[0])
        assert play.returns[:, -1].min() == -most == play.game.objectives[-1].return_low


def find_fewest_moves(game, memo):
    """Return the smallest number of moves to the end of a naive game."""
    key = frozenset(game.cells.items())
    if key not in memo:
        counts = []
        for group in game.groups():
            x, y = min(group)
            child = SameGame.given(game.rows(), board_width=game.width, board_height=game.height, num_colors=game.colors)
            child.step(y * game.width + x)
            counts.append(1 + find_fewest_moves(child, memo))
        memo[key] = min(counts, default=0)
    return memo[key]


@pytest.mark.parametrize("colors", [2, 3, 5])
def test_the_bound_is_at_most_the_fewest_moves(colors):
    size = {"board_width": 4, "board_height": 4, "num_colors": colors}
    game, tight, memo = momagames.spec(ID, **size, color_rewards=False, move_rewards=True), 0, {}
    for seed in range(12):
        play = Episode(game)
        play.reset(seed)
        while True:
            out = np.zeros((2, 2))
            estimate(np.array([play.state]), out)
            fewest = find_fewest_moves(SameGame.given(format_board(play.state), **size), memo)
            assert 0 <= -out[0, 1] <= fewest
            assert (out[0, 1] == 0) == bool(play.state["over"])
            tight += -out[0, 1] == fewest > 1
            if play.state["over"]:
                break
            play.step(legal(play)[seed % len(legal(play))])
    assert tight > 5


@pytest.mark.parametrize(
    ("rows", "bound", "groups"),
    [
        (["1...", "1222", "3344"], 3, 4),  # one 1 upon the other, and two pairs in the bottom row
        (["11..", "2322", "3231"], 1, 2),  # pairs above the bottom row can fall apart
        (["1...", "2...", "1233"], 1, 1),
    ],
)
def test_estimates_by_hand(rows, bound, groups):
    for by_color in (True, False):
        params = {"board_width": 4, "board_height": 3, "num_colors": 4, "color_rewards": by_color}
        play = Episode(momagames.spec(ID, **params, move_rewards=True))
        play.load({"board": rows})
        out = np.zeros((2, len(play.game.objectives)))
        estimate(np.array([play.state]), out)
        assert out[:, -1].tolist() == [-bound, -groups]


@given(SEEDS, st.booleans())
def test_features_have_the_estimates_as_a_last_column(seed, by_color):
    plain = start(ID, seed, **SMALL, color_rewards=by_color)
    counted = start(ID, seed, **SMALL, color_rewards=by_color, move_rewards=True)
    rows = len(FEATURE_NAMES) + len(EXTRA_FEATURE_NAMES)
    expected, found, estimates = (np.zeros((n, len(g.objectives))) for n, g in
                                  ((rows, plain.game), (rows, counted.game), (2, counted.game)))  # fmt: skip
    write_features(np.array([plain.state]), expected)
    write_features(np.array([counted.state]), found)
    estimate(np.array([counted.state]), estimates)
    assert np.array_equal(found[:, :-1], expected)
    assert found[:2, -1].tolist() == estimates[:, -1].tolist()
    assert not found[2:, -1].any()


@pytest.mark.compiled
@pytest.mark.parametrize("params", [{"scoring": "classic", "color_rewards": False}, {}])
def test_branch_and_bound_agrees_with_the_search_through_all_positions(params):
    game = momagames.spec(ID, **SMALL | params, move_rewards=True)
    limits = {"max_states": 1_000_000, "max_bytes": 1 << 28}
    for seed in range(4):
        bounded, complete = (search(game, seed=seed, **limits) for search in (branch_and_bound_front, pareto_front))
        np.testing.assert_array_equal(bounded.points, complete.points)
        assert len(complete.points) > 1


def test_ids_without_the_parameter_stay():
    assert "move_rewards" not in momagames.canonical(ID, move_rewards=False)
    assert "move_rewards" not in momagames.spec(ID).params
    assert momagames.canonical(ID, move_rewards=True).endswith("clear_bonus=0.0,move_rewards=True)")


@pytest.mark.parametrize("by_color", [True, False])
def test_moves_are_no_color(by_color):
    game = momagames.spec(ID, color_rewards=by_color, move_rewards=True)
    assert number_sets(game).tolist() == ([0] * 5 + [1] if by_color else [0, 1])
    with pytest.raises(InvalidParameter, match="no trained policy of the package fits mo-samegame-v0"):
        find_champion(game)
