"""Scalar environments by id: `weights` and `utility` in every way to make one."""

import gymnasium
import numpy as np
import pettingzoo
import pytest

import momagames
from momagames.errors import InvalidParameter
from momagames.wrappers import Scalarize

SMALL = {"board_width": 4, "board_height": 5}
WEIGHTS = {"win": 1, "captures": 0.5}


def play(env, steps=12):
    """Return the rewards of the first legal actions."""
    _, info = env.reset(seed=3)
    rewards = []
    for _ in range(steps):
        _, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        rewards.append(reward)
        if terminated or truncated:
            break
    return rewards


def test_one_agent():
    options = {**SMALL, "others": "random"}
    expected = play(Scalarize(momagames.make("mo-breakthrough-v0", "gymnasium", **options), [1, 0, 0.5, 0]))
    assert any(expected)
    env = gymnasium.make("momagames/mo-breakthrough-v0", weights=WEIGHTS, **options)
    for made in (momagames.make("mo-breakthrough-v0", "gymnasium", weights=WEIGHTS, **options), env, gymnasium.make(env.spec)):
        rewards = play(made)
        assert all(isinstance(reward, float) for reward in rewards)
        assert rewards == expected


def test_batches():
    made = [
        momagames.make_vec("mo-breakthrough-v0", 3, weights=WEIGHTS, **SMALL),
        gymnasium.make_vec("momagames/mo-breakthrough-v0", 3, weights=WEIGHTS, **SMALL),
    ]
    for envs in made:
        envs.reset(seed=1)
        assert envs.step(envs.unwrapped.sample_actions())[1].shape == (3, 2)
    sync = gymnasium.make_vec(
        "momagames/mo-samegame-v0", 3, vectorization_mode="sync", utility=min_of, illegal="next", board_width=4, board_height=4
    )
    sync.reset(seed=1)
    assert sync.step(np.zeros(3, np.int64))[1].dtype == np.float64


def min_of(reward):
    return float(reward.min())


@pytest.mark.parametrize("api", ["aec", "parallel"])
def test_pettingzoo(api):
    made = [momagames.make("mo-breakthrough-v0", api, weights=WEIGHTS, **SMALL)]
    if hasattr(pettingzoo, "make"):
        made.append(pettingzoo.make(api, "momagames/mo-breakthrough-v0", weights=WEIGHTS, **SMALL))
    for env in made:
        env.reset(seed=1)
        assert env.reward_space("player_0").shape == ()


def test_wrong_weights_are_said_before_anything_is_made():
    for make in (momagames.make, lambda id, **options: gymnasium.make(f"momagames/{id}", **options)):
        with pytest.raises(InvalidParameter, match="did you mean 'win'"):
            make("mo-breakthrough-v0", weights={"wins": 1})


def test_a_learner_without_masks_or_vectors_runs_by_id():
    """Stable-Baselines3's PPO with an MLP, on flat observations."""
    stable = pytest.importorskip("stable_baselines3")
    options = {"board_width": 4, "board_height": 4, "num_colors": 3, "illegal": "next"}
    env = gymnasium.make("momagames/mo-samegame-v0", weights=[1, 1, 1], **options)
    stable.PPO("MlpPolicy", momagames.wrappers.Flatten(env, mask=None), n_steps=32, batch_size=32, device="cpu").learn(64)
