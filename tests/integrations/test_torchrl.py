"""TorchRL on the batch: specs, equal steps, groups, and resets of some environments."""

import copy

import numpy as np
import pytest

import momagames
from momagames.errors import InvalidParameter

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]
SMALL = {"board_width": 4, "board_height": 4, "num_colors": 2}
DUEL = "mo-pommerman-duel-v0"


@pytest.fixture(scope="module")
def torchrl():
    pytest.importorskip("torchrl")
    return pytest.importorskip("momagames.integrations.torchrl")


@pytest.mark.parametrize(
    ("id", "options"),
    [
        ("mo-samegame-v0", {}),
        ("mo-samegame-v0", {"weights": [1, 2, 0, 0, 0], "flatten": False}),
        ("mo-breakthrough-v0", {"weights": {"win": 1}}),
        ("mo-pommerman-radio-v0", {}),
        ("mo-pommerman-ffa-v0", {"flatten": False}),
        ("mo-robotmail-4-v0", {"group_map": {"first": ["robot_0", "robot_1"], "second": ["robot_3", "robot_2"]}}),
        ("mo-gemwalk-v0", {"group_map": {"all": ["agent_0"]}}),
    ],
)
def test_specs(torchrl, id, options):
    from torchrl.envs.utils import check_env_specs

    env = torchrl.BatchEnv(id, 3, **options)
    env.set_seed(0)
    check_env_specs(env)
    env.rollout(150, break_when_any_done=False)  # an illegal action would raise


def test_steps_are_those_of_the_batch(torchrl):
    env = torchrl.BatchEnv("mo-samegame-v0", 4, **SMALL)
    env.set_seed(3)
    played = env.rollout(50, break_when_any_done=False)
    batch = momagames.make_vec("mo-samegame-v0", 4, autoreset="same_step", **SMALL)
    observations, infos = batch.reset(seed=3)
    for t in range(50):
        np.testing.assert_array_equal(played["observation"][:, t].numpy(), observations.reshape(4, -1))
        np.testing.assert_array_equal(played["action_mask"][:, t].numpy(), infos["action_mask"] != 0)
        observations, rewards, terminated, _, infos = batch.step(played["action"][:, t].numpy())
        np.testing.assert_array_equal(played["next", "reward"][:, t].numpy(), rewards)
        np.testing.assert_array_equal(played["next", "terminated"][:, t, 0].numpy(), terminated)
    assert played["next", "done"].sum() > 3


def test_agents_leave_a_group_before_the_end(torchrl):
    env = torchrl.BatchEnv("mo-pommerman-ffa-v0", 3, dead="leave")
    env.set_seed(0)
    assert env.group_map == {"agent": ["agent_0", "agent_1", "agent_2", "agent_3"]}
    played = env.rollout(100, break_when_any_done=False)
    ended, over = played["next", "agent", "done"][..., 0], played["next", "done"]
    np.testing.assert_array_equal(ended.all(-1), over[..., 0])
    assert (ended.any(-1) & ~over[..., 0]).any()
    gone = played["agent", "done"][..., 0]
    masks = played["agent", "action_mask"]
    assert (masks[gone].sum(-1) == 1).all()
    assert masks[gone][:, 0].all()


def test_only_the_agent_to_move_has_a_choice(torchrl):
    env = torchrl.BatchEnv("mo-breakthrough-v0", 2, board_width=3, board_height=5)
    played = env.rollout(40, break_when_any_done=False)
    choices = played["player", "action_mask"].sum(-1)
    assert ((choices > 1).sum(-1) <= 1).all()
    wins = played["next", "player", "reward"][..., 0]
    np.testing.assert_array_equal(wins.sum(-1), 0)
    np.testing.assert_array_equal(wins.abs().amax(-1), played["next", "done"][..., 0])


def test_scalar_rewards_are_weighted_sums(torchrl):
    vectors, scalars = (torchrl.BatchEnv(DUEL, 2, weights, max_steps=20) for weights in (None, [1, 2, 3, 4]))
    vectors.set_seed(1), scalars.set_seed(1)
    played = vectors.rollout(20)
    repeated = scalars.rollout(20, policy=replay(played, ("agent", "action")))
    np.testing.assert_allclose(
        (played["next", "agent", "reward"].numpy() @ [1, 2, 3, 4]), repeated["next", "agent", "reward"][..., 0], rtol=1e-6
    )
    scalars.set_weights([0, 0, 0, 0])
    assert not scalars.rollout(20)["next", "agent", "reward"].any()


def replay(played, key):
    """Return a policy that repeats the actions of a rollout."""
    steps = iter(range(played.shape[1]))
    return lambda data: data.set(key, played[key][:, next(steps)])


def test_truncation_is_no_termination(torchrl):
    env = torchrl.BatchEnv(DUEL, 4, max_steps=3)
    last = env.rollout(3)[:, -1]["next"]
    assert last["done"].all()
    assert last["truncated"].all()
    assert not last["terminated"].any()


@pytest.mark.parametrize("group_map", [{"all": ["player_0"]}, {"all": ["player_0", "player_1", "player_2"]}])
def test_groups_have_every_agent_once(torchrl, group_map):
    with pytest.raises(InvalidParameter, match=r"invalid group_map=.*: expected groups of player_0, player_1"):
        torchrl.BatchEnv("mo-breakthrough-v0", 2, group_map=group_map)


def test_gym_wrapper_takes_the_batch(torchrl, monkeypatch):
    """Through the ends of episodes; it writes to the arrays that it gets, hence copy=True."""
    from torchrl.envs import GymWrapper

    envs = momagames.make_vec("mo-samegame-v0", 3, autoreset="same_step", copy=True, illegal="next", **SMALL)
    env, step, results = GymWrapper(envs), envs.step, []
    monkeypatch.setattr(envs, "step", lambda actions: results.append(step(actions)) or copy.deepcopy(results[-1]))
    played = env.rollout(60, break_when_any_done=False)
    assert played["next", "reward"].shape == (3, 60, 2)
    assert played["next", "done"].sum() > 9
    for t, (observations, rewards, terminated, _, infos) in enumerate(results):
        last = played["next", "observation"][:, t].numpy()
        np.testing.assert_array_equal(played["next", "reward"][:, t], rewards)
        np.testing.assert_array_equal(played["next", "done"][:, t, 0], terminated)
        np.testing.assert_array_equal(last[~terminated], observations[~terminated])
        np.testing.assert_array_equal(last[terminated], infos.get("final_obs", observations)[terminated])
        if t < 59 and not terminated.all():  # where all end at once TorchRL resets them again
            np.testing.assert_array_equal(played["observation"][:, t + 1], observations)
            np.testing.assert_array_equal(played["action_mask"][:, t + 1], infos["action_mask"])
