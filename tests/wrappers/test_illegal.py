"""HandleIllegal does what the option `illegal` does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pettingzoo.utils.conversions import aec_to_parallel

import momagames
from momagames.adapters.options import find_next_legal
from momagames.errors import IllegalAction, InvalidCall, InvalidParameter
from momagames.wrappers import (
    HandleIllegal,
    NormalizeReward,
    RecordEpisodeStatistics,
    Scalarize,
    SelectObjectives,
    ShareTeamReward,
)
from tests.wrappers.games import BREAKTHROUGH, GEMWALK, breakthrough, breakthroughs, gemwalk, gemwalks


@pytest.mark.parametrize("made", ["raise", "forfeit", "random", "next"])
@pytest.mark.parametrize("how", ["forfeit", "random", "next"])
def test_aec_api(made: str, how: str) -> None:
    one, other = HandleIllegal(Scalarize(breakthrough(illegal=made), [1, 2, 3, 4]), how), breakthrough(illegal=how)
    for env in (one, other):
        env.reset(seed=7)
    plies = 0
    while other.agents:
        plies += 1
        dead = other.terminations[other.agent_selection]
        for env in (one, other):
            env.step(None if dead else -1)
        if not dead:
            for agent, reward in other.rewards.items():
                assert one.rewards[agent] == pytest.approx(reward @ np.array([1, 2, 3, 4.0]))
        assert one.terminations == other.terminations
    assert plies > 1
    assert not one.agents
    assert one.get_state() == other.get_state()
    assert one.unwrapped.illegal == made


def test_raise_is_an_error_of_the_environment_and_changes_nothing() -> None:
    env = HandleIllegal(gemwalk(illegal="random"), "raise")
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(IllegalAction, match="illegal action=99 of agent_0"):
        env.step(99)
    assert env.get_state() == before
    assert env.unwrapped.illegal == "random"


@pytest.mark.parametrize("how", ["forfeit", "random", "next"])
def test_other_apis(how: str) -> None:
    one, other = HandleIllegal(breakthrough("parallel"), how), breakthrough("parallel", illegal=how)
    for env in (one, other):
        env.reset(seed=1)
        env.step({"player_0": -1})
    assert one.get_state() == other.get_state()
    assert one.agents == other.agents
    one, other = HandleIllegal(breakthrough("gymnasium"), how), breakthrough("gymnasium", illegal=how)
    results = []
    for env in (one, other):
        env.reset(seed=1)
        results.append(env.step(-1)[1:4])
    np.testing.assert_equal(*results)
    one, other = HandleIllegal(SelectObjectives(breakthroughs(), [0]), how), breakthroughs(illegal=how)
    received: list[Any] = []
    for env in (one, other):
        env.reset(seed=1)
        received.append(env.step(np.full(6, -1))[1].copy())
    np.testing.assert_array_equal(received[0][..., 0], received[1][..., 0])
    np.testing.assert_array_equal(one.batch.states, other.batch.states)


def after(env: Any, action: Any) -> Any:
    """The position after this action in the game of seed 3."""
    env.reset(seed=3)
    env.step(action)
    return env.get_state()


def test_next_is_the_first_legal_action_from_it_on() -> None:
    env = gemwalk("gymnasium", illegal="next")
    env.reset(seed=3)
    legal = np.flatnonzero(env.action_masks())
    illegal = np.flatnonzero(env.action_masks() == 0)
    assert illegal.size
    for action in illegal:
        played = next((later for later in legal if later > action), legal[0])
        assert after(env, action) == after(env, played)
    assert after(env, 10**6) == after(env, None) == after(env, -1) == after(env, float("nan")) == after(env, legal[0])
    batch = gemwalks(4, illegal="next")
    batch.reset(seed=3)
    batch.step(np.full(4, illegal[0]))
    assert env.game.codec.save(batch.batch.states[0]) == after(env, illegal[0])


def test_next_in_each_part_of_an_action() -> None:
    mask, parts = np.array([0, 1, 0, 1, 0, 0, 1, 0, 0], np.int8), (4, 3, 2)
    assert find_next_legal([2, 0, 1], mask, parts).tolist() == [3, 2, 0]
    assert find_next_legal([1, 2, 0], mask, parts).tolist() == [1, 2, 0]
    assert find_next_legal([4, -5, 0], mask, parts).tolist() == [1, 2, 0]
    assert find_next_legal([3], mask, parts).tolist() == find_next_legal("west", mask, parts).tolist() == [1, 2, 0]


def test_invalid_arguments() -> None:
    with pytest.raises(InvalidParameter, match=r"invalid policy='rise': expected .*did you mean 'raise'"):
        HandleIllegal(gemwalk(), "rise")  # type: ignore[arg-type]
    with pytest.raises(InvalidCall, match="already"):
        HandleIllegal(Scalarize(HandleIllegal(gemwalk(), "random"), [1, 1]), "raise")
    env = HandleIllegal(gemwalks(illegal="random"))
    env.reset(seed=0)
    with pytest.raises(IllegalAction, match="illegal action=-1 of agent_0 in environment 0"):
        env.step(np.full(6, -1))


def team_game(api: str = "aec") -> Any:
    """A simultaneous game of four agents."""
    return momagames.make("mo-pommerman-team-v0", api=api)


def forfeit(env: Any, forfeiter: int, rounds: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Play rounds, then an illegal action of one agent. The rewards of the last step, and all that last() has said by agent."""
    agents, received = list(env.possible_agents), dict[str, Any]()
    env.reset(seed=3)
    for move in range(rounds * len(agents) + forfeiter):
        agent = agents[move % len(agents)]
        received[agent] = received.get(agent, 0.0) + env.last()[1]
        env.step(5 if move == 0 else 0)  # a bomb
    received[agents[forfeiter]] = received.get(agents[forfeiter], 0.0) + env.last()[1]
    env.step(99)
    rewards = dict(env.rewards)
    while env.agents:
        received[env.agent_selection] = received.get(env.agent_selection, 0.0) + env.last()[1]
        env.step(None)
    return rewards, received


