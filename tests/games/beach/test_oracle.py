"""Rules and oracle of MO-Beach play the same episodes."""

import random
from math import exp

import numpy as np
import pytest

import momagames
from tests.games.beach.naive import Beach, splitmix64

ID = "mo-beach-v0"
CASES = [
    {},
    {"reward_mode": "team"},
    {"num_agents": 1, "sections": 2, "num_timesteps": 5},
    {"num_agents": 1, "sections": 4, "capacity": 1, "num_timesteps": 3, "reward_mode": "team"},
    {"num_agents": 2, "sections": 9, "capacity": 1, "num_timesteps": 5, "type_counts": [1, 1]},
    {"num_agents": 5, "sections": 3, "capacity": 2, "num_timesteps": 4, "type_distribution": [1, 1, 1]},
    {"num_agents": 7, "sections": 2, "num_timesteps": 2, "type_counts": [0, 7], "reward_mode": "team"},
    {"num_agents": 12, "sections": 4, "capacity": 3, "num_timesteps": 3, "type_counts": [3, 4, 5]},
    {"num_agents": 20, "sections": 5, "num_timesteps": 2, "position_distribution": [0, 1, 0, 2.5, 0]},
    {"num_agents": 24, "sections": 3, "capacity": 8, "type_distribution": [0, 0.2, 0, 5], "reward_mode": "team"},
    {
        "num_agents": 30,
        "sections": 2,
        "capacity": 10,
        "num_timesteps": 5,
        "type_distribution": [1e6, 1, 1e6, 3e5, 1e-3],
        "position_distribution": [0.1, 0.7],
        "reward_mode": "team",
    },
    {"num_agents": 40, "sections": 2, "capacity": 1000, "num_timesteps": 4, "type_counts": [7, 7, 7, 7, 6, 6]},
    {
        "num_agents": 50,
        "sections": 6,
        "num_timesteps": 3,
        "type_counts": [35, 15],
        "position_distribution": [0, 0, 0, 0, 0, 1],
        "reward_mode": "team",
    },
    {"num_agents": 56, "sections": 7, "num_timesteps": 5, "type_distribution": [0.1] * 7, "reward_mode": "team"},
    {"num_agents": 60, "sections": 2, "capacity": 30, "num_timesteps": 2, "type_distribution": [1] * 8},
    {"num_agents": 60, "sections": 9, "capacity": 5, "position_distribution": [9, 8, 7, 6, 5, 4, 3, 2, 1]},
]
WAYS = {"any": [0, 1, 2], "left": [0], "right": [2], "stay": [1]}


def close(value, expected):
    """Whether float32 values are the numbers, rounded."""
    return value.dtype == np.float32 and np.allclose(value, expected, rtol=1e-6, atol=0)


def compare(env, oracle, observations):
    """Check the position and what all agents see."""
    assert env.get_state() == oracle.state()
    assert list(observations) == env.possible_agents
    for agent, seen in enumerate(observations.values()):
        assert seen["observation"].shape == (5,)
        assert close(seen["observation"], oracle.observation(agent))
        assert seen["action_mask"].dtype == np.int8
        assert seen["action_mask"].tolist() == [int(action in oracle.legal()) for action in range(3)]


def play(env, oracle, observations, chance, way="any"):
    """Play to the end, with random actions of this way; return the rewards by agent after the last step."""
    compare(env, oracle, observations)
    while not oracle.is_over:
        assert env.agents == env.possible_agents
        actions = chance.choices(WAYS[way], k=oracle.num_agents)
        joint = dict(zip(env.possible_agents, actions, strict=True))
        observations, rewards, terminations, truncations, _ = env.step(joint)
        expected = oracle.step(actions)
        compare(env, oracle, observations)
        assert list(rewards) == env.possible_agents
        assert all(close(reward, numbers) for reward, numbers in zip(rewards.values(), expected, strict=True))
        assert terminations == dict.fromkeys(env.possible_agents, oracle.is_over)
        assert truncations == dict.fromkeys(env.possible_agents, False)
    assert env.agents == []
    return expected


def position(chance, params, keys):
    """Return any position before the end, in the form of §9, with these of the keys that may be left out."""
    game = Beach(**params)
    agents = range(game.num_agents)
    state = {"sections": [chance.randrange(game.num_sections) for _ in agents]}
    if not game.type_counts:
        state["types"] = [chance.randrange(game.num_types) for _ in agents]
    values = {"n": chance.randrange(game.last), "rng": chance.getrandbits(64)}
    return state | {key: values[key] for key in keys}


def test_splitmix64():
    """Against its published stream from 0."""
    word, outputs = 0, []
    for _ in range(3):
        word, output = splitmix64(word)
        outputs.append(output)
    assert outputs == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@pytest.mark.parametrize("seed", [0, 1, 77, 2**63 + 5])
