"""NormalizeReward: once for every step, the same in every API, saved and frozen."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momagames.errors import InvalidCall, InvalidParameter
from momagames.wrappers import NormalizeReward, Scalarize, SelectObjectives
from momagames.wrappers.loops import pool_statistics
from tests.wrappers.games import batches, breakthrough, breakthroughs, gemwalk, play, rounds, samegame, samegames, steps

samples = st.lists(st.floats(-1000, 1000), min_size=1, max_size=20)


@given(first=samples, second=samples)
def test_pooled_is_the_whole_sample(first: list[float], second: list[float]) -> None:
    one, other, both = np.array(first), np.array(second), np.array(first + second)
    pool = getattr(pool_statistics, "py_func", pool_statistics)
    mean, var = pool(one.mean(), one.var(), len(one), other.mean(), other.var(), len(other))
    np.testing.assert_allclose([mean, var], [both.mean(), both.var()], rtol=1e-9, atol=1e-7)


def by_hand(vectors: list[np.ndarray], ends: list[bool], gamma: float = 0.9) -> list[np.ndarray]:
    """The definition: each reward over the deviation of all discounted returns so far, the first sample weighing 1e-4."""
    running, seen, received = np.zeros_like(vectors[0], np.float64), [], []
    for vector, end in zip(vectors, ends, strict=True):
        running = running * gamma + vector
        seen.append(running)
        weights = np.array([1e-4] + [1.0] * len(seen))[:, None]
        returns = np.array([np.zeros_like(running), *seen])
        mean = (weights * returns).sum(0) / weights.sum()
        var = (weights * (returns - mean) ** 2).sum(0) / weights.sum() + 1e-4 / weights.sum()  # it begins with variance 1
        received.append(vector / np.sqrt(var + 1e-8))
        running = np.zeros_like(running) if end else running
    return received


def test_gymnasium_api_against_the_definition() -> None:
    env, plain = NormalizeReward(gemwalk("gymnasium"), gamma=0.9), gemwalk("gymnasium")
    vectors, ends, got = [], [], []
    for seed in range(4):
        for step, raw in zip(steps(env, seed), steps(plain, seed), strict=True):
            got.append(step[1])
            vectors.append(raw[1])
            ends.append(raw[2])
            assert step[1].dtype == np.float32
            assert env.reward_space.contains(step[1])
    np.testing.assert_allclose(got, by_hand(vectors, ends), rtol=1e-5)


def test_as_mo_gymnasium_until_the_first_end() -> None:
    mo = pytest.importorskip("mo_gymnasium.wrappers")
    theirs = gemwalk("gymnasium")
    for k in range(2):
        theirs = mo.MONormalizeReward(theirs, k)
    pairs = list(zip(steps(NormalizeReward(gemwalk("gymnasium"))), steps(theirs), strict=True))
    assert len(pairs) > 5
    for one, other in pairs[:-1]:
        np.testing.assert_allclose(one[1], other[1], rtol=1e-5)


def test_last_changes_nothing_and_adds_up_since_the_own_move() -> None:
    env = NormalizeReward(samegame(num_agents=3, team_rewards=True), gamma=0.5)
    due = {agent: np.zeros(3, np.float32) for agent in env.possible_agents}
    for agent, rewards, last in play(env, 4):
        before = env.state_dict()
        for _ in range(3):
            env.last()
        assert env.state_dict() == before
        np.testing.assert_array_equal(last, due[agent])
        due[agent] = np.zeros(3, np.float32)
        for name, reward in rewards.items():
            due[name] = due[name] + reward
    assert env.transform.count[0, 0] == pytest.approx(1e-4 + env.unwrapped.get_state()["ply"])


def test_every_api_normalizes_equally() -> None:
    aec, parallel = NormalizeReward(breakthrough()), NormalizeReward(breakthrough("parallel"))
    batch = NormalizeReward(breakthroughs(1))
    for seed in range(3):
        runs = zip(play(aec, seed), rounds(parallel, seed), strict=True)
        one = [(rewards, step[1]) for (_, rewards, _), step in runs]
        for (rewards, others), (received, *_) in zip(one, batches(batch, len(one), seed), strict=True):
            for i, agent in enumerate(rewards):
                np.testing.assert_array_equal(rewards[agent], others[agent])
                np.testing.assert_array_equal(rewards[agent], received[0, i])
    assert aec.state_dict() == parallel.state_dict() == batch.state_dict()


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_a_batch_counts_real_steps_only(mode: str) -> None:
    env = NormalizeReward(samegames(autoreset=mode))
    live = np.ones(6, bool)
    steps_played = 0
    for _, over, *_ in batches(env):
        steps_played += live.sum()
        live = live if mode == "same_step" else ~over
    assert env.transform.count[0, 0] == pytest.approx(1e-4 + steps_played)
    assert (steps_played < 6 * 25) == (mode != "same_step")


def test_a_batch_feeds_one_set_of_statistics() -> None:
    env, plain = NormalizeReward(samegames(autoreset="same_step"), gamma=0.0), samegames(autoreset="same_step")
    rewards = []
    for _, (raw, *_) in zip(batches(env), batches(plain), strict=True):
        rewards.append(raw)
    everything = np.concatenate([np.zeros((0, 3)), *rewards])
    np.testing.assert_allclose(env.transform.mean[0], everything.mean(0), rtol=1e-3)
    np.testing.assert_allclose(env.transform.var[0], everything.var(0), rtol=1e-3)


def test_discounted_returns_restart_with_every_episode() -> None:
    """In a batch with autoreset in the same step, and after an early reset()."""
    batch, plain = NormalizeReward(samegames(1, autoreset="same_step"), gamma=0.9), samegames(1, autoreset="same_step")
    got, vectors, ends = [], [], []
    for (received, *_), (raw, over, *_) in zip(batches(batch), batches(plain), strict=True):
        got.append(received[0])
        vectors.append(raw[0])
        ends.append(bool(over[0]))
    assert sum(ends) > 1
    np.testing.assert_allclose(got, by_hand(vectors, ends), rtol=1e-5)
    for make, run in ((gemwalk, play), (lambda: gemwalk("parallel"), rounds), (lambda: gemwalk("gymnasium"), steps)):
        env = NormalizeReward(make())
        for _, _ in zip(range(2), run(env), strict=False):
            pass
        assert env.transform.running.any()
        env.reset(seed=1)
        assert not env.transform.running.any()
    batch.reset(options={"reset_mask": np.array([True])})
    assert not batch.transform.running.any()


def test_some_objectives_only() -> None:
    env, plain = NormalizeReward(gemwalk(), objectives=["emeralds"]), gemwalk()
    for (_, rewards, _), (_, raw, _) in zip(play(env), play(plain), strict=True):
        np.testing.assert_array_equal(rewards["agent_0"][0], raw["agent_0"][0])
    assert env.state_dict()["objectives"] == ["emeralds"]
    assert env.reward_space("agent_0").high[1] == np.inf
    assert env.reward_space("agent_0").high[0] == plain.reward_space("agent_0").high[0]


def test_statistics_are_saved_and_frozen() -> None:
    trained = NormalizeReward(gemwalk())
    for seed in range(3):
        list(play(trained, seed))
    saved = json.loads(json.dumps(trained.state_dict()))
    fresh = NormalizeReward(gemwalk(), frozen=True, state=saved)
    trained.freeze()
    for (_, one, _), (_, other, _), (_, raw, _) in zip(play(trained, 9), play(fresh, 9), play(gemwalk(), 9), strict=True):
        np.testing.assert_array_equal(one["agent_0"], other["agent_0"])
        np.testing.assert_allclose(one["agent_0"], raw["agent_0"] / np.sqrt(np.array(saved["var"][0]) + 1e-8), rtol=1e-6)
    assert trained.state_dict() == fresh.state_dict() == saved
    trained.freeze(False)
    list(play(trained, 9))
    assert trained.state_dict() != saved


def test_statistics_are_reached_from_the_outside() -> None:
    inner = NormalizeReward(SelectObjectives(gemwalk(), [1, 0]))
    env = Scalarize(inner, [1, 1])
    list(play(env))
    assert env.state_dict() == inner.state_dict()
    env.freeze()
    assert inner.transform.frozen
    env.load_state_dict({**inner.state_dict(), "count": [7.0]})
    assert inner.transform.count[0, 0] == 7
    with pytest.raises(InvalidCall, match="no NormalizeReward in Scalarize"):
        Scalarize(gemwalk(), [1, 1]).state_dict()


def assert_refused(env: Any, change: dict[str, Any], message: str) -> None:
    good = env.state_dict()
    with pytest.raises(InvalidParameter, match=message):
        env.load_state_dict({key: value for key, value in {**good, **change}.items() if value is not None})
    assert env.state_dict() == good


def test_foreign_statistics_are_rejected() -> None:
    env = NormalizeReward(samegame(num_agents=2))
    assert_refused(env, {"mean": None}, "has no 'mean'")
    assert_refused(env, {"agents": ["agent_0"]}, r"of the agents \['agent_0'\]; here they are \['agent_0', 'agent_1'\]")
    assert_refused(env, {"objectives": ["color_1"]}, "of the objectives")
    assert_refused(env, {"mean": [[0.0]]}, r"has shapes \(1, 1\)")
    assert_refused(env, {"var": [[-1.0] * 3] * 2}, "is not one")
    assert_refused(env, {"var": [["x"] * 3] * 2}, "than numbers")


def test_bad_arguments() -> None:
    for wrong in (
        {"gamma": 1.5},
        {"gamma": float("nan")},
        {"epsilon": 0},
        {"epsilon": float("inf")},
        {"objectives": "color_9"},
    ):
        with pytest.raises(InvalidParameter, match=next(iter(wrong)).removesuffix("s")):
            NormalizeReward(gemwalk(), **wrong)