REWARDS = {
    "the rewards themselves": lambda env: env,
    "Scalarize": lambda env: Scalarize(env, [1, 2, 3, 4, 5]),
    "ShareTeamReward": ShareTeamReward,
    "SelectObjectives": lambda env: SelectObjectives(env, ["bombs", "outcome"]),
    "NormalizeReward": NormalizeReward,
    "stack": lambda env: Scalarize(RecordEpisodeStatistics(SelectObjectives(env, [0, 4])), [1, 2]),
}


@pytest.mark.parametrize("rounds", [0, 1])
@pytest.mark.parametrize("forfeiter", [0, 1, 3])
@pytest.mark.parametrize("name", REWARDS)
def test_rewards_of_a_forfeit_within_a_round(name: str, forfeiter: int, rounds: int) -> None:
    wrap = REWARDS[name]
    parallel = wrap(HandleIllegal(team_game("parallel"), "forfeit"))
    parallel.reset(seed=3)
    sums = dict.fromkeys(parallel.possible_agents, 0.0)
    for k in range(rounds + 1):
        actions = dict.fromkeys(parallel.agents, 0) | {parallel.agents[0]: 5 if k == 0 else 0}
        if k == rounds:
            actions[parallel.agents[forfeiter]] = 99
        expected = parallel.step(actions)[1]
        sums = {agent: sums[agent] + reward for agent, reward in expected.items()}
    rewards, received = forfeit(wrap(HandleIllegal(team_game(), "forfeit")), forfeiter, rounds)
    for agent, reward in expected.items():
        np.testing.assert_allclose(rewards[agent], reward)
        np.testing.assert_allclose(received[agent], sums[agent])
    assert np.any(rewards[parallel.possible_agents[forfeiter]])


