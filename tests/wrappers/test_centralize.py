"""Centralize: a parallel game as one Gymnasium environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.parallel import MultiObjectiveParallel
from momagames.errors import InvalidCall, InvalidParameter
from momagames.wrappers import Centralize, HandleIllegal, RecordEpisodeStatistics, Scalarize
from tests import meteors
from tests.wrappers.games import breakthrough, gemwalk, play, rounds, samegame


def rovers() -> Any:
    return MultiObjectiveParallel(MultiObjectiveAEC(meteors.game("meteors-v0", cells=20, limit=6)))


def joint(env: Any, seed: int = 0) -> list[tuple[Any, ...]]:
    """A random episode; in a turn-based game the parts of the others are nonsense."""
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    size = env.action_space.nvec[0]
    results = []
    while not results or not (results[-1][2] or results[-1][3]):
        mask = np.array(info["action_mask"]).reshape(-1, size)
        assert env.action_space.contains(env.action_space.sample(mask=info["action_mask"]))
        assert mask.any(axis=1).sum() == 1
        action = np.full(len(mask), size - 1)
        mover = int(mask.any(axis=1).argmax())
        action[mover] = int(rng.choice(np.flatnonzero(mask[mover])))
        results.append(env.step(action))
        info = results[-1][4]
    return results


@pytest.mark.parametrize("reward", ["sum", "mean", "each"])
def test_turn_based_game(reward: str) -> None:
    env = Centralize(breakthrough("parallel"), reward=reward)  # type: ignore[arg-type]
    join = {"sum": lambda v: v.sum(0), "mean": lambda v: v.mean(0), "each": np.ravel}[reward]
    results = joint(env)
    plain = list(rounds(breakthrough("parallel")))
    assert len(results) == len(plain)
    for (observation, received, over, _, info), step in zip(results, plain, strict=True):
        np.testing.assert_allclose(received, join(np.array([*step[1].values()])), rtol=1e-6)
        assert env.reward_space.contains(received)
        assert env.observation_space.contains(observation)
        assert over == all(step[2].values())
        assert info["active_agent"] == step[4]["player_0"]["active_agent"]
    names = [objective.name for objective in env.reward_spec.objectives]
    assert names[0] == ("player_0.win" if reward == "each" else "win")
    assert env.reward_dim == len(names)
    bounds = {"sum": (-2, 2), "mean": (-1, 1), "each": (-1, 1)}[reward]
    assert (env.reward_space.low[0], env.reward_space.high[0]) == bounds


def test_what_all_agents_see() -> None:
    env = Centralize(samegame("parallel", num_agents=2), observation="agents")
    observation, info = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    np.testing.assert_array_equal(
        info["action_mask"], np.array([observation[agent]["action_mask"] for agent in ("agent_0", "agent_1")])
    )
    results = joint(env)
    assert all(env.observation_space.contains(step[0]) for step in results)
    assert not env.action_masks().any()


def test_simultaneous_game_with_deaths_and_a_limit() -> None:
    ends = set()
    for seed in range(8):
        env, plain = Centralize(rovers(), observation="agents"), rovers()
        assert env.action_space.nvec.tolist() == [3] * 6
        env.reset(seed=seed)
        plain.reset(seed=seed)
        over = cut = False
        while not (over or cut):
            action = np.array([1, 1, 2, 0, 1, 2])
            _, received, over, cut, info = env.step(action)
            parts = {agent: action[2 * i : 2 * i + 2] for i, agent in enumerate(plain.possible_agents)}
            step = plain.step({agent: parts[agent] for agent in plain.agents})
            np.testing.assert_allclose(received, sum(step[1].values()))
            gone = [agent not in plain.agents for agent in plain.possible_agents]
            masks = np.concatenate(info["action_mask"]).reshape(3, 6)
            assert cut or not masks[gone].any()  # those of the last position
            assert all(mask.any() for mask, left in zip(masks, gone, strict=True) if not left) or over or cut
            assert (over or cut) == (not plain.agents)
        ends.add((over, cut))
    assert ends == {(True, False), (False, True)}


def test_more_wrappers_around_and_below() -> None:
    env = RecordEpisodeStatistics(Scalarize(Centralize(samegame("parallel", num_agents=2)), [1, 2, 3]))
    results = joint(env)
    vectors = sum(step[4]["vector_reward"] for step in results)
    assert results[-1][4]["episode"]["r"] == pytest.approx(vectors @ np.array([1.0, 2.0, 3.0]))
    below = Centralize(Scalarize(samegame("parallel", num_agents=2), [1, 2, 3]))
    assert [step[1] for step in joint(below)] == [step[1] for step in results]
    assert type(joint(below)[0][1]) is float
    check_env(Scalarize(Centralize(HandleIllegal(breakthrough("parallel"), "random")), [1, 1, 1, 1]))


def test_mo_gymnasium_wrappers_above() -> None:
    mo = pytest.importorskip("mo_gymnasium.wrappers")
    env = mo.LinearReward(Centralize(breakthrough("parallel"), reward="each"), np.arange(8.0))
    assert [step[1] for step in joint(env)][-1] == pytest.approx(
        np.dot(list(joint(Centralize(breakthrough("parallel"), reward="each")))[-1][1], np.arange(8.0))
    )


def test_foreign_parallel_games() -> None:
    momaland = pytest.importorskip("momaland.envs.item_gathering.moitem_gathering_v0")
    env = Centralize(momaland.parallel_env(), observation="agents")
    env.reset(seed=0)
    _, reward, *_ = env.step(env.action_space.sample())
    assert reward.shape == env.reward_space.shape


def test_invalid_arguments() -> None:
    with pytest.raises(
        InvalidParameter,
        match="invalid environment for Centralize: expected 'a PettingZoo parallel environment', got a PettingZoo AEC",
    ):
        Centralize(gemwalk())
    with pytest.raises(InvalidParameter, match="did you mean 'mean'"):
        Centralize(gemwalk("parallel"), reward="men")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="expected 'state' or 'agents'"):
        Centralize(gemwalk("parallel"), observation="all")  # type: ignore[arg-type]
    with pytest.raises(InvalidCall, match="apply Scalarize after Centralize"):
        Centralize(Scalarize(gemwalk("parallel"), [1, 1]), reward="each")
    env = Centralize(samegame("parallel", num_agents=2))
    with pytest.raises(InvalidCall, match="before reset"):
        env.step(np.zeros(2, int))
    env.reset(seed=0)
    with pytest.raises(InvalidParameter, match=r"shape \(3,\) of int64: expected integers of shape \(2,\)"):
        env.step(np.zeros(3, int))
    joint(env)
    with pytest.raises(InvalidCall, match="after the end"):
        env.step(np.zeros(2, int))


def test_one_agent_equals_the_gymnasium_api() -> None:
    env = Centralize(gemwalk("parallel"))
    received = sum(step[1] for step in joint(env))
    aec = gemwalk()
    list(play(aec))
    np.testing.assert_array_equal(received, aec.returns[0])


@pytest.mark.parametrize("observation", ["agents", "state"])
def test_agents_that_had_left_before_the_given_position(observation: Any) -> None:
    """What they saw is not known: zeros. Their parts of the joint action are not read."""
    env = Centralize(rovers(), observation=observation)
    env.reset(seed=1)
    given = env.get_state() | {"gone": [0, 1, 0]}
    seen, info = env.reset(options={"state": given})
    assert env.observation_space.contains(seen)
    masks = env.action_masks().reshape(3, -1)
    assert masks.any(axis=1).tolist() == [True, False, True]
    assert list(info["agents"]) == env.env.agents == ["rover_0", "rover_2"]
    if observation == "agents":
        assert not any(np.any(field) for name, field in seen["rover_1"].items() if name != "action_mask")
    still = [1, 0, 9, 9, 1, 0]
    assert env.observation_space.contains(env.step(still)[0])


def test_the_active_agent_with_numeric_infos() -> None:
    env, plain = (Centralize(breakthrough("parallel", numeric_infos=numeric)) for numeric in (True, False))
    _, info = env.reset(seed=4)
    _, expected = plain.reset(seed=4)
    over = False
    while not over:
        assert info["active_agent"] == expected["active_agent"]
        action = [int(mask.argmax()) for mask in info["action_mask"]]
        *_, over, _, info = env.step(np.array(action))
        expected = plain.step(np.array(action))[4]
