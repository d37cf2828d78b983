"""Cloning from data, and its runs in suites."""

import numpy as np
import pytest
import yaml

from momagames import datasets, registry
from momagames.baselines import method
from momagames.baselines.training_setup import TrainingSetup
from momagames.datasets.conditions import ReturnConditions, WeightConditions
from momagames.datasets.learners import BehaviorCloning, ReturnConditioned
from momagames.datasets.playing import play_shard
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import play_policies
from momagames.errors import InvalidParameter
from tests.datasets.small import BREAKTHROUGH, GREEDY, RADIO, SAMEGAME, part, recipe

pytest.importorskip("pyarrow")

OPTIONS = {
    "divisions": 1, "epochs": 12, "batch_size": 64, "learning_rate": 0.01, "channels": 8, "hidden": 32, "layers": 1,
    "greedy": True,
}  # fmt: skip


def make_game(choice):
    return registry.spec(choice["id"], **choice["params"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    parts = [part("medium", SAMEGAME, [GREEDY], 300), part("medium", BREAKTHROUGH, [GREEDY], 6)]
    return datasets.make(recipe(*parts, shard_episodes=100), tmp_path_factory.mktemp("data") / "x").folder


def evaluate(game, policies):
    """Mean returns float64[n, K] of policies in equal start positions."""
    starts = generate_starts(game, np.arange(100, dtype=np.uint64))
    words = np.ones((100, 1), np.uint64)
    zeros = np.zeros((100, 1), np.int64)
    return np.array([play_policies(game, starts, [one], zeros, words).returns[:, 0].mean(axis=0) for one in policies])


def test_methods_have_names():
    assert method("behavior_cloning") is BehaviorCloning
    assert method("return_conditioned") is ReturnConditioned


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tier": "expret"}, "tier='expret': expected 'medium'"),
        ({"epochs": 0}, "epochs"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"divisions": 2000}, "policies"),
    ],
)
def test_options_are_checked(folder, changes, message):
    with pytest.raises(InvalidParameter, match=message):
        BehaviorCloning(**{**OPTIONS, "data": str(folder), "tier": "medium", **changes}).check_train(make_game(SAMEGAME))


def test_data_of_another_game_are_refused(folder):
    with pytest.raises(InvalidParameter, match=r"no data of mo-samegame-v0\(board_width=15"):
        BehaviorCloning(**OPTIONS, data=str(folder), tier="medium").check_train(registry.spec("mo-samegame-v0"))


def test_conditions_are_preferences_or_returns():
    loaded = datasets.load_recipe(recipe(part("mixed", SAMEGAME, [{"name": "random", "options": {}}, GREEDY])))
    shards = [play_shard(loaded, 0, shard) for shard in range(3)]
    preferences = np.array([[np.nan, np.nan], [1, 0], [0, 1]], np.float32)
    weights = WeightConditions([(shard, preferences) for shard in shards])
    wanted = np.array([[0.5, 0.5], [1, 0], [0, 1]])[shards[1].policies]
    assert np.array_equal(weights.find(1), wanted)
    assert weights.choose(np.array([0.3, 0.7])).tolist() == [0.3, 0.7]
    returns = ReturnConditions(shards)
    found = np.concatenate([returns.find(i) for i in range(3)]).reshape(-1, 2)
    assert np.allclose(found.mean(axis=0), 0, atol=1e-6)
    assert np.allclose(found.std(axis=0), 1, atol=1e-6)
    first, second = returns.choose(np.array([1.0, 0.0])), returns.choose(np.array([0.0, 1.0]))
    assert first[0] > second[0]
    assert second[1] > first[1]


@pytest.mark.long
@pytest.mark.parametrize("kind", [BehaviorCloning, ReturnConditioned])
def test_clones_follow_their_condition(folder, kind):
    """The two policies differ like those of the data or, conditioned on returns, like the best episodes of the data.

    Equal seeds give equal networks.
    """
    pytest.importorskip("torch")
    game, learner = make_game(SAMEGAME), kind(**OPTIONS, data=str(folder), tier="medium")
    setup = TrainingSetup([game], 10**6, 3)
    result = learner.train(setup)
    assert result.info["episodes"] == 300
    assert result.steps == sum(one.steps for one in datasets.open_dataset(folder).select_shards(game=game.id))
    assert [one.weights for one in result.policies] == [(1.0, 0.0), (0.0, 1.0)]
    values = evaluate(game, result.policies)
    episodes = list(datasets.open_dataset(folder).episodes(game=game.id))
    returns = np.array([one.returns[0] for one in episodes])
    if kind is BehaviorCloning:  # greedy for one color may end with less of it
        weights = np.array([one.preferences[0, 0] for one in episodes])
        wanted = np.array([returns[weights == 1].mean(axis=0), returns[weights == 0].mean(axis=0)])
    else:
        wanted = np.array([returns[np.argsort(-returns[:, k])[:30]].mean(axis=0) for k in range(2)])
    assert (np.sign(values[0] - values[1]) == np.sign(wanted[0] - wanted[1])).all(), (values, wanted)
    restored = [learner.restore(game, one.label, one.arrays) for one in result.policies]
    assert [one.weights for one in restored] == [one.weights for one in result.policies]
    assert np.array_equal(evaluate(game, restored), values)
    again = learner.train(setup)
    for one, other in zip(result.policies, again.policies, strict=True):
        assert all(np.array_equal(one.arrays[name], other.arrays[name]) for name in one.arrays)
    with pytest.raises(InvalidParameter, match="no preference"):
        learner.restore(game, "x", {name: array for name, array in restored[0].arrays.items() if name != "preference"})


@pytest.mark.long
def test_the_budget_limits_the_data(folder):
    pytest.importorskip("torch")
    options = {**OPTIONS, "epochs": 1}
    result = BehaviorCloning(**options, data=str(folder), tier="medium").train(TrainingSetup([make_game(SAMEGAME)], 200, 0))
    assert 0 < result.steps <= 200
    assert result.info["episodes"] < 100


@pytest.mark.long
@pytest.mark.parametrize("choice", [BREAKTHROUGH, RADIO])
def test_games_of_several_agents_are_cloned(tmp_path, choice):
    """Observations for boards, egocentric views and actions of several parts where the game has them; a recipe as data."""
    pytest.importorskip("torch")
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(recipe(part("random", choice, episodes=2))))
    options = {**OPTIONS, "epochs": 1}
    result = ReturnConditioned(**options, data=str(path), tier="random").train(TrainingSetup([make_game(choice)], 10**6, 0))
    assert result.info["episodes"] == 2
    assert np.isfinite(result.info["loss"])
