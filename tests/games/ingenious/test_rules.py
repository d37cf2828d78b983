"""Kernels of MO-Ingenious beside the rules: random actions without the mask, equivalent actions, keys, features."""

import copy
from itertools import permutations

import numpy as np
import pytest

import momagames
from momagames.baselines import exact
from momagames.contract import Game
from momagames.engine import masks
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter, InvalidState
from momagames.games.ingenious import learning, rules
from momagames.games.ingenious.codec import find_geometry
from momagames.kernels.jit import compile_entry_point
from momagames.kernels.rng import random_words
from tests.games.ingenious.naive import Ingenious

ID = "mo-ingenious-v0"
TINY = {"board_size": 3, "num_colors": 2, "rack_size": 2}
TEAM = {**TINY, "reward_mode": "collaborative", "fixed_bag": True}
legal, step, sample_action = rules.legal, rules.step, rules.sample_action
prune, write_key, write_features = rules.prune_equivalent_actions, rules.write_state_key, learning.write_features
sample_legal = masks.sample_legal


def compare_samples(states, words, mask, actions, reward):
    """Return how many steps random games had, and how many samples differ from a choice from the mask."""
    steps = wrong = 0
    for i in range(states.shape[0]):
        state = states[i]
        while not state["over"]:
            mover = np.int64(state["to_move"])
            wrong += sample_action(state, 1 - mover, words[i]) != 0
            legal(state, mover, mask)
            actions[0, 0] = sample_legal(mask, words[i])
            wrong += sample_action(state, mover, words[i]) != actions[0, 0]
            step(state, actions, reward)
            steps += 1
    return steps, wrong


def run_prune(states, mask):
    legal(states[0], np.int64(states[0]["to_move"]), mask)
    prune(states[0], mask)


def run_key(states, words):
    write_key(states[0], words)


def run_features(states, out):
    write_features(states[0], out)


def call(function, *arguments):
    return compile_entry_point(function, f"tests.ingenious_rules.{function.__name__}")(*arguments)


def make_state(params, **position):
    game = momagames.spec(ID, **params)
    return game, load_state(game, position)


def make_position(params, cells, racks, **more):
    """Return a position with these colors on cells, apart from the corners."""
    geometry = find_geometry(params["board_size"] - 1)
    corners = {cell: number for number, cell in enumerate(geometry.corners, 1)}
    board = [(corners | cells).get(cell, 0) for cell in geometry.cells]
    return {"board": board, "racks": racks, "first_round": False, **more}


def test_random_actions_need_no_mask():
    game = momagames.spec(ID, **TINY)
    envs = momagames.make_vec(ID, 4, **TINY)
    envs.reset(seed=1)
    states = envs.batch.states.copy()
    steps, wrong = call(
        compare_samples, states, random_words(3, 4), np.zeros(game.mask_size, np.int8), np.zeros((1, 1), np.int64),
        np.zeros((2, 2), np.float32),
    )  # fmt: skip
    assert steps >= 16
    assert wrong == 0


def test_pruned_actions_are_equivalent_to_remaining_ones():
    params = {**TINY, "rack_size": 3}
    for racks in ([[1, 1], [1, 1], [1, 2]], [[1, 2], [1, 2], [2, 2]]):
        game, states = make_state(params, **make_position(params, {(0, 0): 1, (0, 1): 2}, [racks, racks], upcoming=[[1, 1]]))
        mask = np.zeros(game.mask_size, np.int8)
        call(run_prune, states, mask)
        oracle = Ingenious.given(game.codec.save(states[0]), **params)
        found = {True: set(), False: set()}
        for action in oracle.legal(oracle.mover):
            after = copy.deepcopy(oracle)
            after.step(action)
            place = str(after.state() | {"racks": [sorted(rack) for rack in after.state()["racks"]]})
            found[bool(mask[action])].add(place)
        assert found[False] <= found[True]
        assert len(found[True]) == mask.sum()


def test_keys_tell_positions_with_different_futures_apart():
    cells, racks = {(0, 0): 1, (0, 1): 2}, [[[1, 1], [1, 2]], [[2, 2], [1, 2]]]
    order = [[1, 1], [2, 2], [1, 2]]

    def find_key(rows=racks, **changes):
        game, states = make_state(TEAM, **{**make_position(TEAM, cells, rows, upcoming=order), **changes})
        words = np.zeros(game.search.exact.key_words, np.uint64)
        call(run_key, states, words)
        return words.tobytes()

    usual = find_key()
    assert {find_key([list(one), racks[1]]) for one in permutations(racks[0])} == {usual}
    others = [
        find_key([racks[1], racks[0]]),
        find_key(next_agent="agent_1"),
        find_key(first_round=True),
        find_key(scores=[[1, 0], [1, 0]]),
        find_key(upcoming=order[::-1]),
        find_key(upcoming=order[:2]),
        find_key(**make_position(TEAM, {(0, 0): 2, (0, 1): 1}, racks, upcoming=order)),
    ]
    assert len({usual, *others}) == 1 + len(others)


