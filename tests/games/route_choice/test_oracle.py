"""Rules and oracle of MO-RouteChoice play the same episodes."""

import json
import random

import numpy as np
import pytest

import momagames
from tests.games.route_choice.cases import TOWN
from tests.games.route_choice.naive import RouteChoice

ID = "mo-route-choice-v0"
GRID = [(x, y) for x in range(8, 12) for y in range(3)]  # nodes of one and two digits: 80, .. 112
STREETS = {
    "links": [
        [10 * x + y, 10 * (x + dx) + y + dy, *([1, 2] if (x + y) % 3 else [2, 0.5, 2, 3])]
        for x, y in GRID
        for dx, dy in ((1, 0), (0, 1), (0, -1))
        if (x + dx, y + dy) in GRID
    ],
    "od_pairs": [["80", "112"], [81, 101], [112, 80], [90, 92]],
    "routes": 9,
    "demand": [3, 0.5, 0, 1.25],
}
FREE = {"links": [[1, 2, 0, 0], [1, 3, 0, 0], [3, 2, 0, 0]], "od_pairs": [[1, 2]], "routes": [[[1, 2], [1, 3, 2]]]}
POWERS = {
    "links": [[1, 2, 1, 2, 0, 5], [1, 3, 1, 2, 10, 5], [3, 2, 0.5, 0.25, 0.5, 0.1], [2, 3, 4, 0, 3, 1]],
    "od_pairs": [[1, 2], [1, 3], [2, 3]],
    "routes": 64,
}
CASES = {
    "default": {},
    "one agent": {"num_agents": 1},
    **{f"Braess_{p}": {"network": f"Braess_{p}", "num_agents": 3 * p + 4} for p in range(1, 8)},
    "Braess_3, slope": {"network": "Braess_3", "num_agents": 40, "slope": 10 / 4200},
    "Braess_2, tolls": {"network": "Braess_2", "num_agents": 25, "toll_mode": "random", "random_toll_percentage": 0.4},
    "Braess_1, no toll": {"num_agents": 7, "toll_mode": "random", "random_toll_percentage": 0},
    "Braess_5, all tolled": {"network": "Braess_5", "num_agents": 11, "toll_mode": "random", "random_toll_percentage": 1},
    "BBraess_1": {"network": "BBraess_1", "num_agents": 30, "instance_seed": 8},
    "BBraess_1, counts": {"network": "BBraess_1", "num_agents": 13, "od_counts": [0, 13], "slope": 3.5},
    "BBraess_1, slope 0": {"network": "BBraess_1", "num_agents": 6, "slope": 0, "demand": [1, 1]},
    "OW": {"network": "OW", "num_agents": 170, "instance_seed": 2**31 - 1},
    "OW, demand": {"network": "OW", "num_agents": 120, "demand": [600, 400, 0, 400.5], "toll_mode": "random"},
    "OW, counts": {"network": "OW", "num_agents": 17, "od_counts": [6, 4, 3, 4], "toll_mode": "random", "instance_seed": 4},
    "town": {"network": TOWN, "num_agents": 20},
    "town, tolls": {"network": TOWN, "num_agents": 20, "toll_mode": "random", "random_toll_percentage": 0.5},
    "town, given": {
        "network": TOWN
        | {"agent_od": [2, 0, 1, 1], "tolled": [True, False, True, False, False, False], "demand": [0, 0, 1, 0]},
        "num_agents": 4,
        "toll_mode": "random",
    },
    "town, given, other number": {"network": TOWN | {"agent_od": [2, 0, 1, 1], "demand": [1, 0, 2, 0]}, "num_agents": 5},
    "town, given, demand": {"network": TOWN | {"agent_od": [2, 0, 1, 1]}, "num_agents": 4, "demand": [0, 1, 0, 0]},
    "town, given, counts": {"network": TOWN | {"agent_od": [2, 0, 1, 1]}, "num_agents": 4, "od_counts": [0, 2, 2, 0]},
    "streets": {"network": STREETS, "num_agents": 60},
    "streets, all routes": {"network": STREETS | {"routes": 64}, "num_agents": 30, "toll_mode": "random"},
    "free": {"network": FREE, "num_agents": 3},
    "free, tolls": {"network": FREE, "num_agents": 3, "toll_mode": "random", "random_toll_percentage": 1},
    "powers": {"network": POWERS, "num_agents": 12},
}
WAYS = ["any", "first", "last"]
cases = pytest.mark.parametrize("params", CASES.values(), ids=list(CASES))


def close(value, expected):
    """Whether float32 values are the numbers, rounded."""
    return value.dtype == np.float32 and np.allclose(value, expected, rtol=1e-6, atol=1e-12)


def compare(env, oracle, observations):
    """Check the position and what all agents see."""
    given, expected = env.get_state(), oracle.state()
    for key in ("latency", "cost"):
        for some, numbers in zip(given.pop(key), expected.pop(key), strict=True):
            assert np.shape(some) == np.shape(numbers), key
            assert np.allclose(some, numbers, rtol=1e-9, atol=1e-12), key
    assert given == expected
    assert list(observations) == env.possible_agents
    for agent, seen in enumerate(observations.values()):
        size, legal = oracle.actions[agent], oracle.legal(agent)
        assert seen["observation"].dtype == np.int32
        assert seen["observation"].tolist() == oracle.observation(agent)
        assert seen["action_mask"].dtype == np.int8
        assert seen["action_mask"].tolist() == [int(action in legal) for action in range(size)]
    for name in env.possible_agents[:20]:
        assert env.observation_space(name).contains(observations[name])
    assert [env.action_space(name).n for name in env.possible_agents] == oracle.actions


