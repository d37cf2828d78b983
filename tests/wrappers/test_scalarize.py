"""Scalarize, in every API."""

from __future__ import annotations

import pickle
from collections import defaultdict
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momagames
from momagames.adapters.aec import MultiObjectiveAEC
from momagames.engine.episode import random_legal
from momagames.errors import InvalidCall, InvalidParameter
from momagames.wrappers import (
    Flatten,
    HandleIllegal,
    RecordEpisodeStatistics,
    Scalarize,
    SelectObjectives,
    ShareTeamReward,
)
from tests import meteors
from tests.cases import SMALL
from tests.wrappers.games import (
    batches,
    breakthrough,
    breakthroughs,
    gemwalk,
    gemwalks,
    legal,
    play,
    rounds,
    samegame,
    samegames,
    steps,
)

WEIGHTS = {"player_0": [1.0, 0.5, 2.0, 0.25], "player_1": [0.0, -1.0, 3.0, 1.5]}
numbers = st.floats(-100, 100, allow_nan=False, width=32)


def smallest(vector: np.ndarray) -> float:
    return float(vector.min())


@given(weights=st.lists(numbers, min_size=3, max_size=3), seed=st.integers(0, 1000))
def test_scalar_return_is_weights_times_vector_return(weights: list[float], seed: int) -> None:
    env = Scalarize(samegame(num_agents=2), weights=weights)
    total = dict.fromkeys(env.possible_agents, 0.0)
    for _, rewards, _ in play(env, seed):
        for agent, reward in rewards.items():
            assert type(reward) is float
            assert env.reward_space(agent).contains(np.array(reward))
            total[agent] += reward
    np.testing.assert_allclose([*total.values()], env.unwrapped.returns @ np.array(weights), rtol=1e-12, atol=1e-9)


def test_weights_by_agent() -> None:
    env = Scalarize(breakthrough(), weights=WEIGHTS)
    total: dict[str, float] = defaultdict(float)
    for _, rewards, _ in play(env):
        for agent, reward in rewards.items():
            total[agent] += reward
    for agent, vector in zip(env.possible_agents, env.unwrapped.returns, strict=True):
        assert total[agent] == pytest.approx(vector @ np.array(WEIGHTS[agent]))
    assert env.reward_space("player_1").low == pytest.approx(0 - 1 - 3 - 1.5)
    assert env.reward_space("player_1").high == pytest.approx(0 + 1 + 3 + 1.5)


@pytest.mark.parametrize("utility", [smallest, lambda v: 1.0 + np.log1p(v.sum())])
def test_last_adds_up_utilities_of_steps(utility: Any) -> None:
    """Not the utility of the sum, and once for each step however often last() is called; u(0) need not be 0."""
    env = Scalarize(samegame(num_agents=3, team_rewards=True), utility=utility)
    inner = samegame(num_agents=3, team_rewards=True)
    rng = np.random.default_rng(0)
    env.reset(seed=5)
    inner.reset(seed=5)
    due = dict.fromkeys(env.possible_agents, 0.0)
    checked = 0
    while env.agents:
        agent = env.agent_selection
        before = deepcopy(inner.rewards), deepcopy(inner._cumulative_rewards)
        for _ in range(3):
            observation, reward, terminated, _, _ = env.last()
            assert reward == due[agent]
        np.testing.assert_equal(before, (inner.rewards, inner._cumulative_rewards))
        action = None if terminated else legal(observation["action_mask"], rng)
        env.step(action)
        inner.step(action)
        if terminated:
            continue
        due[agent] = 0.0
        for name, vector in inner.rewards.items():
            due[name] += utility(vector.astype(np.float64))
            checked += 1
    assert checked > 9


def test_returned_arrays_are_not_modified() -> None:
    env = SelectObjectives(samegame(num_agents=2, team_rewards=True), [0, 1, 2])
    held = []
    for _ in play(env):
        for agent in env.agents:
            due = env._cumulative_rewards[agent]
            held.append((due, due.copy()))
    assert any(copy.any() for _, copy in held)
    for due, copy in held:
        np.testing.assert_array_equal(due, copy)


