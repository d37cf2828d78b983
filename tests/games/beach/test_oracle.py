"""Rules and oracle of MO-Beach play the same episodes."""

from math import exp

import numpy as np
import pytest

import momagames
from tests.games.beach.naive import Beach, splitmix64
from tests.games.joint import SEEDS, WAYS, JointGame, equal

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


def position(chance, params, keys):
    """Return any position before the end, in the form of §9, with these of the keys that may be left out."""
    game = Beach(**params)
    agents = range(game.num_agents)
    state = {"sections": [chance.randrange(game.num_sections) for _ in agents]}
    if not game.type_counts:
        state["types"] = [chance.randrange(game.num_types) for _ in agents]
    values = {"n": chance.randrange(game.last), "rng": chance.getrandbits(64)}
    return state | {key: values[key] for key in keys}


GAME = JointGame(ID, Beach, position, {"observation": np.float32}, {**WAYS, "stay": lambda legal: [1]})
cases = pytest.mark.parametrize("params", CASES, ids=str)


def test_splitmix64():
    """Against its published stream from 0."""
    word, outputs = 0, []
    for _ in range(3):
        word, output = splitmix64(word)
        outputs.append(output)
    assert outputs == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@pytest.mark.parametrize("seed", SEEDS)
@cases
def test_drawn_starts(params, seed):
    GAME.play_seeds(params, seed)


@pytest.mark.parametrize("keys", [(), ("n",), ("rng",), ("n", "rng")], ids=str)
@cases
def test_given_positions(params, keys):
    GAME.play_positions(params, keys)


@cases
def test_a_position_continues(params):
    """What `get_state` gives in the middle of an episode is a start, and after it a position that is over."""
    last = params.get("num_timesteps", 1)
    for steps in (last // 2, last):
        GAME.play_on(params, steps)


@pytest.mark.parametrize("mode", ["individual", "team"])
def test_ends_of_the_beach_and_an_empty_section(mode):
    """Numbers from §3 and §5 by hand: agents that would leave stay, and section 1 is empty after the step."""
    params = {"num_agents": 5, "sections": 3, "capacity": 2, "type_counts": [3, 2], "reward_mode": mode}
    env, state = momagames.make(ID, "parallel", **params), {"sections": [0, 0, 2, 2, 1]}
    env.reset(options={"state": state})
    observations, rewards, terminations, _, _ = env.step(dict(zip(env.agents, [0, 1, 2, 1, 0], strict=True)))
    assert env.get_state()["sections"] == [0, 0, 2, 2, 0]
    seen = [observation["observation"] for observation in observations.values()]
    assert equal(seen[0], np.float32, [0, 0, 2, 3, 2 / 3])
    assert equal(seen[2], np.float32, [0, 2, 2, 2, 1 / 2])
    assert equal(seen[4], np.float32, [1, 0, 2, 3, 1 / 3])
    left, right = [3 * exp(-3 / 2), 1 / 3], [2 * exp(-1), 1 / 2]
    team = [left[0] + right[0], (1 / 3 + 1 / 2) / 3]
    expected = [team] * 5 if mode == "team" else [left, left, right, right, left]
    assert all(equal(reward, np.float32, numbers) for reward, numbers in zip(rewards.values(), expected, strict=True))
    assert all(terminations.values())
    oracle = Beach.given(state, **params)
    assert np.allclose(oracle.step([0, 1, 2, 1, 0]), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("end", "way"), [(0, "first"), (2, "last")])
def test_all_agents_at_one_end(end, way):
    """They stay there for the whole episode, and get what a full section is worth."""
    params = {"num_agents": 8, "sections": 3, "capacity": 8, "num_timesteps": 4, "type_counts": [4, 4]}
    oracle, returns = GAME.play_given(GAME.make(params), params, {"sections": [end] * 8}, way=way)
    assert oracle.sections == [end] * 8
    assert np.allclose(returns, [8 / exp(1), 1 / 2], rtol=1e-12, atol=0)
