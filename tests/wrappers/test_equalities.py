"""Wrappers against the parameters of the games that do the same, in every API."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from momagames.wrappers import MergeColors, SelectObjectives, ShareTeamReward, SplitColors
from tests.wrappers.games import batches, breakthrough, breakthroughs, play, rounds, same_pay, samegame, samegames, steps

TEAMS = [
    {"num_agents": 3},
    {"num_agents": 5, "clear_bonus": 7.0},
    {"num_agents": 2, "color_rewards": False},
    {"num_agents": 2, "move_rewards": True},
]
SPLITS = [
    {},
    {"num_agents": 3},
    {"num_agents": 2, "team_rewards": True},
    {"clear_bonus": 1000.0},
    {"num_agents": 2, "move_rewards": True},
]
MODES = ("next_step", "same_step", "disabled")


@pytest.mark.parametrize("params", TEAMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_shared_rewards_are_team_rewards(params: dict[str, Any], seed: int) -> None:
    same_pay(ShareTeamReward(samegame(**params)), samegame(**params, team_rewards=True), seed)


def test_teams_can_be_given() -> None:
    env, plain = ShareTeamReward(samegame(num_agents=4), teams=[0, 1, 0, 1]), samegame(num_agents=4)
    for (_, shared, _), (_, rewards, _) in zip(play(env), play(plain), strict=True):
        np.testing.assert_array_equal(shared["agent_0"], rewards["agent_0"] + rewards["agent_2"])
        np.testing.assert_array_equal(shared["agent_3"], rewards["agent_1"] + rewards["agent_3"])


@pytest.mark.parametrize("params", SPLITS)
def test_merged_colors_are_one_objective(params: dict[str, Any]) -> None:
    same_pay(MergeColors(samegame(**params)), samegame(**params, color_rewards=False))


@pytest.mark.parametrize("params", SPLITS)
@pytest.mark.parametrize("seed", [0, 1])
def test_split_colors_are_an_objective_each(params: dict[str, Any], seed: int) -> None:
    same_pay(SplitColors(samegame(**params, color_rewards=False)), samegame(**params), seed)


@pytest.mark.parametrize("params", SPLITS)
def test_round_trips(params: dict[str, Any]) -> None:
    same_pay(SplitColors(MergeColors(samegame(**params))), samegame(**params))
    merged = samegame(**params, color_rewards=False)
    same_pay(MergeColors(SplitColors(merged)), samegame(**params, color_rewards=False))


def test_all_at_once() -> None:
    env = ShareTeamReward(SplitColors(samegame(num_agents=3, color_rewards=False, clear_bonus=5.0)))
    same_pay(env, samegame(num_agents=3, team_rewards=True, clear_bonus=5.0))


def test_split_sees_what_was_played_in_place_of_an_illegal_action() -> None:
    one = SplitColors(samegame(color_rewards=False, illegal="random"))
    other = samegame(illegal="random")
    for env in (one, other):
        env.reset(seed=3)
    received = 0.0
    while not other.terminations["agent_0"]:
        for env in (one, other):
            env.step(-1)
        np.testing.assert_array_equal(one.rewards["agent_0"], other.rewards["agent_0"])
        received += one.rewards["agent_0"].sum()
    assert received > 0


def test_split_gives_no_reward_for_a_forfeit() -> None:
    env = SplitColors(samegame(color_rewards=False, illegal="forfeit"))
    env.reset(seed=3)
    env.step(-1)
    np.testing.assert_array_equal(env.rewards["agent_0"], np.zeros(3))
    assert env.terminations["agent_0"]


@pytest.mark.parametrize("names", [["captures", "win"], [2, 0], ("captures", 0)])
def test_selected_objectives_are_those_of_the_game(names: Any) -> None:
    same_pay(SelectObjectives(breakthrough(), names), breakthrough(objectives=("captures", "win")))


def test_one_objective_by_name() -> None:
    same_pay(SelectObjectives(breakthrough(), "captures"), breakthrough(objectives=("captures",)))


def pairs(api: str) -> list[tuple[Any, Any]]:
    make = samegames if api == "vector" else lambda **params: samegame(api, **params)
    made = [
        (SplitColors(make(color_rewards=False, clear_bonus=9.0)), make(clear_bonus=9.0)),
        (MergeColors(make()), make(color_rewards=False)),
        (SplitColors(MergeColors(make())), make()),
    ]
    if api != "gymnasium":
        made += [
            (ShareTeamReward(make(num_agents=3)), make(num_agents=3, team_rewards=True)),
            (SplitColors(make(num_agents=3, color_rewards=False)), make(num_agents=3)),
            (
                SplitColors(make(num_agents=2, color_rewards=False, team_rewards=True)),
                make(num_agents=2, team_rewards=True),
            ),
        ]
    return made


@pytest.mark.parametrize("number", range(6))
def test_parallel_api(number: int) -> None:
    one, other = pairs("parallel")[number]
    received = 0.0
    for step, step_2 in zip(rounds(one), rounds(other), strict=True):
        for agent, reward in step[1].items():
            np.testing.assert_array_equal(reward, step_2[1][agent])
            assert one.reward_space(agent).contains(reward)
            received += reward.sum()
    assert received > 0
    assert all(one.reward_space(agent) == other.reward_space(agent) for agent in one.possible_agents)


@pytest.mark.parametrize("number", range(3))
def test_gymnasium_api(number: int) -> None:
    one, other = pairs("gymnasium")[number]
    received = 0.0
    for step, step_2 in zip(steps(one), steps(other), strict=True):
        np.testing.assert_array_equal(step[1], step_2[1])
        assert one.reward_space.contains(step[1])
        received += step[1].sum()
    assert received > 0
    assert one.reward_space == other.reward_space
    assert one.reward_dim == other.reward_dim


@pytest.mark.parametrize("number", range(6))
def test_vector_api(number: int) -> None:
    one, other = pairs("vector")[number]
    received, ends = 0.0, 0
    for (rewards, over, *_), (rewards_2, *_) in zip(batches(one), batches(other), strict=True):
        np.testing.assert_array_equal(rewards, rewards_2)
        assert rewards.dtype == np.float32
        received, ends = received + rewards.sum(), ends + over.sum()
    assert received > 0
    assert ends > 0
    assert one.reward_space == other.reward_space


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("illegal", ["raise", "random"])
def test_split_batches_in_every_mode(mode: str, illegal: str) -> None:
    options = {"autoreset": mode, "illegal": illegal}
    one, other = SplitColors(samegames(color_rewards=False, **options)), samegames(**options)
    assert one.metadata["autoreset_mode"] == AutoresetMode[mode.upper()]
    if illegal == "raise":
        runs = zip(batches(one), batches(other), strict=True)
        results = [(a[0], b[0]) for a, b in runs]
    else:
        for env in (one, other):
            env.reset(seed=1)
        wrong = np.full(one.num_envs, -1)
        results = [(one.step(wrong)[1].copy(), other.step(wrong)[1].copy()) for _ in range(12)]
    for rewards, rewards_2 in results:
        np.testing.assert_array_equal(rewards, rewards_2)
    assert sum(rewards.sum() for rewards, _ in results) > 0


def test_selected_objectives_in_a_batch() -> None:
    one, other = SelectObjectives(breakthroughs(), ["captures", "win"]), breakthroughs(objectives=("captures", "win"))
    for (rewards, *_), (rewards_2, *_) in zip(batches(one), batches(other), strict=True):
        np.testing.assert_array_equal(rewards, rewards_2)
    assert one.reward_space == other.reward_space
