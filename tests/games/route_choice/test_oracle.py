"""Rules and oracle of MO-RouteChoice play the same episodes."""

import json
import random

import numpy as np
import pytest

import momagames
from tests.games.joint import SEEDS, JointGame, equal
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
cases = pytest.mark.parametrize("params", CASES.values(), ids=list(CASES))


def position(chance, params, keys):
    """Return any position before the step, in the form of §9, with these of the keys that may be left out."""
    game = RouteChoice(**params)
    pairs = [[pair for pair, some in enumerate(game.routes) if 1 <= len(some) <= size] for size in game.actions]
    tolled = [chance.random() < 0.5 for _ in game.links] if game.toll_mode == "random" else None
    values = {"tolled": tolled, "counts": None, "flows": [0 for _ in game.links], "rng": chance.getrandbits(64)}
    return {"agent_od": [chance.choice(some) for some in pairs]} | {key: values[key] for key in keys}


GAME = JointGame(ID, RouteChoice, position, {"observation": np.int32})


@cases
def test_instances(params):
    """The same one in all episodes, and for all seeds of `reset`."""
    GAME.play_seeds(params, SEEDS[-1])


@pytest.mark.parametrize("keys", [(), ("tolled",), ("rng",), ("tolled", "counts", "flows", "rng")], ids=str)
@cases
def test_given_positions(params, keys):
    GAME.play_positions(params, keys)


@cases
def test_positions_after_the_step(params):
    """They are over; flows and times may be left out."""
    GAME.play_on(params, 1, without=("flows", "latency", "cost"))


@pytest.mark.parametrize("network", [TOWN, STREETS, POWERS], ids=["town", "streets", "powers"])
def test_networks_in_files(network, tmp_path):
    file = tmp_path / "network.json"
    file.write_text(json.dumps(network))
    env = momagames.make(ID, "parallel", network=str(file), num_agents=9)
    observations, _ = env.reset(seed=1)
    GAME.play(env, RouteChoice.generate(1, network=network, num_agents=9), observations, random.Random(1))


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
        assert all(equal(reward, np.float32, numbers) for reward, numbers in zip(rewards.values(), expected, strict=True))
        assert np.allclose(RouteChoice.generate(0, **params).step([0, 1, 2, 0]), expected, rtol=1e-12, atol=0)