@pytest.mark.parametrize("params", CASES, ids=str)
def test_drawn_starts(params, seed):
    """An episode from a seed, and others that continue its stream."""
    env, chance, word = momagames.make(ID, "parallel", **params), random.Random(seed), seed
    for i, way in enumerate(WAYS):
        observations, _ = env.reset(seed=seed) if i == 0 else env.reset()
        oracle = Beach.generate(word, **params)
        play(env, oracle, observations, chance, way)
        word = oracle.word


@pytest.mark.parametrize("keys", [(), ("n",), ("rng",), ("n", "rng")], ids=str)
@pytest.mark.parametrize("params", CASES, ids=str)
def test_given_positions(params, keys):
    env, chance = momagames.make(ID, "parallel", **params), random.Random(3)
    env.reset(seed=11)
    for way in WAYS:
        state = position(chance, params, keys)
        oracle = Beach.given(state, env.get_state()["rng"], **params)
        observations, _ = env.reset(options={"state": state})
        play(env, oracle, observations, chance, way)


@pytest.mark.parametrize("params", CASES, ids=str)
def test_a_position_continues(params):
    """What `get_state` gives in the middle of an episode is a start."""
    env, again = (momagames.make(ID, "parallel", **params) for _ in range(2))
    env.reset(seed=5)
    oracle, chance = Beach.generate(5, **params), random.Random(5)
    for _ in range(oracle.last // 2):
        actions = chance.choices(range(3), k=oracle.num_agents)
        env.step(dict(zip(env.agents, actions, strict=True)))
        oracle.step(actions)
    state = env.get_state()
    observations, _ = again.reset(options={"state": state})
    play(again, Beach.given(state, **params), observations, chance)
    observations, _ = again.reset()
    compare(again, Beach.generate(oracle.word, **params), observations)


@pytest.mark.parametrize("mode", ["individual", "team"])
def test_ends_of_the_beach_and_an_empty_section(mode):
    """Numbers from §3 and §5 by hand: agents that would leave stay, and section 1 is empty after the step."""
    params = {"num_agents": 5, "sections": 3, "capacity": 2, "type_counts": [3, 2], "reward_mode": mode}
    env, state = momagames.make(ID, "parallel", **params), {"sections": [0, 0, 2, 2, 1]}
    env.reset(options={"state": state})
    observations, rewards, terminations, _, _ = env.step(dict(zip(env.agents, [0, 1, 2, 1, 0], strict=True)))
    assert env.get_state()["sections"] == [0, 0, 2, 2, 0]
    seen = [observation["observation"] for observation in observations.values()]
    assert close(seen[0], [0, 0, 2, 3, 2 / 3])
    assert close(seen[2], [0, 2, 2, 2, 1 / 2])
    assert close(seen[4], [1, 0, 2, 3, 1 / 3])
    left, right = [3 * exp(-3 / 2), 1 / 3], [2 * exp(-1), 1 / 2]
    team = [left[0] + right[0], (1 / 3 + 1 / 2) / 3]
    expected = [team] * 5 if mode == "team" else [left, left, right, right, left]
    assert all(close(reward, numbers) for reward, numbers in zip(rewards.values(), expected, strict=True))
    assert all(terminations.values())
    oracle = Beach.given(state, **params)
    assert np.allclose(oracle.step([0, 1, 2, 1, 0]), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("end", [0, 2], ids=["left", "right"])
def test_all_agents_at_one_end(end):
    """They stay there for the whole episode, and get what a full section is worth."""
    params = {"num_agents": 8, "sections": 3, "capacity": 8, "num_timesteps": 4, "type_counts": [4, 4]}
    env, state = momagames.make(ID, "parallel", **params), {"sections": [end] * 8}
    observations, _ = env.reset(options={"state": state})
    oracle = Beach.given(state, env.get_state()["rng"], **params)
    rewards = play(env, oracle, observations, random.Random(0), "left" if end == 0 else "right")
    assert oracle.sections == [end] * 8
    assert np.allclose(rewards, [8 / exp(1), 1 / 2], rtol=1e-12, atol=0)


@pytest.mark.parametrize("params", CASES[2:4], ids=str)
def test_a_position_after_the_last_step_is_over(params):
    env, oracle = momagames.make(ID, "parallel", **params), Beach.generate(1, **params)
    while not oracle.is_over:
        oracle.step([2])
    observations, _ = env.reset(options={"state": oracle.state()})
    assert env.agents == []
    assert env.get_state() == oracle.state()
    assert close(observations["agent_0"]["observation"], oracle.observation(0))
    assert not observations["agent_0"]["action_mask"].any()
