"""Linear policies: what they see, that they play every game alike, and that they know nothing of luck to come."""

import numpy as np
import pytest

import momagames
from momagames.baselines.linear_policy import LinearPolicy, is_ahead
from momagames.baselines.players import Players, play_kernels
from momagames.baselines.random import RANDOM_KERNEL
from momagames.baselines.rollouts import deal
from momagames.engine.batch import Batch
from momagames.errors import InvalidParameter
from tests.test_every_game import every_game

SAME = {"board_width": 5, "board_height": 4, "num_colors": 3}


def drawn(game, seed=0, shared=True):
    rows = [0] * len(game.agents) if shared else range(len(game.agents))
    policy = LinearPolicy(game, rows)
    return policy, np.random.default_rng(seed).normal(size=(policy.minds, policy.size))


def started(game, count, seed=0):
    return deal(game, np.arange(seed, seed + count, dtype=np.uint64))


def plain(game, views):
    """What a policy sees of one observation, by NumPy and the names of axes alone."""
    found = []
    for field in game.fields:
        array = np.asarray(views[field.name], np.float64)
        inside = array.transpose(field.order or range(array.ndim))
        if array.ndim < 2:
            found += inside.ravel().tolist()
            continue
        for board in inside.reshape(-1, *inside.shape[-2:]):
            down, right = (np.linspace(-1, 1, n) if n > 1 else np.zeros(1) for n in board.shape)
            found += [board.mean(), (board * down[:, None]).mean(), (board * right).mean()]
    return found


@every_game
def test_it_sees_means_and_moments_of_the_observation(game):
    batch = Batch(game, 3, autoreset="disabled", views="all")
    batch.seed(1)
    batch.reset()
    words = np.arange(3, dtype=np.uint64)
    for _ in range(6):
        batch.step(batch.choose(words))
    seen = LinearPolicy(game, [0] * len(game.agents)).seen(batch.states)
    for env in range(3):
        for agent in range(len(game.agents)):
            assert np.allclose(seen[env, agent], plain(game, game.observation_views(batch.observations[env, agent])))


@every_game
def test_it_plays_every_game_to_the_end_whatever_stands_beside_it(game):
    policy, numbers = drawn(game, shared=False)
    states = started(game, 3)
    words = np.arange(3 * len(game.agents), dtype=np.uint64).reshape(3, -1)
    seats = np.zeros((3, len(game.agents)), np.int64)
    whole = play_kernels(game, states, [policy.kernel(numbers)], seats, words)
    assert (whole.states["over"] == 1).all()
    assert (whole.steps > whole.lengths).all() == is_ahead(game)
    alone = play_kernels(game, states[1:2], [policy.kernel(numbers)], seats[1:2], words[1:2])
    assert alone.returns[0].tobytes() == whole.returns[1].tobytes()
    assert alone.steps[0] == whole.steps[1]


def test_memories_given_for_each_game_play_like_policies_of_their_own():
    game = momagames.spec("mo-samegame-v0", **SAME)
    policy, _ = drawn(game)
    numbers = np.random.default_rng(3).normal(size=(4, 1, policy.size))
    states, words = started(game, 4), np.arange(4, dtype=np.uint64)[:, None]
    batch = Batch(game, 4, autoreset="disabled")
    batch.load(states)
    players = Players(batch, [policy.kernel()], [0], words, policy.begun(numbers))
    while not batch.states["over"].all():
        batch.step(players.act())
    kernels = [policy.kernel(one) for one in numbers]
    apart = play_kernels(game, states, kernels, np.arange(4)[:, None], words)
    assert batch.returns.tobytes() == apart.returns.tobytes()
    assert len(np.unique(batch.returns[:, 0], axis=0)) > 1


def test_the_best_by_reward_is_what_it_takes():
    game = momagames.spec("mo-breakthrough-v0", board_width=5, board_height=5)
    policy, numbers = drawn(game)
    numbers[:] = 0
    numbers[0, 0] = 1.0  # winning
    states = game.start()
    game.codec.load(states[0], states_near_a_win(game))
    batch = Batch(game, 20, autoreset="disabled")
    batch.load(states.repeat(20))
    batch.step(Players(batch, [policy.kernel(numbers), RANDOM_KERNEL], [0, 1], 5).act())
    assert (batch.states["over"] == 1).all()


def states_near_a_win(game):
    """Somebody to move one step from the goal, found by random play."""
    batch = Batch(game, 1, autoreset="next_step")
    batch.seed(7)
    batch.reset()
    words = np.arange(1, dtype=np.uint64)
    while True:
        before = batch.states.copy()
        batch.step(batch.choose(words))
        if batch.finished[0] and before["to_move"][0] == 0 and batch.rewards[0, 0, 0] > 0:
            return game.codec.save(before[0])


def test_luck_to_come_does_not_change_what_it_does():
    game = momagames.spec("mo-tileblast-v0", level=4, max_taps=30)
    assert game.chance == "step"
    policy, numbers = drawn(game)
    states = started(game, 1).repeat(16)
    states["rng"] = np.arange(1000, 1016, dtype=np.uint64)
    batch = Batch(game, 16, autoreset="disabled")
    batch.load(states)
    actions = Players(batch, [policy.kernel(numbers)], [0], np.full((16, 1), 9, np.uint64)).act().copy()
    assert len(np.unique(actions)) == 1
    other = Players(batch, [policy.kernel(numbers)], [0], np.arange(16, dtype=np.uint64)[:, None]).act()
    assert len(np.unique(other)) > 1  # its own luck does


def test_numbers_come_to_one_scale():
    for id, params in (("mo-samegame-v0", SAME), ("mo-pommerman-ffa-v0", {"board_size": 7, "max_steps": 30, "num_items": 8,
                                                                        "num_wood": 8, "num_rigid": 4})):  # fmt: skip
        game = momagames.spec(id, **params)
        policy, _ = drawn(game)
        scale, steps = policy.scale(3, 640)
        again, _ = policy.scale(3, 640)
        assert scale.shape == (policy.size,)
        assert (scale > 0).all()
        assert steps == 640
        assert scale.tobytes() == again.tobytes()
        assert scale.tobytes() != policy.scale(4, 640)[0].tobytes()


def test_what_it_cannot_be():
    game = momagames.spec("mo-breakthrough-v0")
    with pytest.raises(InvalidParameter, match=r"expected 2 numbers, 0 or more"):
        LinearPolicy(game, [0])
    with pytest.raises(InvalidParameter, match=r"has 11000 numbers; allowed: at most 8192"):
        LinearPolicy(game, [0, 999])