def test_the_inner_environment_is_not_modified() -> None:
    plain, inner = samegame(num_agents=2), samegame(num_agents=2)
    for (_, rewards, _), (_, scalars, _) in zip(play(plain), play(Scalarize(inner, [1, 2, 3])), strict=True):
        for agent, vector in rewards.items():
            np.testing.assert_array_equal(vector, inner.rewards[agent])
            np.testing.assert_array_equal(plain._cumulative_rewards[agent], inner._cumulative_rewards[agent])
            assert scalars[agent] == vector @ np.array([1.0, 2.0, 3.0])


def test_simultaneous_moves_are_paid_once_a_round() -> None:
    env = Scalarize(MultiObjectiveAEC(meteors.game("meteors-v0")), utility=lambda v: 1.0 + float(v.sum()))
    for seed in range(5):
        env.reset(seed=seed)
        total: dict[str, float] = defaultdict(float)
        vectors = np.zeros(3)
        rounds_of = defaultdict(int)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            before = int(env.unwrapped.episode.state["ply"])
            env.step([int(np.flatnonzero(observation["action_mask"][0])[0]), 1])
            for name, reward in env.rewards.items():
                total[name] += reward
            rounds_of[agent] += 1
            assert int(env.unwrapped.episode.state["ply"]) > before or not any(env.rewards.values())
        vectors = env.unwrapped.returns.sum(axis=1)
        for i, name in enumerate(env.possible_agents):
            assert total[name] == pytest.approx(vectors[i] + rounds_of[name])


