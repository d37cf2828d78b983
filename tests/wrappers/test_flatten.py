"""Flatten: one vector of numbers and one mask, whatever the game shows."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test

import momagames
from momagames.errors import InvalidParameter
from momagames.wrappers import Centralize, Flatten, RecordEpisodeStatistics, Scalarize
from tests.wrappers.games import breakthrough, gemwalk, legal, play, rounds, samegame, samegames, steps

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def fields(env: Any, agent: str, seen: dict[str, Any]) -> Any:
    """What an agent sees, by hand: all fields in the order of the space, as they are."""
    return np.concatenate([np.ravel(seen[name]) for name in env.observation_space(agent) if name != "action_mask"])


@pytest.mark.parametrize("id", ["mo-pommerman-radio-v0", "mo-robotmail-4-v0"])
def test_the_numbers_are_those_of_the_fields(id: str) -> None:
    plain = momagames.make(id, api="parallel")
    flat = Flatten(momagames.make(id, api="parallel"), key="observations")
    rng = np.random.default_rng(1)
    (seen, _), (rendered, infos) = plain.reset(seed=3), flat.reset(seed=3)
    for _ in range(12):
        for agent, observation in seen.items():
            masks = observation["action_mask"]
            np.testing.assert_array_equal(rendered[agent]["observations"], fields(plain, agent, observation))
            np.testing.assert_array_equal(rendered[agent]["action_mask"], np.hstack(masks))
            assert rendered[agent]["observations"].dtype == np.float32
            assert flat.observation_space(agent).contains(rendered[agent])
        parts = {a: o["action_mask"] if isinstance(o["action_mask"], tuple) else (o["action_mask"],) for a, o in seen.items()}
        chosen = {agent: [legal(mask, rng) for mask in masks] for agent, masks in parts.items()}
        actions = {agent: np.array(some) if len(some) > 1 else some[0] for agent, some in chosen.items()}
        seen, (rendered, *_, infos) = plain.step(actions)[0], flat.step(actions)
        if not plain.agents:
            break
    assert all(isinstance(value, (int, np.ndarray)) for info in infos.values() for value in info.values())


def test_checks_of_pettingzoo_and_gymnasium() -> None:
    api_test(Flatten(Scalarize(breakthrough(), [1, 2, 3, 4])), num_cycles=60)
    parallel_api_test(Flatten(Scalarize(samegame("parallel", num_agents=3), [1, 2, 3])), num_cycles=60)
    check_env(Flatten(Scalarize(gemwalk("gymnasium", illegal="random"), [1, 2])))


def test_both_forms_of_pettingzoo_show_the_same() -> None:
    aec, parallel = Flatten(breakthrough()), Flatten(breakthrough("parallel"))
    for (agent, *_), step in zip(play(aec), rounds(parallel), strict=True):
        for name in aec.agents:
            np.testing.assert_array_equal(aec.observe(name)["observation"], step[0][name]["observation"])
        assert aec.observation_space(agent) == parallel.observation_space(agent)
        np.testing.assert_array_equal(aec.last()[0]["action_mask"], aec.observe(aec.agent_selection)["action_mask"])


def test_gymnasium_shows_the_mask_beside_the_numbers() -> None:
    env = Flatten(Scalarize(gemwalk("gymnasium"), [1, 2]))
    for observation, _, _, _, info in steps(env):
        np.testing.assert_array_equal(observation["action_mask"], env.action_masks())
        np.testing.assert_array_equal(observation["action_mask"], info["action_mask"])
        assert info["vector_reward"].shape == (2,)
        assert observation["observation"].shape == (5 * 6,)


def test_infos_are_numbers_only() -> None:
    env = Flatten(momagames.make("mo-robotmail-v0"))
    env.reset(seed=1)
    assert set(env.last()[4]) == set(env.infos["robot_0"]) == {"clock", "illegal_actions"}
    assert {"event", "winners"} <= set(env.unwrapped.infos["robot_0"])


def test_a_vector_of_rewards_stays_in_the_infos_of_a_parallel_game() -> None:
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    env, plain = Scalarize(breakthrough("parallel"), weights), breakthrough("parallel")
    _, infos = env.reset(seed=1)
    np.testing.assert_array_equal(infos["player_0"]["vector_reward"], np.zeros(4, np.float32))
    for (_, rewards, *_, infos), other in zip(rounds(env), rounds(plain), strict=True):
        for agent, reward in rewards.items():
            np.testing.assert_array_equal(infos[agent]["vector_reward"], other[1][agent])
            assert reward == infos[agent]["vector_reward"] @ weights


def test_specs_make_the_same_again() -> None:
    made = Flatten(gymnasium.make("momagames/mo-gemwalk-v0", board_width=4, board_height=4), "numbers")
    again = made.spec.make()
    assert again.observation_space == made.observation_space
    assert "numbers" in again.reset(seed=1)[0]


def test_it_goes_around_a_game_inside_episodes_and_a_joint_agent() -> None:
    env = RecordEpisodeStatistics(Flatten(breakthrough("parallel")))
    list(rounds(env))
    assert len(env.episodes) == 1
    joint = Centralize(Flatten(breakthrough("parallel")), observation="agents")
    observation, _ = joint.reset(seed=1)
    assert joint.observation_space.contains(observation)


def test_mistakes() -> None:
    with pytest.raises(InvalidParameter, match="invalid key='action_mask': expected"):
        Flatten(gemwalk(), key="action_mask")
    with pytest.raises(InvalidParameter, match=r"invalid environment for Flatten: .* got a Gymnasium vector environment"):
        Flatten(samegames(2))
    with pytest.raises(InvalidParameter, match="invalid observation space Discrete"):
        Flatten(gymnasium.make("FrozenLake-v1"))
    with pytest.raises(InvalidParameter, match="invalid action space Box"):
        Flatten(gymnasium.make("Pendulum-v1"))
    with pytest.raises(Exception, match="stranger"):
        Flatten(gemwalk()).observation_space("stranger")


@pytest.mark.parametrize("api", ["aec", "parallel"])
def test_flat_observations_without_a_mask_are_not_flattened_again(api: str) -> None:
    for mask in ("info", None):
        with pytest.raises(InvalidParameter, match=r"invalid observation space Box.*expected a Dict with 'action_mask'"):
            Flatten(Flatten(momagames.make("mo-breakthrough-v0", api=api), mask=mask))


def test_the_mask_is_where_it_is_asked_for() -> None:
    for place in ("observation", "info", None):
        single = Flatten(gymnasium.make("momagames/mo-samegame-v0", board_width=3, board_height=3), mask=place)
        observation, info = single.reset(seed=1)
        assert observation in single.observation_space
        assert isinstance(observation, dict) == (place == "observation")
        assert ("action_mask" in info) == (place is not None)
        assert gymnasium.make(single.spec).observation_space == single.observation_space
        for api in ("aec", "parallel"):
            env = Flatten(momagames.make("mo-breakthrough-v0", api), mask=place)
            env.reset(seed=1)
            seen = env.last() if api == "aec" else [one["player_0"] for one in env.reset(seed=1)]
            observation, info = seen[0], seen[-1]
            assert observation in env.observation_space("player_0")
            assert ("action_mask" in info) == (place == "info")
            if place == "info":
                assert info["action_mask"].sum() > 1
    with pytest.raises(InvalidParameter, match=r"invalid mask='infos': expected 'observation', 'info' or None"):
        Flatten(momagames.make("mo-breakthrough-v0"), mask="infos")


@pytest.mark.parametrize("id", ["mo-pommerman-ffa-v0", "mo-pommerman-radio-v0"])
def test_rows_of_all_agents_are_those_of_each_observation(id: str) -> None:
    """In simultaneous games they are read at once, from the memory of the observations."""
    env, plain = Flatten(Scalarize(momagames.make(id, api="parallel"), utility=np.sum)), momagames.make(id, api="parallel")
    observations, expected = env.reset(seed=1)[0], plain.reset(seed=1)[0]
    parts = plain.game.actions
    rng = np.random.default_rng(0)
    for _ in range(60):
        assert list(observations) == list(expected)
        for agent, observation in observations.items():
            fields = [np.ravel(expected[agent][name]) for name in plain.observation_space(agent) if name != "action_mask"]
            np.testing.assert_array_equal(observation["observation"], np.concatenate(fields).astype(np.float32))
            assert env.observation_space(agent).contains(observation)
        if not env.agents:
            break
        actions = rng.integers(0, parts, (len(env.agents), len(parts)))
        joint = dict(zip(env.agents, actions if len(parts) > 1 else actions[:, 0], strict=True))
        observations, expected = env.step(joint)[0], plain.step(joint)[0]