def test_features_are_gains_of_single_cells():
    game, states = make_state(TEAM, **make_position(TEAM, {(0, 0): 1, (1, -1): 1, (0, 1): 2}, [[[1, 1]], [[1, 2]]]))
    out = np.ones((2, 2))
    call(run_features, states, out)
    board = {cell: int(digit) for cell, digit in zip(find_geometry(2).cells, game.codec.save(states[0])["board"], strict=True)}
    for color in (1, 2):
        gains = []
        for q, r in (cell for cell, number in board.items() if number == 0):
            gain = 0
            for dq, dr in ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1)):
                k = 1
                while board.get((q + k * dq, r + k * dr)) == color:
                    gain, k = gain + 1, k + 1
            gains.append(gain)
        assert out[:, color - 1].tolist() == [sum(gains), max(gains)]


def test_features_follow_the_selected_objectives():
    names = ("color_2", "win", "color_1")
    position = make_position(TINY, {(0, 0): 1, (1, -1): 1, (0, 1): 2}, [[[1, 1]], [[1, 2]]])
    _, states = make_state(TINY, **position)
    colors, out = np.ones((2, 2)), np.ones((2, 3))
    call(run_features, states, colors)
    game, states = make_state({**TINY, "objectives": names}, **position)
    call(run_features, states, out)
    assert game.learning.objective_features.exchangeable_objectives == ((0, 2),)
    assert out[:, [2, 0]].tolist() == colors.tolist()
    assert not out[:, 1].any()


@pytest.mark.parametrize(
    ("scores", "winners"),
    [
        ([[5, 1, 3], [2, 2, 2], [9, 0, 9]], [1]),
        ([[5, 1, 3], [3, 5, 1], [9, 0, 9]], []),
        ([[5, 1, 3], [3, 5, 1], [2, 9, 1]], []),
        ([[5, 1, 3], [3, 5, 1], [1, 6, 3]], [2]),
        ([[1, 1, 9], [1, 2, 2], [1, 2, 2]], []),
        ([[4, 4, 4], [4, 4, 4], [4, 4, 3]], []),
        ([[4, 4, 5], [3, 9, 9], [4, 4, 4]], [0]),
    ],
)
def test_the_last_step_says_who_won(scores, winners):
    """The last two cells are filled with a tile that gives no points."""
    params = {"num_agents": 3, "num_colors": 3, "rack_size": 2, "board_size": 3, "objectives": ["win", "color_1"]}
    geometry = find_geometry(2)
    cells = {(q, r): 1 + (q - r) % 2 for q, r in geometry.cells if (q, r) not in geometry.corners} | {(0, 0): 0, (0, 1): 0}
    env = momagames.make(ID, **params)
    env.reset(options={"state": make_position(params, cells, [[[3, 3]], [], []], scores=scores)})
    before = env.get_state()
    env.step(int(np.flatnonzero(env.observe("agent_0")["action_mask"])[0]))
    assert env.get_state()["scores"] == before["scores"]
    assert env.infos["agent_0"]["winners"] == [f"agent_{agent}" for agent in winners]
    expected = [0, 0, 0] if not winners else [1 if agent in winners else -1 for agent in range(3)]
    assert [env.rewards[agent].tolist() for agent in env.possible_agents] == [[number, 0] for number in expected]


def test_objectives_by_name():
    objectives = momagames.spec(ID, num_colors=3, objectives=("color_3", "win")).objectives
    assert [(one.name, one.zero_sum) for one in objectives] == [("color_3", False), ("win", True)]
    for params in ({"num_agents": 3}, {"num_agents": 4, "reward_mode": "two_teams"}):
        assert not momagames.spec(ID, **params, objectives="win").objectives[0].zero_sum
    assert "objectives" not in momagames.spec(ID).params
    for name, params in (("color_4", {"num_colors": 3}), ("win", {"reward_mode": "collaborative"})):
        with pytest.raises(InvalidParameter, match=f"invalid objectives='{name}': expected 'color_1'"):
            momagames.spec(ID, **params, objectives=[name])