def test_copies_and_pickles_go_on_alike() -> None:
    env = Scalarize(samegame(num_agents=2), weights=[1, 2, 3])
    env.reset(seed=2)
    rng = np.random.default_rng(0)
    env.step(legal(env.observe(env.agent_selection)["action_mask"], rng))
    for twin in (deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.last(observe=False)[1] == env.last(observe=False)[1]
        before = deepcopy(env)
        action = legal(twin.observe(twin.agent_selection)["action_mask"], rng)
        twin.step(action)
        before.step(action)
        assert twin.rewards == before.rewards
        assert twin._cumulative_rewards == before._cumulative_rewards


def test_set_weights() -> None:
    env = Scalarize(gemwalk(), weights=[1, 1])
    env.set_weights([0, 0])
    assert all(rewards["agent_0"] == 0.0 for _, rewards, _ in play(env))
    assert env.reward_space("agent_0").high == 0
    with pytest.raises(InvalidParameter, match=r"shape \(3,\); needed: \(2,\)"):
        env.set_weights([1, 2, 3])


def test_parallel_api() -> None:
    env, plain = Scalarize(breakthrough("parallel"), weights=WEIGHTS), breakthrough("parallel")
    for step, vectors in zip(rounds(env), rounds(plain), strict=True):
        for agent, reward in step[1].items():
            assert type(reward) is float
            assert reward == pytest.approx(vectors[1][agent].astype(float) @ np.array(WEIGHTS[agent]))


def test_gymnasium_api() -> None:
    env, plain = Scalarize(gemwalk("gymnasium"), weights=[1, 2]), gemwalk("gymnasium")
    for step, vectors in zip(steps(env), steps(plain), strict=True):
        assert type(step[1]) is float
        assert step[1] == vectors[1] @ np.array([1.0, 2.0])
        np.testing.assert_array_equal(step[4]["vector_reward"], vectors[1])


def test_vector_api() -> None:
    env, plain = Scalarize(samegames(), weights=[1, 2, 3]), samegames()
    for step, vectors in zip(batches(env), batches(plain), strict=True):
        assert step[0].shape == (6,)
        np.testing.assert_array_equal(step[0], vectors[0] @ np.array([1.0, 2.0, 3.0]))
    env, plain = Scalarize(breakthroughs(), weights=WEIGHTS), breakthroughs()
    weights = np.array([*WEIGHTS.values()])
    for step, vectors in zip(batches(env), batches(plain), strict=True):
        assert step[0].shape == (6, 2)
        np.testing.assert_allclose(step[0], (vectors[0].astype(float) * weights).sum(-1), atol=1e-12)
        assert all(env.reward_space.contains(row) for row in step[0])


def test_utility_in_a_batch_skips_resets() -> None:
    env = Scalarize(samegames(), utility=lambda v: 1.0 + float(v.sum()))
    was_reset = np.zeros(6, bool)
    seen = 0
    for rewards, over, *_ in batches(env):
        np.testing.assert_array_equal(rewards[was_reset], 0)
        assert (rewards[~was_reset] > 1).all()
        seen += was_reset.sum()
        was_reset = over
    assert seen > 0


BAD = {
    r"shape \(3,\); needed: \(4,\), one for each of win, speed, captures, losses": [1, 2, 3],
    "not finite": [1, 2, float("nan"), 3],
    "are not numbers; needed": ["a", "b", "c", "d"],
    r"names? the agent 'player_2'.*did you mean 'player_": {"player_2": [1, 2, 3, 4]},
    "no weights for 'player_1'": {"player_0": [1, 2, 3, 4]},
}


@pytest.mark.parametrize("message", BAD)
@pytest.mark.parametrize("api", ["aec", "parallel", "vector"])
def test_bad_weights(message: str, api: str) -> None:
    env = breakthroughs() if api == "vector" else breakthrough(api)
    with pytest.raises(InvalidParameter, match=message):
        Scalarize(env, weights=BAD[message])


def test_bad_calls() -> None:
    with pytest.raises(InvalidParameter, match=r"weights=\.\.\. or utility=\.\.\., one of them"):
        Scalarize(gemwalk())
    with pytest.raises(InvalidParameter, match="one of them"):
        Scalarize(gemwalk(), [1, 1], utility=smallest)
    with pytest.raises(InvalidParameter, match="expected a function of a reward vector"):
        Scalarize(gemwalk(), utility=[1, 1])
    with pytest.raises(InvalidCall, match="rewards are scalar"):
        Scalarize(Scalarize(gemwalk(), [1, 1]), [1])
    env = Scalarize(gemwalk(), utility=lambda v: float("nan"))
    with pytest.raises(InvalidParameter, match=r"utility of agent_0 gave nan for \["):
        list(play(env))
    env = Scalarize(gemwalk(), utility=lambda v: v)
    with pytest.raises(InvalidParameter, match="needed: a finite number"):
        list(play(env))


def test_calls_before_reset_are_rejected_by_the_environment() -> None:
    with pytest.raises(InvalidCall, match="before reset"):
        Scalarize(gemwalk(), [1, 1]).step(0)


PUBLISHED = {"delivery": 5.0, "pickup": 1.0, "dock": 1.0, "stand": -0.1, "move": -0.1, "skip": -0.1, "charge": 0.0}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"objectives": "clock"},
        {"objectives": "team"},
        {"with_battery": False},
        {"objectives": ["step_cost", "dock", "pickup", "delivery"]},
    ],
    ids=str,
)
def test_published_weights_make_the_reward_of_the_original(params: dict[str, Any]) -> None:
    env = Scalarize(momagames.make("mo-robotmail-4-v0", max_step=400, **params), weights="published")
    policy = momagames.registry.policy("nearest", env.unwrapped.game)
    rng, events = np.random.default_rng(0), set()
    for seed in range(3):
        env.reset(seed=seed)
        while not any((*env.terminations.values(), *env.truncations.values())):
            agent = env.agent_selection
            env.step(env.unwrapped.episode.choose_action(env.unwrapped.episode.mover, policy, rng))
            event = env.infos[agent]["event"]
            events.add(event)
            assert env.rewards.pop(agent) == PUBLISHED[event]  # to the bit
            assert not any(env.rewards.values())
    assert events >= {"move", "pickup", "delivery"}


