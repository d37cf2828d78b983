"""Scalar environments by id: `weights` and `utility` in every way to make one."""

import importlib

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test

import momagames.envs
from momagames import registry
from momagames.adapters.hosts import format_scalar_id
from momagames.environments import make_scalar
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


# ------------------------------------------------------------------------------------------------- the scalar form by id


def list_scalar_ids():
    return [(id, format_scalar_id(f"momagames/{id}")) for id in registry.ids()]


@pytest.mark.parametrize(("id", "name"), list_scalar_ids())
@pytest.mark.filterwarnings("error")
def test_every_id_has_a_scalar_form(id, name):
    env = gymnasium.make(f"momagames:{name}")  # as learners that take an id import it; Gymnasium checks it
    observation, info = env.reset(seed=0)
    assert isinstance(env.observation_space, gymnasium.spaces.Box)
    assert observation.dtype == np.float32
    assert observation in env.observation_space
    assert info["action_mask"].dtype == np.int8
    for _ in range(5):
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())  # legal or not
        assert isinstance(reward, float)
        if terminated or truncated:
            break
    assert set(info) >= {"action_mask"}
    assert all(isinstance(value, (int, float, np.ndarray, np.number)) for value in info.values())


def test_objectives_of_the_scalar_form_weigh_the_same():
    options = {**SMALL, "others": "random"}
    equal = play(momagames.make("mo-breakthrough-v0", "gymnasium", weights=[0.25] * 4, **options))
    assert play(gymnasium.make("momagames/mo-breakthrough-scalar-v0", **options)) == equal
    chosen = play(momagames.make("mo-breakthrough-v0", "gymnasium", weights=WEIGHTS, **options))
    assert play(gymnasium.make("momagames/mo-breakthrough-scalar-v0", weights=WEIGHTS, **options)) == chosen != equal


@pytest.mark.parametrize("api", ["aec", "parallel"])
def test_scalar_form_in_pettingzoo(api):
    env = pettingzoo.make(api, "momagames/mo-pommerman-duel-scalar-v0", weights={"outcome": 1})
    env.reset(seed=0)
    spaces = [env.observation_space(agent) for agent in env.possible_agents]
    assert {(space["observation"] if api == "aec" else space).dtype for space in spaces} == {np.dtype(np.float32)}
    if api == "parallel":
        parallel_api_test(env, num_cycles=50)
        observations, infos = env.reset(seed=0)
        assert all(infos[agent]["action_mask"].sum() for agent in env.agents)
        assert all(observations[agent] in env.observation_space(agent) for agent in env.agents)
    else:
        api_test(env, num_cycles=50)


def test_scalar_form_as_a_module():
    """For clients that name a module with `parallel_env`, and for PettingZoo without a registry."""
    module = importlib.import_module("momagames.envs.mo_pommerman_duel_scalar_v0")
    options = {"weights": {"outcome": 1}}
    env, expected = module.parallel_env(**options), make_scalar("mo-pommerman-duel-v0", "parallel", **options)
    np.testing.assert_equal(env.reset(seed=0), expected.reset(seed=0))
    actions = dict.fromkeys(expected.agents, 1)
    np.testing.assert_equal(env.step(actions), expected.step(actions))
    assert isinstance(module.env(), pettingzoo.AECEnv)
    assert set(momagames.envs.__all__) >= {format_scalar_id(id).replace("-", "_") for id in registry.ids()}


def test_place_of_the_mask_in_the_scalar_form():
    env = gymnasium.make("momagames/mo-samegame-scalar-v0", mask=None)
    observation, info = env.reset(seed=0)
    assert observation in env.observation_space
    assert "action_mask" not in info
    env = gymnasium.make("momagames/mo-samegame-scalar-v0", mask="observation")
    assert set(env.reset(seed=0)[0]) == {"observation", "action_mask"}
    _, infos = make_scalar("mo-pommerman-duel-v0", "parallel", mask=None).reset(seed=0)
    assert not any("action_mask" in info for info in infos.values())
    with pytest.raises(InvalidParameter, match="mask='infos': expected 'observation', 'info' or None"):
        make_scalar("mo-samegame-v0", mask="infos")


def test_batches_of_the_scalar_form_by_id():
    envs = gymnasium.make_vec("momagames/mo-samegame-scalar-v0", 3, vectorization_mode="sync")
    envs.reset(seed=1)
    observations, rewards, *_ = envs.step(np.zeros(3, np.int64))
    assert (observations.dtype, rewards.dtype) == (np.float32, np.float64)