def solve(oracle):
    """Return the returns of all plays of a team, as a set."""
    if oracle.over:
        return {(0, 0)}
    found = set()
    for action in oracle.legal(oracle.mover):
        after = copy.deepcopy(oracle)
        reward = after.step(action)[0]
        found |= {tuple(int(r) + v for r, v in zip(reward, value, strict=True)) for value in solve(after)}
    return found


def test_exact_fronts_are_those_of_all_plays():
    cells = {(0, 0): 1, (0, 1): 2, (1, 0): 1, (0, -1): 2, (-1, 1): 1, (1, 1): 2}
    racks = [[[1, 1], [1, 2]], [[2, 2], [1, 2]]]
    for upcoming in ([[1, 1], [2, 2], [1, 2], [2, 2], [1, 1]], [[2, 2], [2, 2], [2, 2], [1, 1], [1, 2]]):
        position = make_position(TEAM, cells, racks, bag=[upcoming.count([a, b]) for a, b in ((1, 1), (1, 2), (2, 2))])
        game, states = make_state(TEAM, **position, upcoming=upcoming)
        front = exact.pareto_front(game, game.codec.save(states[0]), max_states=10**6, max_bytes=1 << 28)
        plays = solve(Ingenious.given(game.codec.save(states[0]), **TEAM))
        best = {v for v in plays if not any(u != v and all(a >= b for a, b in zip(u, v, strict=True)) for u in plays)}
        assert {tuple(map(int, point)) for point in front.points} == best
        assert len(plays) > 3


def test_agents_need_a_team_for_a_front():
    assert isinstance(momagames.spec(ID, **TEAM), Game)
    with pytest.raises(InvalidParameter, match="2 agents with rewards of their own"):
        exact.pareto_front(momagames.spec(ID, **TEAM | {"reward_mode": "competitive"}), max_states=10, max_bytes=1 << 20)
    with pytest.raises(InvalidParameter, match="chance during play"):
        exact.pareto_front(momagames.spec(ID, **TEAM | {"fixed_bag": False}), max_states=10, max_bytes=1 << 20)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"num_agents": 4, "num_colors": 3}, r"num_agents=4: expected at most num_colors, 3"),
        ({"num_agents": 3, "reward_mode": "two_teams"}, r"num_agents=3: expected an even number with reward_mode='two_teams'"),
    ],
)
def test_parameters_that_do_not_fit(params, message):
    with pytest.raises(InvalidParameter, match=message):
        momagames.spec(ID, **params)


RACKS = [[[1, 1], [1, 2]], [[2, 2], [1, 2]]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"board": "0" * 19}, r"board cell \(-2, 0\)=0: expected 4, the color of this corner"),
        ({"board": "40500000300000620301"}, "invalid board"),
        ({"board": "4053000300060000201"}, r"board cell \(-1, -1\)=3: expected 0 \(empty\), or a color in 1[.][.]2"),
        ({"racks": [[[1, 1]]]}, "a list with an entry for each of 2 agents"),
        ({"racks": [[[2, 1]], [[1, 1]]]}, "at most 2 tiles"),
        ({"racks": [[["x"]], [[1, 1]]]}, "at most 2 tiles"),
        ({"racks": [[], [[1, 1]]]}, "agent_0, the agent to move, has no tile"),
        ({"scores": [[1, 2], [1, 3]]}, "equal scores of the agents of a team"),
        ({"scores": [[1], [1]]}, "invalid scores"),
        ({"bag": [1, 2]}, "3 integers in 0[.][.]200"),
        ({"bag": [0, 0, 0], "upcoming": [[1, 1]]}, r"upcoming has more tiles \[1, 1\] than the bag, which has 0"),
        ({"next_agent": "agent_2"}, "one of agent_0, agent_1, or its index"),
        ({"first_round": 3}, "first_round=3: expected True or False"),
    ],
)
def test_impossible_positions_are_rejected_with_the_reason(changes, message):
    with pytest.raises(InvalidState, match=message):
        make_state(TEAM, **{**make_position(TEAM, {}, RACKS), **changes})


def test_what_a_position_leaves_out():
    game, states = make_state(TEAM, board=["405", "0000", "30006", "0000", "201"], racks=RACKS)
    found = game.codec.save(states[0])
    assert found["bag"] == [39, 38, 39]
    assert (found["first_round"], found["ply"], found["next_agent"]) == (True, 0, "agent_0")
    full = {cell: 2 for cell in find_geometry(2).cells if cell not in find_geometry(2).corners}
    assert make_state(TEAM, **make_position(TEAM, full, RACKS))[1]["over"][0]
    again = game.codec.read(game.codec.show(states[0]))
    assert game.codec.save(load_state(game, again)[0]) == found
