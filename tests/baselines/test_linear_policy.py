"""Linear policies: features, play in every game, and independence of the random events to come."""

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy
from momagames.baselines.evolution.linear_policy import LinearPolicy, supports_lookahead
from momagames.baselines.evolution.population_eval import PopulationEvaluator
from momagames.baselines.random import RANDOM_POLICY
from momagames.baselines.training_setup import TrainingSetup
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies, play_policies
from momagames.errors import InvalidParameter
from tests.test_every_game import every_game

pytestmark = pytest.mark.long  # kernels of methods in several games

SAME = {"board_width": 5, "board_height": 4, "num_colors": 3}


def random_policy(game, seed=0, shared=True):
    rows = [0] * len(game.agents) if shared else range(len(game.agents))
    policy = LinearPolicy(game, rows)
    return policy, np.random.default_rng(seed).normal(size=(policy.num_rows, policy.row_size))


def make_starts(game, count, seed=0):
    return generate_starts(game, np.arange(seed, seed + count, dtype=np.uint64))


def naive_features(game, views):
    """The features of one observation, by NumPy and the names of axes alone."""
    features = []
    for field in game.fields:
        array = np.asarray(views[field.name], np.float64)
        in_memory = array.transpose(field.order or range(array.ndim))
        if array.ndim < 2:
            features += in_memory.ravel().tolist()
            continue
        for board in in_memory.reshape(-1, *in_memory.shape[-2:]):
            rows, columns = (np.linspace(-1, 1, n) if n > 1 else np.zeros(1) for n in board.shape)
            features += [board.mean(), (board * rows[:, None]).mean(), (board * columns).mean()]
    return features


@every_game
def test_features_are_means_and_moments(game):
    batch = Batch(game, 3, autoreset="disabled", views="all")
    batch.seed(1)
    batch.reset()
    words = np.arange(3, dtype=np.uint64)
    for _ in range(6):
        batch.step(batch.sample_actions(words))
    features = LinearPolicy(game, [0] * len(game.agents)).compute_features(batch.states)
    for env in range(3):
        for agent in range(len(game.agents)):
            views = game.observation_views(batch.observations[env, agent])
            assert np.allclose(features[env, agent], naive_features(game, views))


@every_game
def test_episodes_do_not_depend_on_the_batch(game):
    policy, parameters = random_policy(game, shared=False)
    states = make_starts(game, 3)
    words = np.arange(3 * len(game.agents), dtype=np.uint64).reshape(3, -1)
    seats = np.zeros((3, len(game.agents)), np.int64)
    whole = play_policies(game, states, [policy.compile("", parameters)], seats, words)
    assert (whole.states["over"] == 1).all()
    assert (whole.steps > whole.lengths).all() == supports_lookahead(game)
    alone = play_policies(game, states[1:2], [policy.compile("", parameters)], seats[1:2], words[1:2])
    assert alone.returns[0].tobytes() == whole.returns[1].tobytes()
    assert alone.steps[0] == whole.steps[1]


def test_memory_per_environment_equals_separate_policies():
    game = momagames.spec("mo-samegame-v0", **SAME)
    policy, _ = random_policy(game)
    parameters = np.random.default_rng(3).normal(size=(4, 1, policy.row_size))
    states, words = make_starts(game, 4), np.arange(4, dtype=np.uint64)[:, None]
    batch = Batch(game, 4, autoreset="disabled")
    batch.load(states)
    players = SeatedPolicies(batch, [policy.compile()], [0], words, policy.initial_memories(parameters))
    while not batch.states["over"].all():
        batch.step(players.act())
    kernels = [policy.compile("", one) for one in parameters]
    separate = play_policies(game, states, kernels, np.arange(4)[:, None], words)
    assert batch.returns.tobytes() == separate.returns.tobytes()
    assert len(np.unique(batch.returns[:, 0], axis=0)) > 1


def test_a_budget_pays_for_no_look_ahead_of_opponents():
    """Each move of the opponent tries a thousand steps, far more than all others make."""
    game = momagames.spec("mo-breakthrough-v0", board_width=3, board_height=5)
    policy, parameters = random_policy(game)
    setup = TrainingSetup([game], 10_000, opponents=[batch_policy("uct", game, simulations=1000, horizon=1)])
    evaluator = PopulationEvaluator(policy, setup, 2, setup.budget, np.random.default_rng(0))
    assert evaluator.evaluate(parameters[None]) is not None
    assert 20 < evaluator.used < 1000


def test_takes_the_winning_move_for_the_weight_of_winning():
    game = momagames.spec("mo-breakthrough-v0", board_width=5, board_height=5)
    policy, parameters = random_policy(game)
    parameters[:] = 0
    parameters[0, 0] = 1.0  # winning
    states = game.make_state()
    game.codec.load(states[0], states_near_a_win(game))
    batch = Batch(game, 20, autoreset="disabled")
    batch.load(states.repeat(20))
    batch.step(SeatedPolicies(batch, [policy.compile("", parameters), RANDOM_POLICY], [0, 1], 5).act())
    assert (batch.states["over"] == 1).all()


def states_near_a_win(game):
    """A position in which the agent to move can win, found by random play."""
    batch = Batch(game, 1, autoreset="next_step")
    batch.seed(7)
    batch.reset()
    words = np.arange(1, dtype=np.uint64)
    while True:
        before = batch.states.copy()
        batch.step(batch.sample_actions(words))
        if batch.finished[0] and before["to_move"][0] == 0 and batch.rewards[0, 0, 0] > 0:
            return game.codec.save(before[0])


def test_actions_do_not_depend_on_random_events_to_come():
    game = momagames.spec("mo-tileblast-v0", level=4, max_taps=30)
    assert game.chance == "step"
    policy, parameters = random_policy(game)
    states = make_starts(game, 1).repeat(16)
    states["rng"] = np.arange(1000, 1016, dtype=np.uint64)
    batch = Batch(game, 16, autoreset="disabled")
    batch.load(states)
    actions = SeatedPolicies(batch, [policy.compile("", parameters)], [0], np.full((16, 1), 9, np.uint64)).act().copy()
    assert len(np.unique(actions)) == 1
    other = SeatedPolicies(batch, [policy.compile("", parameters)], [0], np.arange(16, dtype=np.uint64)[:, None]).act()
    assert len(np.unique(other)) > 1  # ties are broken by its own random seed


def test_scale_is_positive_and_reproducible():
    for id, params in (("mo-samegame-v0", SAME), ("mo-pommerman-ffa-v0", {"board_size": 7, "max_steps": 30, "num_items": 8,
                                                                        "num_wood": 8, "num_rigid": 4})):  # fmt: skip
        game = momagames.spec(id, **params)
        policy, _ = random_policy(game)
        scale, steps = policy.estimate_scale(3, 640)
        again, _ = policy.estimate_scale(3, 640)
        assert scale.shape == (policy.row_size,)
        assert (scale > 0).all()
        assert steps == 640
        assert scale.tobytes() == again.tobytes()
        assert scale.tobytes() != policy.estimate_scale(4, 640)[0].tobytes()


def test_rejects_invalid_rows():
    game = momagames.spec("mo-breakthrough-v0")
    with pytest.raises(InvalidParameter, match=r"expected 2 numbers, 0 or more"):
        LinearPolicy(game, [0])
    with pytest.raises(InvalidParameter, match=r"has 11000 parameters: expected at most 8192"):
        LinearPolicy(game, [0, 999])
