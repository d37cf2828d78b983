"""Scripted agents of MO-ItemGathering, and what it declares for searches and learners."""

import numpy as np
import pytest

import momagames
from momagames.engine.episode import Episode
from momagames.engine.policy_sources import make_policy
from momagames.errors import InvalidParameter
from momagames.games.item_gathering import learning, policies
from momagames.kernels.jit import compile_entry_point

ID = "mo-item-gathering-v0"
RNG = np.random.default_rng(0)


def play(policy, start=None, **params):
    """The returns of an episode in which every agent plays the policy."""
    game = momagames.spec(ID, **params)
    episode = Episode(game)
    episode.reset(1)
    if start:
        episode.load(start)
    players = [policy(game, agent) for agent in range(len(game.agents))]
    while not episode.state["over"]:
        chosen = [int(np.ravel(player(episode.state, episode.mask(i), RNG))[0]) for i, player in enumerate(players)]
        for agent, action in enumerate(chosen):
            assert episode.mask(agent)[action]
        episode.step(chosen[0] if game.sequential else np.array(chosen)[:, None])
    return episode.returns.tolist()


def nearest(game, agent):
    return make_policy("nearest", policies.NEAREST, game, agent)


def weighted(**options):
    return lambda game, agent: make_policy("weighted", policies.WEIGHTED, game, agent, **options)


def test_nearest_goes_to_the_nearest_item():
    rows = ["3..1.2", "......"]
    assert play(nearest, initial_map=rows, num_timesteps=2) == [[1, 0]]
    assert play(nearest, initial_map=rows, num_timesteps=7) == [[1, 1]]


@pytest.mark.parametrize("control", ["agents", "central"])
def test_weights_decide(control):
    rows = ["3..1.2", "......"]
    for weights, result in (
        ([0, 1], [0, 1]),
        ({"item_1": 1.0}, [1, 0]),
        ([1, 1], [1, 0]),
        ([0.1, 1], [0, 1]),
        ([-1, 0], [0, 0]),
    ):
        assert play(weighted(weights=weights), initial_map=rows, num_timesteps=4, control=control) == [result]


def test_a_probability_counts_like_a_weight():
    rows = ["3..1.2", "......"]
    chances = {"pickup_probabilities": [0.0, 1.0], "initial_map": rows, "num_timesteps": 4}
    assert play(weighted(), **chances) == [[0, 1]]


def test_agents_share():
    """Both are nearest to the same item; one leaves it to the other."""
    rows = ["2.1..1.......2"]
    assert play(weighted(), initial_map=rows, num_timesteps=8) == [[1], [1]]
    both = ["..1...", "22....", ".....2", "1....."]
    team = {"initial_map": both, "num_timesteps": 6, "reward_mode": "team"}
    assert play(weighted(), **team)[0] >= play(weighted(shares=False), **team)[0]


def test_agents_go_round_each_other():
    """The first one stands on an item that it cannot take; the second passes by."""
    rows = ["1.1..3", ".2...."]
    start = {"agents": [[0, 2], [0, 0]], "items": [[0, 5, 1], [1, 1, 0]]}
    assert play(weighted(weights=[0, 1]), start, initial_map=rows, num_timesteps=6)[0] == [0, 1]


@pytest.mark.compiled
def test_central_agents_never_choose_an_illegal_action():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = rng.choice([0, 0, 2, 3], size=(5, 5))
        rows[0, :3] = 1
        rows[4, 4] = 2
        for policy in (nearest, weighted(), weighted(shares=False)):
            play(policy, initial_map=rows, num_timesteps=20, control="central")


def test_scripted_agents_beat_random_play():
    default = [sum(play(policy, reward_mode="team")[0]) for policy in (nearest, weighted())]
    assert default == [7, 8]


def test_wrong_options():
    game = momagames.spec(ID)
    for options in ({"shares": 1}, {"weights": [1]}, {"weights": {"item_9": 1}}):
        with pytest.raises(InvalidParameter, match="weighted"):
            make_policy("weighted", policies.WEIGHTED, game, 0, **options)


def write_all(states, features, bound, planes, scalars):
    learning.write_features(states[0], features)
    learning.optimistic(states[0], bound)
    learning.write_view(states[0], 1, planes, scalars)


compiled = compile_entry_point(write_all, "item_gathering.tests.learning")


def describe(episode, planes=9 * 7 * 7):
    """Features, bound, and the planes and scalars of agent_1."""
    size = len(episode.game.objectives)
    found = np.ones((3, size)), np.ones(size), np.ones(planes, np.float32), np.ones(5, np.float32)
    compiled(episode.states, *found)
    return found


@pytest.mark.compiled
def test_features_and_bounds():
    params = {"initial_map": ["1..2", "...3", "2..1"], "num_timesteps": 2, "objectives": ["item_2", "item_1"]}
    episode = Episode(momagames.spec(ID, **params))
    episode.reset(0)
    features, bound, *_ = describe(episode)
    assert bound.tolist() == features[0].tolist() == [1, 2]
    assert features[1].tolist() == pytest.approx([0.7, 2 * 0.7**2])
    assert features[2].tolist() == pytest.approx([0.7, 0.7**2])
    episode.step(np.array([[0], [3]]))
    features, bound, *_ = describe(episode)
    assert bound.tolist() == [0, 0]
    assert features[1:].tolist() == [[0, 0], [pytest.approx(0.49), pytest.approx(0.49)]]


@pytest.mark.compiled
def test_the_view_is_around_the_agent():
    game = momagames.spec(ID, initial_map=["1..2", "..13"])
    view = game.learning.egocentric_view
    assert view.shape == (7, 7)
    assert view.planes == ("item_1", "item_2", "others")
    episode = Episode(game)
    episode.reset(0)
    *_, planes, scalars = describe(episode, view.cells)
    cells = [np.argwhere(plane).tolist() for plane in planes.reshape(3, 7, 7)]
    assert cells == [[[2, 4]], [[3, 4]], [[2, 1]]]
    assert scalars.tolist() == [1, 0, 1, 0, 0]
    assert momagames.spec(ID, initial_map="corners", control="central").learning.egocentric_view is None
