"""Stable-Baselines3 on the batch: equal to its own loop over single environments, and its learners run."""

import warnings

import numpy as np
import pytest

import momagames
from momagames.errors import InvalidParameter

pytestmark = pytest.mark.long
SMALL = {"board_width": 4, "board_height": 4, "num_colors": 2}


@pytest.fixture(scope="module")
def sb3():
    pytest.importorskip("stable_baselines3")
    return pytest.importorskip("momagames.integrations.sb3")


def choose(rng, masks):
    return (rng.random(masks.shape) * masks).argmax(axis=1)


@pytest.mark.parametrize(("id", "weights", "params"), [("mo-samegame-v0", [1, 2], SMALL), ("mo-gemwalk-v0", {"rubies": 1}, {})])
def test_steps_are_those_of_single_environments(sb3, id, weights, params):
    from stable_baselines3.common.vec_env import DummyVecEnv

    batch = sb3.BatchVecEnv(id, 3, weights, **params)
    single = DummyVecEnv([lambda: momagames.make(id, api="gymnasium", weights=weights, **params)] * 3)
    assert batch.observation_space == single.observation_space
    assert batch.action_space == single.action_space
    batch.seed(5), single.seed(5)
    np.testing.assert_array_equal(batch.reset(), single.reset())
    rng, ends, returns = np.random.default_rng(0), 0, np.zeros(3)
    for _ in range(60):
        masks = np.stack(batch.env_method("action_masks"))
        np.testing.assert_array_equal(masks, np.stack(single.env_method("action_masks")))
        actions = choose(rng, masks)
        *ours, infos = batch.step(actions)
        *others, expected = single.step(actions)
        for one, other in zip(ours, others, strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        returns += ours[1]
        for i, (info, other) in enumerate(zip(infos, expected, strict=True)):
            np.testing.assert_array_equal(info["vector_reward"], other["vector_reward"])
            assert ("terminal_observation" in info) == ("terminal_observation" in other) == ours[2][i]
            if ours[2][i]:
                np.testing.assert_array_equal(info["terminal_observation"], other["terminal_observation"])
                assert info["TimeLimit.truncated"] == other["TimeLimit.truncated"]
                assert info["episode"]["r"] == pytest.approx(returns[i])
                returns[i], ends = 0, ends + 1
    assert ends > 3


def test_arrays_of_earlier_steps_do_not_change(sb3):
    batch = sb3.BatchVecEnv("mo-samegame-v0", 2, [1, 2], **SMALL)
    rng, first = np.random.default_rng(0), batch.reset()
    copy = first.copy()
    infos = [batch.step(choose(rng, batch.action_masks()))[3] for _ in range(20)]
    np.testing.assert_array_equal(first, copy)
    ends = [info for listed in infos for info in listed if "episode" in info]
    for info in ends:
        assert info["final_return"] @ [1, 2] == pytest.approx(info["episode"]["r"])


def test_agents_that_act_together_have_places_until_the_episode_ends(sb3):
    batch = sb3.BatchVecEnv("mo-pommerman-ffa-v0", 2, {"outcome": 1}, max_steps=30, dead="leave")
    assert batch.num_envs == 8
    batch.seed(0), batch.reset()
    rng, ends = np.random.default_rng(0), []
    for _ in range(100):
        observations, rewards, done, infos = batch.step(choose(rng, batch.action_masks()))
        assert observations["board"].shape[0] == rewards.shape[0] == 8
        for place in range(4):
            np.testing.assert_array_equal(done[::4], done[place::4])  # all agents of an environment
        ends += [infos[i] for i in np.flatnonzero(done)]
    assert {info["TimeLimit.truncated"] for info in ends} == {True, False}
    assert all(info["episode"]["r"] == info["final_return"][0] for info in ends)


def test_seeds_and_options_serve_one_reset(sb3):
    batch = sb3.BatchVecEnv("mo-samegame-v0", 2, [1, 2], **SMALL)
    batch.seed(3)
    first, second = batch.reset(), batch.reset()
    assert (first != second).any()
    batch.seed(3)
    np.testing.assert_array_equal(batch.reset(), first)
    board = [[1, 1, 2, 2]] * 4
    batch.set_options({"board": board})
    np.testing.assert_array_equal(batch.reset()[0, :, :, 0], np.equal(board, 1))
    batch.set_options([{"board": board}, {}])
    with pytest.raises(InvalidParameter, match="equal ones for all environments"):
        batch.reset()


def test_turns_of_several_agents_are_rejected(sb3):
    with pytest.raises(InvalidParameter, match=r"invalid id='mo-breakthrough-v0': .*api='gymnasium'"):
        sb3.BatchVecEnv("mo-breakthrough-v0", 2, [1, 0, 0, 0])
    with pytest.raises(InvalidParameter, match="needs weights"):
        sb3.BatchVecEnv("mo-samegame-v0", 2, **SMALL)


@pytest.mark.parametrize(
    ("id", "weights", "params"), [("mo-samegame-v0", [1, 2], SMALL), ("mo-pommerman-radio-v0", {"outcome": 1}, {})]
)
def test_masked_learner_trains(sb3, id, weights, params):
    """Actions of several parts too: an illegal action would raise."""
    contrib = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.evaluation import evaluate_policy

    batch = sb3.BatchVecEnv(id, 2, weights, **params)
    policy = "MlpPolicy" if id == "mo-samegame-v0" else "MultiInputPolicy"
    model = contrib.MaskablePPO(policy, batch, n_steps=32, batch_size=32, n_epochs=1, seed=0).learn(256)
    if id == "mo-samegame-v0":
        assert len(model.ep_info_buffer) > 10
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # it warns of environments without statistics
            mean, _ = evaluate_policy(model, batch, n_eval_episodes=4)
        assert mean > 0


def test_learners_without_masks_train(sb3):
    from stable_baselines3 import DQN, PPO
    from stable_baselines3.common.vec_env import VecNormalize

    batch = sb3.BatchVecEnv("mo-samegame-v0", 2, [1, 2], illegal="next", **SMALL)
    PPO("MlpPolicy", VecNormalize(batch), n_steps=32, batch_size=32, n_epochs=1, seed=0).learn(128)
    DQN("MlpPolicy", batch, learning_starts=20, seed=0).learn(64)