def play(env, oracle, observations, chance, way="any"):
    """Play the step, with random actions of this way."""
    compare(env, oracle, observations)
    assert env.agents == env.possible_agents
    options = [oracle.legal(agent) for agent in range(oracle.num_agents)]
    actions = [{"any": chance.choice(legal), "first": legal[0], "last": legal[-1]}[way] for legal in options]
    observations, rewards, terminations, truncations, _ = env.step(dict(zip(env.possible_agents, actions, strict=True)))
    expected = oracle.step(actions)
    compare(env, oracle, observations)
    assert list(rewards) == env.possible_agents
    for reward, numbers in zip(rewards.values(), expected, strict=True):
        assert close(reward, numbers)
        assert (reward >= -1).all()
        assert (reward <= 0).all()
    assert terminations == dict.fromkeys(env.possible_agents, True)
    assert truncations == dict.fromkeys(env.possible_agents, False)
    assert env.agents == []


def position(chance, params, keys):
    """Return any position before the step, in the form of §9, with these of the keys that may be left out."""
    game = RouteChoice(**params)
    pairs = [[pair for pair, some in enumerate(game.routes) if 1 <= len(some) <= size] for size in game.actions]
    tolled = [chance.random() < 0.5 for _ in game.links] if game.toll_mode == "random" else None
    values = {"tolled": tolled, "counts": None, "flows": [0 for _ in game.links], "rng": chance.getrandbits(64)}
    return {"agent_od": [chance.choice(some) for some in pairs]} | {key: values[key] for key in keys}


@cases
def test_instances(params):
    """The same one in all episodes, and for all seeds of `reset`."""
    env, chance = momagames.make(ID, "parallel", **params), random.Random(4)
    for way in WAYS:
        observations, _ = env.reset(seed=2**63 + 5) if way == "any" else env.reset()
        play(env, RouteChoice.generate(2**63 + 5, **params), observations, chance, way)


@pytest.mark.parametrize("keys", [(), ("tolled",), ("rng",), ("tolled", "counts", "flows", "rng")], ids=str)
@cases
def test_given_positions(params, keys):
    """A given instance stays for one episode; then that of the parameters is there again."""
    env, chance = momagames.make(ID, "parallel", **params), random.Random(3)
    env.reset(seed=11)
    for way in WAYS:
        state = position(chance, params, keys)
        oracle = RouteChoice.given(state, env.get_state()["rng"], **params)
        observations, _ = env.reset(options={"state": state})
        play(env, oracle, observations, chance, way)
    observations, _ = env.reset()
    play(env, RouteChoice.generate(oracle.word, **params), observations, chance)


@cases
def test_positions_after_the_step(params):
    """They are over; flows and times may be left out."""
    env, again = (momagames.make(ID, "parallel", **params) for _ in range(2))
    observations, _ = env.reset(seed=5)
    play(env, RouteChoice.generate(5, **params), observations, random.Random(5))
    state = env.get_state()
    for given in (state, {key: state[key] for key in ("agent_od", "tolled", "counts", "rng")}):
        observations, _ = again.reset(options={"state": given})
        assert again.agents == []
        compare(again, RouteChoice.given(given, **params), observations)
    observations, _ = again.reset()
    compare(again, RouteChoice.generate(5, **params), observations)


@pytest.mark.parametrize("network", [TOWN, STREETS, POWERS], ids=["town", "streets", "powers"])
def test_networks_in_files(network, tmp_path):
    file = tmp_path / "network.json"
    file.write_text(json.dumps(network))
    env = momagames.make(ID, "parallel", network=str(file), num_agents=9)
    observations, _ = env.reset(seed=1)
    play(env, RouteChoice.generate(1, network=network, num_agents=9), observations, random.Random(1))


def test_shortest_routes_by_hand():
    """Equal sums: fewer links first, then the earlier text."""
    ends = ["1-9", "9-2", "1-10", "10-2", "1-2", "9-10"]
    constants = [1, 1, 1, 1, 2, 0]
    links = [[*name.split("-"), 0, constant] for name, constant in zip(ends, constants, strict=True)]
    game = RouteChoice(network={"links": links, "od_pairs": [[1, 2]], "routes": 64}, num_agents=1)
    assert game.routes == [[[4], [2, 3], [0, 1], [0, 5, 3]]]


def test_rewards_by_hand():
    """Braess_1 with 4 agents: two on the long route, one on each of the others; u = 2.5."""
    for mode, tolls in (
        ("mct", [15 / 10 / 3, 7.5 / 10 / 3, 7.5 / 10 / 3]),
        ("random", [0.5, 0.75 / 3 + 1 / 3, 0.75 / 3 + 1 / 3]),
    ):
        params = {"num_agents": 4, "toll_mode": mode, "random_toll_percentage": 1}
        env = momagames.make(ID, "parallel", **params)
        env.reset(seed=0)
        _, rewards, *_ = env.step(dict(zip(env.agents, [0, 1, 2, 0], strict=True)))
        latencies = [15 / 10 / 3, 17.5 / 10 / 3, 17.5 / 10 / 3]
        expected = [[-latencies[k], -tolls[k]] for k in (0, 1, 2, 0)]
        assert all(close(reward, numbers) for reward, numbers in zip(rewards.values(), expected, strict=True))
        assert np.allclose(RouteChoice.generate(0, **params).step([0, 1, 2, 0]), expected, rtol=1e-12, atol=0)
