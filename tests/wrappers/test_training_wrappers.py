"""FrameStack, AgentIndicator and BlackDeath."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test

import momagames
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.adapters.parallel import MultiObjectiveParallel
from momagames.errors import InvalidParameter
from momagames.wrappers import AgentIndicator, BlackDeath, Flatten, FrameStack, RecordEpisodeStatistics, Scalarize
from tests import meteors
from tests.wrappers.games import breakthrough, gemwalk, legal, samegames


def bombs(**options: Any) -> Any:
    return momagames.make("mo-pommerman-ffa-v0", api="parallel", **options)


def scalar(env: Any) -> Any:
    return Scalarize(env, utility=np.sum)


def choose(observations: dict[str, Any], rng: np.random.Generator) -> dict[str, int]:
    masks = {agent: seen["action_mask"] for agent, seen in observations.items()}
    return {agent: legal(mask, rng) for agent, mask in masks.items() if mask.any()}


def test_frames_are_the_last_observations() -> None:
    env, plain, rng = FrameStack(bombs(), 3), bombs(), np.random.default_rng(0)
    for seed in range(2):  # the second episode starts with zeros again
        stacked, seen = env.reset(seed=seed)[0], plain.reset(seed=seed)[0]
        history: dict[str, list[Any]] = {agent: [] for agent in seen}
        for _ in range(60):
            for agent, now in seen.items():
                history[agent].append(now)
                assert env.observation_space(agent).contains(stacked[agent])
                for name, value in now.items():
                    frames = [one[name] for one in history[agent][-3:]]
                    expected = [np.zeros_like(value)] * (3 - len(frames)) + frames
                    np.testing.assert_array_equal(stacked[agent][name], value if name == "action_mask" else np.stack(expected))
            if not env.agents:
                break
            actions = choose(seen, rng)
            stacked, seen = env.step(actions)[0], plain.step(actions)[0]


def test_frames_of_an_agent_are_those_at_its_turns() -> None:
    env, rng = FrameStack(breakthrough(), 2), np.random.default_rng(0)
    env.reset(seed=1)
    before: dict[str, Any] = {}
    while env.agents:
        agent = env.agent_selection
        observation, _, terminated, truncated, _ = env.last()
        plain = env.unwrapped.observe(agent)
        frames = observation["observation"]
        assert env.observation_space(agent).contains(observation)
        np.testing.assert_array_equal(frames[1], plain["observation"])
        np.testing.assert_array_equal(frames[0], before.get(agent, np.zeros_like(frames[0])))
        np.testing.assert_array_equal(env.observe(agent)["observation"], frames)  # asking again changes nothing
        before[agent] = plain["observation"]
        other = next((one for one in env.agents if one != agent), agent)
        waiting = env.observe(other)["observation"]
        np.testing.assert_array_equal(waiting[1], env.unwrapped.observe(other)["observation"])
        env.step(None if terminated or truncated else legal(observation["action_mask"], rng))


@pytest.mark.parametrize("wrap", [AgentIndicator, FrameStack])
@pytest.mark.filterwarnings("ignore")
def test_hosts_accept_them(wrap: Any) -> None:
    for game in (breakthrough, gemwalk):
        api_test(Flatten(wrap(scalar(game()))), 20)
        parallel_api_test(Flatten(wrap(scalar(game("parallel")))), 20)
    parallel_api_test(Flatten(wrap(BlackDeath(scalar(bombs())))), 60)


def test_the_agent_is_a_field() -> None:
    env = AgentIndicator(bombs())
    for i, (agent, seen) in enumerate(env.reset(seed=1)[0].items()):
        assert seen["agent_indicator"].tolist() == np.eye(4)[i].tolist()
        assert env.observation_space(agent).contains(seen)
    flat = Flatten(env)
    seen = flat.reset(seed=1)[0]["agent_3"]["observation"]
    assert len(seen) == flat.observation_space("agent_3")["observation"].shape[0] == 620 + 4
    one = AgentIndicator(breakthrough())
    one.reset(seed=1)
    assert one.last()[0]["agent_indicator"].tolist() == [1, 0]
    assert one.observe("player_1")["agent_indicator"].tolist() == [0, 1]
    with pytest.raises(InvalidParameter, match="apply it inside Flatten"):
        AgentIndicator(Flatten(gemwalk(), mask="info"))


def ring() -> Any:
    """A game of two-part actions whose agents leave one by one."""
    return MultiObjectiveParallel(MultiObjectiveAEC(meteors.game("meteors-v0", cells=4)))


@pytest.mark.parametrize("wrap", [lambda env: env, scalar, RecordEpisodeStatistics])
def test_agents_that_have_left_stay(wrap: Any) -> None:
    env, plain, absent = BlackDeath(wrap(ring())), wrap(ring()), 0
    for i, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(i)
    for seed in range(5):
        observations, expected = env.reset(seed=seed)[0], plain.reset(seed=seed)[0]
        everyone = list(env.possible_agents)
        while env.agents:
            assert env.agents == list(observations) == everyone
            actions = {agent: env.action_space(agent).sample(observations[agent]["action_mask"]) for agent in everyone}
            playing = list(plain.agents)
            observations, rewards, terminations, truncations, infos = env.step(actions)
            expected, given, *_ = plain.step({agent: actions[agent] for agent in playing})
            assert list(rewards) == list(infos) == everyone
            for agent in everyone:
                assert env.observation_space(agent).contains(observations[agent])
                if agent in playing:
                    np.testing.assert_array_equal(rewards[agent], given[agent])
                    np.testing.assert_equal(observations[agent], expected[agent])
                    continue
                absent += 1
                assert not np.any(rewards[agent])
                assert np.shape(rewards[agent]) == np.shape(next(iter(given.values())))
                fields = {name: value for name, value in observations[agent].items() if name != "action_mask"}
                assert not any(np.any(value) for value in fields.values())
                assert [part.tolist() for part in observations[agent]["action_mask"]] == [[1, 0, 0]] * 2
            ends = [bool(terminations[agent] or truncations[agent]) for agent in everyone]
            assert ends == [not plain.agents] * 3
        assert plain.agents == []
    assert absent > 3
    assert env.step({}) == ({}, {}, {}, {}, {})


def test_a_truncation_truncates_all() -> None:
    env = BlackDeath(bombs(max_cycles=2))
    env.reset(seed=1)
    for over in (False, True):
        _, _, terminations, truncations, _ = env.step(dict.fromkeys(env.agents, 0))
        assert not any(terminations.values())
        assert list(truncations.values()) == [over] * 4


def test_copies_continue_by_themselves() -> None:
    env, rng = FrameStack(bombs(), 2), np.random.default_rng(0)
    seen = env.reset(seed=1)[0]
    for _ in range(3):
        seen = env.step(choose(seen, rng))[0]
    actions = choose(seen, rng)
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env.clone()]
    peeked, result = env.peek(actions)[0], env.step(actions)[0]
    for other in (peeked, *(one.step(actions)[0] for one in copies)):
        np.testing.assert_equal(other, result)


def test_invalid_arguments() -> None:
    with pytest.raises(InvalidParameter, match="stack_size=0"):
        FrameStack(gemwalk(), 0)
    with pytest.raises(InvalidParameter, match="invalid environment for FrameStack"):
        FrameStack(samegames(), 2)
    with pytest.raises(InvalidParameter, match="invalid environment for BlackDeath"):
        BlackDeath(gemwalk())