def test_published_weights_of_shared_and_selected_rewards() -> None:
    shared = Scalarize(ShareTeamReward(momagames.make("mo-robotmail-4-v0")), weights="published")
    shared.reset(seed=1)
    shared.step(shared.unwrapped.game.actions[0] - 1)
    assert shared.rewards == {"robot_0": -0.1, "robot_1": -0.1, "robot_2": 0.0, "robot_3": 0.0}
    some = SelectObjectives(momagames.make("mo-robotmail-4-v0", objectives="team"), ["step_cost", "dock", "pickup", "delivery"])
    assert Scalarize(some, weights="published").reward_space("robot_0").low == -0.1


def test_published_weights_that_there_are_not() -> None:
    core = momagames.make("mo-robotmail-v0")
    for env, weights, message in (
        (core, "publshed", "expected one number for each objective, or 'published'"),
        (SelectObjectives(core, ["delivery", "dock"]), "published", "'pickup' or 'step_cost' is left out"),
        (momagames.make("mo-robotmail-v0", objectives="delivery"), "published", "mo-robotmail-v0 has none for its objectives"),
        (gemwalk(), "published", "expected one number for each of"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            Scalarize(env, weights=weights)


def test_infos_have_the_vector_from_the_first_reset_on() -> None:
    """So that all infos have one structure, as collectors of infos require."""
    gym, vectors = Scalarize(gemwalk("gymnasium"), weights=[1, 2]), Scalarize(gemwalks(4), weights=[1, 2])
    many = Scalarize(breakthroughs(4), weights=WEIGHTS)
    for env, step, shape in (
        (gym, lambda env: int(env.action_masks().argmax()), (2,)),
        (vectors, lambda env: env.sample_actions(), (4, 2)),
        (many, lambda env: env.sample_actions(), (4, 2, 4)),
    ):
        for _ in range(2):
            first = env.reset(seed=1)[1]
            assert first["vector_reward"].dtype == np.float32
            assert first["vector_reward"].shape == shape
            assert not first["vector_reward"].any()
            later = env.step(step(env))[4]
            assert later.keys() == first.keys()
            assert later["vector_reward"].shape == shape
    reset = {"reset_mask": np.array([True, False, False, False])}
    assert vectors.reset(options=reset)[1]["vector_reward"].shape == (4, 2)


@pytest.mark.parametrize("id", ["mo-breakthrough-v0", "mo-pommerman-radio-v0", "mo-robotmail-4-v0"])
def test_infos_of_aec_have_the_vector_of_each_reward(id: str) -> None:
    params = SMALL[id][0]
    core, inner = momagames.make(id, **params), momagames.make(id, **params)
    weights = np.arange(1.0, len(core.game.objectives) + 1)
    wrapped = Scalarize(HandleIllegal(inner, "next"), weights=weights)
    for env in (wrapped, Flatten(RecordEpisodeStatistics(wrapped))):
        core.reset(seed=3)
        env.reset(seed=3)
        assert all(not info["vector_reward"].any() for info in env.infos.values())
        rng, seen = np.random.default_rng(0), []
        for agent in env.agent_iter(60):
            _, reward, terminated, truncated, info = env.last()
            vector = core.last()[1]
            assert info["vector_reward"].dtype == np.float32
            np.testing.assert_array_equal(info["vector_reward"], vector)
            for one, infos in env.infos.items():
                np.testing.assert_array_equal(infos["vector_reward"], core._cumulative_rewards[one])
            assert reward == pytest.approx(vector @ weights, rel=1e-6)
            seen.append((info["vector_reward"], vector))
            mask = core.observe(agent)["action_mask"]
            action = None if terminated or truncated else random_legal(np.hstack(mask), core.game.actions, rng)
            core.step(action)
            env.step(action)
        for earlier, vector in seen:  # later steps do not change it
            np.testing.assert_array_equal(earlier, vector)


def test_minari_collects_infos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    made = Scalarize(gymnasium.make("momagames/mo-gemwalk-v0"), weights=[1, 1])
    env = minari.DataCollector(made, record_infos=True)
    _, info = env.reset(seed=1)
    for _ in range(30):
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        if terminated or truncated:
            _, info = env.reset()
    collected = env.create_dataset("gemwalk/infos-v0")
    assert collected[0].infos["vector_reward"].shape[1] == 2
    env.close()
