"""Positions and parameters of MO-GemMining: what is refused, and why; what is given back."""

import numpy as np
import pytest

import momagames
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter, InvalidState

ID = "mo-gem-mining-v0"
SMALL = {"num_agents": 3, "max_connectivity": 3, "connectivity": [3, 1, 2], "workers": [1, 2, 3]}
AFTER = {"mines": [1, 1, 3], "workers_at_mine": [0, 3, 0, 3, 0], "gems": [[], [0, 1], [], [1], []]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"workers": [1, 2]}, r"invalid workers=\[1, 2\]: expected a list of 3 integers in 0..100, the workers of each agent"),
        ({"workers": [1, 2, 101]}, r"invalid workers\[2\]=101: expected an integer in 0..100"),
        ({"workers": [1, 2, 1.5]}, "3 integers in 0..100"),
        ({"workers": [[1], [2, 3]]}, "3 integers in 0..100"),
        ({"connectivity": [3, 2, 2]}, r"connectivity\[1\]=2: expected an integer in 1..1, .* set the parameter connectivity"),
        ({"connectivity": [0, 1, 1]}, "expected an integer in 1..3"),
        ({"probabilities": [[0, 1]] * 4}, r"5 rows of 2 .* a row for each of num_agents \+ max_connectivity - 1 mines"),
        ({"probabilities": [[0, 1.5]] * 5}, r"probabilities\[0\]\[1\]=1.5: expected a number in 0..1"),
        ({"probabilities": [[0, float("nan")]] * 5}, "a number in 0..1"),
        ({"mines": [1, 1, 4]}, r"invalid mines\[2\]=4: expected an integer in 2..3, the mine that each agent chose"),
        ({"mines": "all"}, "invalid mines"),
        ({"workers_at_mine": [0, 1, 0, 0, 0]}, r"expected \[0, 0, 0, 0, 0\], which follows from mines"),
        ({"gems": [[0], [], [], [], []]}, "none where no workers are"),
        ({**AFTER, "gems": [[], [1, 0], [], [], []]}, "for each of 5 mines the types in 0..1"),
        ({**AFTER, "gems": [[], [2], [], [], []]}, "the types in 0..1"),
        ({**AFTER, "gems": [[]]}, "for each of 5 mines"),
        ({"rng": -1}, "rng"),
        ({"worker": [1, 2, 3]}, "did you mean 'workers'"),
        ({}, "needs 'workers'"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InvalidState, match=message):
        load_state(momagames.spec(ID, **SMALL), given)


def test_gems_need_draws():
    game = momagames.spec(ID, **SMALL, reward_mode="expected")
    with pytest.raises(InvalidState, match="gems"):
        load_state(game, AFTER)


def test_a_given_instance_ends_with_its_episode():
    env = momagames.make(ID, "parallel", **SMALL)
    env.reset(seed=0)
    own = env.get_state()
    given = {"workers": [0, 9, 0], "connectivity": [2, 1, 1], "probabilities": [[0, 1]] * 5}
    seen, _ = env.reset(options=given)
    assert [len(one["action_mask"]) for one in seen.values()] == [3, 1, 2]
    assert [int(one["action_mask"].sum()) for one in seen.values()] == [2, 1, 1]
    assert env.get_state() == {**own, **given}
    _, rewards, *_ = env.step({"agent_0": 0, "agent_1": 0, "agent_2": 7})  # who has no choice stays
    assert env.get_state()["mines"] == [0, 1, 2]
    assert rewards["agent_0"][0] == 0
    env.reset(seed=0)
    assert env.get_state() == own


def test_positions_after_the_step_are_over():
    env = momagames.make(ID, "parallel", **SMALL)
    env.reset(options={"state": AFTER})
    assert not env.agents
    assert {key: env.get_state()[key] for key in AFTER} == AFTER


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"min_connectivity": 5}, "invalid min_connectivity=5: expected at most max_connectivity=4"),
        ({"max_workers": 0}, "min_workers"),
        ({"num_objectives": 6, "min_prob": 0.1}, "expected at most max_prob / num_objectives, 0.0833333"),
        ({"workers": [1, 2]}, "workers of each agent"),
        ({"workers": [0.5] * 20}, "invalid workers"),
        ({"workers": "many"}, "expected a list of 1 to 500 integers in 0..100"),
        ({"connectivity": [5] * 20}, "in 1..4"),
        ({"probabilities": [0.5]}, "expected a list of 1 to 507 rows of 2 to 8 numbers in 0..1"),
        ({"probabilities": [[0.5], [0.5, 0.5]]}, "expected a list of 1 to 507 rows"),
        ({"probabilities": [[0.5, 0.5]]}, "a list of 23 rows"),
    ],
)
def test_parameters_that_do_not_fit(params, message):
    with pytest.raises(InvalidParameter, match=message):
        momagames.spec(ID, **params)


def test_instances_of_any_array_are_equal():
    plain = momagames.spec(ID, **SMALL)
    arrays = momagames.spec(ID, **SMALL | {"connectivity": np.array([3, 1, 2]), "workers": (1, 2, 3)})
    assert plain.params == arrays.params
    assert plain.agent_actions == (3, 1, 2)
    assert momagames.canonical(ID, **SMALL) == momagames.canonical(ID, **SMALL | {"workers": np.array([1, 2, 3])})


def test_names_of_actions():
    human = momagames.spec(ID).human
    assert human.action_name(None, 2) == "+2"
    assert [human.parse_action(None, text) for text in ("+2", " 3", "0")] == [2, 3, 0]
    for text in ("", "left", "-1", "1000", "\u00b2"):
        with pytest.raises(ValueError, match="is not an action"):
            human.parse_action(None, text)
