"""The competition's environment as a Gymnasium id."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import momagames
from momagames.errors import InvalidLevel

pytestmark = pytest.mark.compiled

ID = "momagames/tap-to-blast-v0"


def play(env, game, seed):
    """Play both side by side; compare all that they return, and return the sum of the rewards and the last infos."""
    board, infos = env.reset(seed=seed)
    game.reset(seed=seed)
    rng, total, over = np.random.default_rng(seed), 0.0, False
    while not over:
        valid = np.flatnonzero(infos["action_mask"])
        action = int(rng.choice(valid)) if rng.random() < 0.7 else int(rng.integers(117))
        board, reward, terminated, truncated, infos = env.step(action)
        expected = game.step(action)
        assert board.dtype == np.float32
        assert np.array_equal(board, expected[0])
        assert reward == pytest.approx(expected[1] @ np.array([1, 5, 0.1, 0.5, 0, 0]))
        assert (terminated, truncated) == expected[2:4]
        total += reward
        over = terminated or truncated
    return total, infos


def test_rewards_and_infos_are_those_of_the_competition():
    env = gymnasium.make(ID)
    game = momagames.make("mo-tileblast-v0", api="gymnasium", strict_moves=False)
    total, infos = play(env, game, 3)
    assert infos["goal_reached"]
    assert infos["new_progress"] == 30  # both goals of level 1
    invalid = infos["total_steps"] - infos["valid_steps"]
    assert invalid > 0
    assert total == pytest.approx(30 + 5 - 0.1 * infos["total_steps"] - 0.5 * invalid)
    assert infos["successful_click"] is True


def test_a_level_is_set_for_the_next_episode():
    env = gymnasium.make(ID, level=2, max_taps=9)
    first, _ = env.reset(seed=1)
    env.unwrapped.set_level(4)
    assert np.array_equal(first, env.unwrapped._env.episode.observe(0)["observation"])
    _, infos = env.reset(seed=1)
    assert infos["goals_remaining"] == [14]
    for _ in range(9):
        _, _, _, truncated, infos = env.step(0)
    assert truncated
    assert infos["total_steps"] == 9
    with pytest.raises(InvalidLevel):
        env.unwrapped.set_level(99)


def test_gymnasium_accepts_it():
    check_env(gymnasium.make(ID, render_mode="rgb_array").unwrapped)
