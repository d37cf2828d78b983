"""Exact fronts of MO-ItemGathering with central control, and what they say about its settings."""

import numpy as np
import pytest

import momagames
from momagames import fronts
from momagames.analysis.tradeoffs import measure_tradeoffs
from momagames.baselines.exact import clairvoyant_front, exact_front

compiled = pytest.mark.compiled
ID = "mo-item-gathering-v0"
# Map, steps and the front: computed with other code, by a search over cells of agents and taken items
KNOWN = [
    ("default", 6, [[1, 3, 1], [3, 2, 1]]),
    ("default", 7, [[1, 3, 1], [2, 2, 2], [3, 1, 2], [3, 2, 1]]),
    ("default", 8, [[2, 3, 2], [3, 2, 2], [3, 3, 1]]),
    ("default", 10, [[3, 3, 2]]),
    (["00321", "04040", "00304", "30022", "00000"], 5, [[1, 1, 1], [1, 2, 0], [2, 0, 2], [3, 0, 1]]),
    (["00321", "04040", "00304", "30022", "00000"], 10, [[1, 2, 3], [1, 3, 1], [2, 3, 0], [3, 1, 3], [3, 2, 2]]),
    (["200100", "023300", "322100", "000300"], 3, [[3, 3], [4, 0]]),
    (["200100", "023300", "322100", "000300"], 5, [[4, 4]]),
    (["2501", "0130", "5024", "3410"], 3, [[2, 2, 2, 2]]),
]
TRADE_OFFS = [("corners", 9, 30, 0.28), ("orchard", 7, 14, 0.46)]  # and the share of the best single point


def solve(map, steps, solver=exact_front):
    game = momagames.spec(ID, initial_map=map, num_timesteps=steps, control="central")
    return solver(game, max_states=1_000_000, max_bytes=1 << 30)


def test_a_front_by_hand():
    """Two agents between two items of each type, of which they take one side."""
    assert solve(["21.", "..3", "213"], 1).points.tolist() == [[1, 1], [2, 0]]


@compiled
@pytest.mark.parametrize(("map", "steps", "front"), KNOWN, ids=str)
def test_known_fronts(map, steps, front):
    assert solve(map, steps).points.tolist() == front


@compiled
@pytest.mark.parametrize(("map", "steps"), [("default", 6), (KNOWN[4][0], 5), ("alone", 7)], ids=str)
def test_a_search_by_plies_finds_the_same(map, steps):
    """It follows agents by name, without keys."""
    assert solve(map, steps, clairvoyant_front).points.tolist() == solve(map, steps).points.tolist()


@compiled
def test_a_team_of_two_takes_all_items_of_the_default_map():
    """So the default game has no trade-off in the team mode: the front is the point of all items, from 9 steps on."""
    assert [len(solve("default", steps).points) for steps in (8, 9, 10)] == [3, 1, 1]
    found = measure_tradeoffs(solve("default", 10).points)
    assert "one policy is enough" in found.list_failures()


@compiled
@pytest.mark.parametrize(("map", "steps", "points", "share"), TRADE_OFFS, ids=str)
def test_trade_offs(map, steps, points, share):
    front = solve(map, steps).points
    assert len(front) == points
    found = measure_tradeoffs(front)
    assert found.list_failures() == []
    assert round(found.single_share, 2) == share


@compiled
def test_witnesses_hold_for_agents_that_move_themselves():
    """The joint actions of a plan, taken apart, give every agent of a team the point, for any random word."""
    found = solve("corners", 8)
    env = momagames.make(ID, "parallel", initial_map="corners", num_timesteps=8, reward_mode="team")
    for point, witness in zip(found.points[:5], found.witnesses[:5], strict=True):
        for word in (0, 7):
            env.reset(seed=word)
            total = np.zeros(4)
            for joint in witness:
                total += env.step({"agent_0": joint % 5, "agent_1": joint // 5})[1]["agent_1"]
            assert total.tolist() == point.tolist()
            assert not env.agents


@compiled
def test_packaged_fronts():
    named = [name for name in fronts.packaged_fronts() if name.startswith(ID)]
    assert len(named) == 7
    for name in named:
        fronts.verify(fronts.load_front(name))
