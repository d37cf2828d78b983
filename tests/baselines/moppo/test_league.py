"""The league of earlier versions of the network: games are scored, hard versions play most, and the whole training is in it."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy
from momagames.baselines.moppo.league import League, score_games
from momagames.baselines.moppo.method import Moppo
from momagames.errors import InvalidParameter
from tests.baselines.moppo.test_views import FFA, SMALL, make_trainer

TEAM = "mo-pommerman-team-v0"


def test_games_are_scored_with_the_weights_of_the_learning_agents():
    """Agents 0 and 2 learn for the first objective, 1 and 3 play for the second one."""
    is_learning = np.tile([True, False, True, False], (4, 1))
    weights = np.tile([[1, 0], [0, 1], [1, 0], [0, 1]], (4, 1, 1)).astype(np.float32)
    returns = np.zeros((4, 4, 2))
    returns[0, 2, 0] = 1  # won by the better agent of the two
    returns[1, 1, 1] = 5  # nothing of what the learning agents value
    returns[2, 3, 0] = 2
    returns[3, [0, 1], 0] = -1, -2  # the others are better
    assert score_games(returns, weights, is_learning).tolist() == [1, 0.5, 0, 0.5]


def test_versions_that_are_hard_to_beat_play_most():
    first = {"w": np.zeros(1)}
    league, rng = League(first, 4, 10), np.random.default_rng(0)
    assert set(league.draw(100, rng).tolist()) == {0}  # places without a version do not play
    for i in (1, 2, 3):
        league.enter({"w": np.full(1, i)})
    league.results[:] = 0
    league.record(np.repeat([0, 1, 2, 3], 100), np.repeat([1.0, 0.0, 0.5, 1.0], 100))
    assert league.results.tolist() == [[100, 100], [0, 100], [50, 100], [100, 100]]
    counts = np.bincount(league.draw(1000, rng), minlength=4)
    assert np.allclose(counts / 1000, [0, 0.8, 0.2, 0], atol=0.05)
    assert league.results[1].tolist() == [0, 50]  # recent games count more
    league.enter({"w": np.full(1, 4)})  # in the place of the oldest
    assert [int(version["w"][0]) for version in league.versions] == [4, 1, 2, 3]
    assert league.results[0].tolist() == [0, 0]


def test_versions_of_the_whole_training_are_drawn(torch):
    """Versions enter at even intervals, and the games of each place of the pool count for the version that plays there."""
    steps = SMALL["num_envs"] * SMALL["num_steps"]
    trainer = make_trainer(momagames.spec(TEAM), budget=60 * steps, self_play=0.0, opponent_pool_size=2, league_size=3)
    opponents = trainer.collector.opponents
    assert opponents.league.interval == 20
    recorded = []
    opponents.league.record = lambda versions, scores: recorded.append((versions.tolist(), scores.tolist()))
    versions = []
    for update in range(1, 50):
        trainer.train_iteration()
        if update % 20 == 0:
            versions.append(trainer.model.network.export_actor()["fc1"].tobytes())
    assert [version["fc1"].tobytes() for version in opponents.league.versions[1:]] == versions
    assert opponents.league.entered.tolist() == [3]
    for place, version in enumerate(opponents.drawn):
        assert opponents.pool[place]["fc1"].tobytes() == opponents.league.versions[version]["fc1"].tobytes()
    opponents.drawn[:] = 2, 1
    ended = np.ones(SMALL["num_envs"], np.bool_)
    recorded.clear()
    returns, weights = np.zeros(trainer.collector.returns.shape), trainer.collector.weights
    returns[:, :, 0] = opponents.is_learning
    opponents.record_games(ended, returns, weights)
    ((found, scores),) = recorded
    assert found == [[2, 1][row.max()] for row in opponents.seats]
    assert set(scores) == {1.0}
    ended[1:] = False
    opponents.record_games(ended, -returns, weights)
    assert recorded[1] == ([found[0]], [0.0])


def test_games_against_other_opponents_do_not_count(torch):
    simple = batch_policy("simple", momagames.spec(FFA))
    trainer = make_trainer(momagames.spec(FFA), opponents=[simple], self_play=0.5, opponent_pool_size=1, league_size=2)
    opponents = trainer.collector.opponents
    opponents.record_games(np.ones(SMALL["num_envs"], np.bool_), trainer.collector.returns, trainer.collector.weights)
    assert opponents.league.results[:, 1].sum() == (opponents.seats.max(axis=1) == 1).sum() > 0


def test_league_needs_a_pool():
    game = momagames.spec(FFA)
    with pytest.raises(InvalidParameter, match="invalid league_size=2: expected 0 without opponent_pool_size"):
        Moppo(**{**Moppo.default_options(game), "league_size": 2, "opponent_pool_size": 0})
