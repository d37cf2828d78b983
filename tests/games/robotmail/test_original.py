"""The interface of the original package: constructor, names, observations and return values."""

from importlib import resources

import numpy as np
import pytest

import momagames
from momagames.errors import InvalidLayout, InvalidParameter
from momagames.games.robotmail.original import OriginalEnv

pytestmark = pytest.mark.compiled

DATA = resources.files("momagames.games.robotmail.layouts").joinpath("data")
FILES = [str(DATA.joinpath(f"documented_{name}.csv")) for name in ("colors", "targets")]
WEIGHTS = np.array([5, 1, 1, 0.1])


def test_an_episode_is_that_of_the_game_with_the_original_reward():
    env = OriginalEnv(*FILES, 3, ["r", "b"], num_robots_per_player=2, with_battery=True, random_num_steps=True, max_step=300)
    game = momagames.make(
        "mo-robotmail-v0", required_mail=3, num_robots_per_player=2, random_num_steps=True, max_step=300, always_legal=False
    )
    observation, info = env.reset(seed=4)
    game.reset(seed=4)
    assert info == {}
    assert env.possible_agents == ["r1", "r2", "b1", "b2"]
    rng, kinds = np.random.default_rng(1), set()
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        index = env.possible_agents.index(env.agent_selection)
        assert game.agent_selection == f"robot_{index}"
        mask = env.observe(env.agent_selection)["action_mask"]
        assert mask.dtype == np.uint8
        assert env.observation_space("r1").contains(observation)
        action = int(rng.choice(np.flatnonzero(mask))) if mask.any() and rng.random() < 0.9 else int(rng.integers(5))
        observation, reward, terminated, truncated, info = env.step(action)
        game.step(action)
        expected = game.observe(f"robot_{index}")
        assert np.array_equal(observation["observation"], expected["observation"])
        assert np.array_equal(observation["action_mask"], expected["action_mask"])
        assert reward == pytest.approx(WEIGHTS @ game.rewards[f"robot_{index}"], abs=1e-6)
        assert info == {"transition_belongs_agent": index}
        assert (terminated, truncated) == (game.terminations[f"robot_{index}"], game.truncations[f"robot_{index}"])
        kinds.add(round(reward, 1))
    assert kinds >= {-0.1, 1.0}
    assert env.unwrapped.returns.shape == (4, 4)
    for _ in range(4):
        assert env.step(None) is None
    assert env.agents == []


def test_last_has_the_reward_since_the_last_action():
    env = OriginalEnv(*FILES, 3, ["gr", "pi", "o"])
    env.reset(seed=1)
    assert env.observe("gr1")["observation"].shape == (9,)  # three numbers of each robot without battery
    for agent in env.agent_iter(max_iter=6):
        observation, reward, terminated, truncated, _ = env.last()
        assert reward == pytest.approx(0 if env.unwrapped.episode.state["ply"] < 3 else -0.1)
        assert observation["action_mask"].dtype == np.uint8
        assert not terminated
        assert not truncated
        assert agent == ("gr1", "pi1", "o1")[int(env.unwrapped.episode.state["ply"]) % 3]
        env.step(0)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"robot_colors": ["r", "r"]}, InvalidParameter, "robot_colors"),
        ({"robot_colors": ["x", "r"]}, InvalidParameter, "'gr', 'p', 'pi' or 'o'"),
        ({"log_to_file": True}, InvalidParameter, "log_to_file=True: expected False"),
        ({"targets_map": FILES[0]}, InvalidLayout, "expected"),
        ({"required_mail": 0}, InvalidParameter, "required_mail"),
    ],
)
def test_wrong_arguments_are_named(changes, error, message):
    given = {"colors_map": FILES[0], "targets_map": FILES[1], "required_mail": 3, "robot_colors": ["r", "b"], **changes}
    with pytest.raises(error, match=message):
        OriginalEnv(**given)