@pytest.mark.parametrize("forfeiter", [0, 1, 3])
@pytest.mark.parametrize("rounds", [0, 1])
def test_statistics_of_a_forfeit_within_a_round(forfeiter: int, rounds: int) -> None:
    env = RecordEpisodeStatistics(HandleIllegal(team_game(), "forfeit"))
    forfeit(env, forfeiter, rounds)
    (episode,) = env.episodes
    np.testing.assert_array_equal(list(episode["r"].values()), env.unwrapped.returns)
    assert episode["steps"] == rounds + 1
    assert list(episode["l"].values()) == [rounds + (agent <= forfeiter) for agent in range(4)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("forfeiters", [[0], [1, 2], [3]])
@pytest.mark.parametrize("wrap", [lambda env: env, lambda env: Scalarize(env, [1, 2, 3, 4, 5]), RecordEpisodeStatistics])
def test_a_forfeit_in_the_conversion_of_pettingzoo(wrap: Any, forfeiters: list[int]) -> None:
    converted = aec_to_parallel(wrap(HandleIllegal(team_game(), "forfeit")))
    parallel = wrap(HandleIllegal(team_game("parallel"), "forfeit"))
    for env in (converted, parallel):
        env.reset(seed=3)
        env.step(dict.fromkeys(env.agents, 0))
    actions = dict.fromkeys(parallel.agents, 0) | {parallel.possible_agents[i]: 99 for i in forfeiters}
    _, *results = converted.step(dict(actions))
    _, *expected = parallel.step(actions)
    for agent in expected[0]:
        np.testing.assert_array_equal(results[0][agent], expected[0][agent])
    assert results[1:3] == expected[1:3]
    assert converted.agents == []
    assert converted.aec_env.unwrapped.get_state() == parallel.unwrapped.get_state()


def test_only_agents_still_to_act_may_act_after_a_forfeit() -> None:
    env = HandleIllegal(team_game(), "forfeit")
    env.reset(seed=3)
    for _ in range(2):
        env.step(0)
    env.step(99)
    later, _, _, earlier = env.possible_agents[3], *env.possible_agents[:3]
    assert env.agent_selection == later
    env.step(0)  # changes nothing
    assert set(env.agents) == set(env.possible_agents)
    assert env.agent_selection != earlier
    with pytest.raises(IllegalAction, match="the only valid action is None"):
        env.step(0)


def test_actions_and_last_steps_mixed_after_a_forfeit() -> None:
    env = HandleIllegal(team_game(), "forfeit")
    env.reset(seed=3)
    env.step(99)
    first, second, third, last = env.possible_agents
    assert env.agent_selection == second
    env.step(None)
    assert env.agents == [first, third, last]
    env.unwrapped.agent_selection = last
    env.step(0)
    assert env.agent_selection == third
    env.step(0)
    while env.agents:
        env.step(None)


@pytest.mark.parametrize("how", ["next", "random"])
@pytest.mark.parametrize(
    ("id", "options"),
    [
        ("mo-gemwalk-v0", GEMWALK),
        ("mo-breakthrough-v0", {**BREAKTHROUGH, "views": "all"}),
        ("mo-pommerman-radio-v0", {}),
        ("mo-robotmail-v0", {}),
    ],
)
def test_batches_replace_each_illegal_action_by_itself(id: str, options: dict[str, Any], how: str) -> None:
    """By the next legal one as single environments do, or by random ones that depend on the environment alone."""
    count = 5
    envs, alone = momagames.make_vec(id, count, illegal=how, **options), momagames.make_vec(id, 1, illegal=how, **options)
    plain = momagames.make_vec(id, count, **options)
    rng = np.random.default_rng(1)
    game, batch = envs.game, envs.batch
    for env in (envs, alone, plain):
        env.reset(seed=3)
    for _ in range(20):
        given = rng.integers(-2, np.array(game.actions) + 2, (count, game.actors, len(game.actions)))
        masks, over = batch.masks.copy(), (batch.terminated | batch.truncated).all(axis=1)
        rows = [[batch.to_move[i]] if game.sequential and masks.shape[1] > 1 else range(game.actors) for i in range(count)]
        expected = given.copy()
        for i, actor in np.ndindex(count, game.actors):
            is_allowed = game.allows_illegal and (0 <= given[i, actor] < np.array(game.actions)).all()
            if not over[i] and not is_allowed:  # else the action has no effect, or any number is an action
                expected[i, actor] = find_next_legal(given[i, actor], masks[i, rows[i][actor]], game.actions)
        envs.step(given)
        alone.step(given[:1])
        played = batch.last_actions
        np.testing.assert_array_equal(alone.batch.last_actions[0], played[0])
        stays = (given == expected).all(axis=-1)  # legal as given
        np.testing.assert_array_equal(played[stays], given[stays])
        if how == "next":
            np.testing.assert_array_equal(played, expected)
        plain.step(played)  # legal, or it raises
    np.testing.assert_array_equal(plain.batch.states, batch.states)
