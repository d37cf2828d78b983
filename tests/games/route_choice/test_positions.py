"""Positions and parameters of MO-RouteChoice: what is refused, and why; what is given back."""

import json

import numpy as np
import pytest

import momagames
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter, InvalidState
from tests.games.route_choice.cases import TOWN

ID = "mo-route-choice-v0"
PAIRS = {"agent_od": [0, 1, 1]}
BASIC = {"network": "BBraess_1", "num_agents": 3, "od_counts": [1, 2], "slope": 1}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "needs 'agent_od'"),
        ({"agent_od": [0, 1]}, r"invalid agent_od=\[0, 1\]: expected a list of 3 integers in 0..1"),
        ({"agent_od": [0, 1, 2]}, r"agent_od\[2\]=2: expected an integer in 0..1"),
        ({"agent_od": [1, 1, 1]}, r"agent_od\[0\]=1: expected an OD pair with 1 to 1 routes, as agent_0 has 1 actions"),
        ({**PAIRS, "tolled": [True] * 8}, "expected None, as toll_mode='mct'"),
        ({**PAIRS, "counts": [[1]]}, "a list for each of 2 OD pairs"),
        ({**PAIRS, "counts": [[1], [1, 0]]}, "2 agents in all, as agent_od says"),
        ({**PAIRS, "counts": [[1], [1, 1, 0]]}, "2 integers"),
        ({**PAIRS, "counts": [[1], [2, 0]], "flows": [0] * 8}, "as the counts say"),
        ({**PAIRS, "count": [[1], [2, 0]]}, "did you mean 'counts'"),
        ({**PAIRS, "od_pairs": [["s1", "t1"]]}, "the parameter `network`"),
        ({**PAIRS, "links": [["s1", "t1", 1, 2]]}, "`network` takes the start of an episode"),
        ({**PAIRS, "rng": -1}, "rng"),
    ],
)
def test_positions_that_are_refused(given, message):
    with pytest.raises(InvalidState, match=message):
        load_state(momagames.spec(ID, **BASIC), given)


def test_positions_after_the_step():
    env = momagames.make(ID, "parallel", **BASIC)
    env.reset(options={"state": {**PAIRS, "counts": [[1], [2, 0]]}})
    state = env.get_state()
    assert state["flows"] == [3, 2, 1, 2, 1, 2, 0, 0]
    assert state["latency"] == [[3], [3, 10]]
    assert env.agents == []


def test_tolls_of_a_position():
    game = momagames.spec(ID, network="BBraess_1", num_agents=3, od_counts=[1, 2], toll_mode="random")
    state = load_state(game, {**PAIRS, "tolled": [True, *[False] * 7]})[0]
    assert game.codec.save(state)["tolled"] == [True, *[False] * 7]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"network": "Braess_8"}, "did you mean"),
        ({"network": "Braess_1_4200_10_c2"}, "did you mean 'Braess_1_4200_10_c1'"),
        ({"network": 7}, "invalid network=7"),
        ({"network": "none.json"}, "none.json"),
        ({"network": TOWN | {"link": []}}, "did you mean 'links'"),
        ({"network": TOWN | {"links": []}}, "a list of 1 to 4,096"),
        ({"network": TOWN | {"links": [*TOWN["links"], TOWN["links"][0]]}}, "links=1: expected no two links"),
        ({"network": TOWN | {"links": [["north", "south", 1]]}}, r"links\[0\]"),
        ({"network": TOWN | {"links": [["north", "south", 1, -1]]}}, r"links\[0\]"),
        ({"network": TOWN | {"links": [["north", "south", 1, 1, 11, 1]]}}, "b at most 10 and c above 0"),
        ({"network": TOWN | {"od_pairs": [["north", "west"]]}}, r"od_pairs\[0\]"),
        ({"network": TOWN | {"routes": 65}}, "1..64"),
        ({"network": TOWN | {"routes": [[]]}}, "a list for each of 4 OD pairs"),
        ({"network": TOWN | {"routes": [[], [], [], []]}}, "a route of some OD pair"),
        ({"network": TOWN | {"routes": [[["north", "harbor"]], [], [], []]}}, r"routes\[0\]\[0\]"),
        ({"network": TOWN | {"routes": [[["north", "south"]] * 2, [], [], []]}}, "different routes"),
        ({"network": TOWN | {"agent_od": [3]}}, "an OD pair with routes"),
        ({"network": TOWN | {"tolled": [True]}}, "for each of 6 links"),
        ({"network": TOWN | {"positions": {"north": [0, 0]}}}, "of each node"),
        ({"network": TOWN, "demand": [1, 0, 0, 1]}, "0 for OD pairs without routes"),
        ({"network": TOWN, "demand": "all"}, "demand"),
        ({"network": TOWN, "od_counts": [1, 1, 1, 0], "num_agents": 4}, "4 in all as num_agents"),
    ],
)
def test_parameters_that_are_refused(given, message):
    with pytest.raises(InvalidParameter, match=message):
        momagames.spec(ID, **given)


def test_networks_from_files(tmp_path):
    path = tmp_path / "town.json"
    path.write_text(json.dumps(TOWN | {"positions": {"north": [0, 0], "south": [0, 2], "7": [1, 1], "harbor": [3, 0]}}))
    game, same = momagames.spec(ID, network=str(path), num_agents=5), momagames.spec(ID, network=TOWN, num_agents=5)
    assert np.array_equal(game.blank_state, same.blank_state)
    path.write_text("{")
    with pytest.raises(InvalidParameter, match="network: "):
        momagames.spec(ID, network=str(path))


def test_actions_as_text():
    game = momagames.spec(ID, num_agents=2)
    state = game.blank_state
    assert [game.human.action_name(state, k) for k in range(3)] == ["1-2-3-4", "1-3-4", "1-2-4"]
    assert [game.human.parse_action(state, text) for text in ("1-2-4", " 1 ")] == [2, 1]
    with pytest.raises(ValueError, match="'1-4' is not an action: type '1-2-3-4'"):
        game.human.parse_action(state, "1-4")
    town = momagames.spec(ID, network=TOWN, num_agents=2)
    assert town.human.action_name(state, 1) == "1"
    with pytest.raises(ValueError, match="the number of a route"):
        town.human.parse_action(state, "north-south")
