"""Exact fronts against a brute force in plain sets and dicts, against scalar optima, and against the public door."""

from __future__ import annotations

import dataclasses
import itertools
import os
import random

import numpy as np
import pytest

import momagames
from momagames.baselines import exact
from momagames.baselines.exact import search as loops
from momagames.baselines.exact import solve
from momagames.baselines.exact.packed import packed
from momagames.contract import Objective, SearchSupport
from momagames.errors import InvalidParameter, InvalidState, TooLarge
from momagames.games.samegame import rules
from momagames.kernels.jit import kernel

ID = "mo-samegame-v0"
ROOMY = {"max_states": 1_000_000, "max_bytes": 1 << 28}
# height, width, colours, boards, parameters
SIZES = [
    (3, 3, 2, 60, {}),
    (3, 4, 3, 40, {}),
    (4, 3, 3, 40, {}),
    (5, 3, 2, 20, {}),
    (4, 4, 3, 40, {}),
    (4, 5, 3, 20, {}),
    (3, 4, 5, 20, {}),
    (4, 4, 10, 20, {}),
    (4, 4, 3, 20, {"color_rewards": False}),
    (4, 4, 2, 20, {"clear_bonus": 1000}),
    (3, 4, 2, 20, {"clear_bonus": 0.1}),
    (3, 4, 3, 20, {"clear_bonus": 100_000}),
]


# ----------------------------------------------------------------------------------- the game and its fronts, plainly


def moves(tiles):
    """The groups of a board {(x, y): colour}, y from the bottom: [(colour, cells)]."""
    left, found = set(tiles), []
    while left:
        group, edge = set(), [left.pop()]
        while edge:
            x, y = edge.pop()
            group.add((x, y))
            near = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
            edge += [cell for cell in near if cell in left and tiles[cell] == tiles[x, y]]
            left -= set(near) & set(edge)
        if len(group) > 1:
            found.append((tiles[min(group)], group))
    return found


def after(tiles, group):
    """The board without a group: tiles fall, empty columns close."""
    columns = {}
    for x, y in sorted(set(tiles) - group):
        columns.setdefault(x, []).append(tiles[x, y])
    return {(x, y): tile for x, (_, column) in enumerate(sorted(columns.items())) for y, tile in enumerate(column)}


def points_of(tiles, rest, colour, group, params):
    reward = [0.0] * (params["num_colors"] if params["color_rewards"] else 1)
    points = len(group) ** 2 + (0 if rest else params["clear_bonus"])
    reward[colour - 1 if params["color_rewards"] else 0] = float(np.float32(points))
    return tuple(reward)


def maximal(vectors):
    return {v for v in vectors if not any(u != v and all(a >= b for a, b in zip(u, v, strict=True)) for u in vectors)}


def brute(tiles, params, known):
    """Every return that is not dominated, as a set of tuples."""
    key = frozenset(tiles.items())
    if key not in known:
        found = set()
        for colour, group in moves(tiles):
            rest = after(tiles, group)
            reward = points_of(tiles, rest, colour, group, params)
            found |= {tuple(a + b for a, b in zip(reward, v, strict=True)) for v in brute(rest, params, known)}
        known[key] = maximal(found) if found else {(0.0,) * (params["num_colors"] if params["color_rewards"] else 1)}
    return known[key]


def best(tiles, weights, params, known):
    """The largest weighted sum of returns."""
    key = frozenset(tiles.items())
    if key not in known:
        known[key] = 0.0
        for colour, group in moves(tiles):
            rest = after(tiles, group)
            gain = float(np.dot(weights, points_of(tiles, rest, colour, group, params)))
            known[key] = max(known[key], gain + best(rest, weights, params, known))
    return known[key]


def board(height, width, colours, seed):
    rng = random.Random(f"{height}x{width}x{colours}:{seed}")
    return [[rng.randint(1, colours) for _ in range(width)] for _ in range(height)]


def as_tiles(rows):
    return {(x, len(rows) - 1 - y): k for y, row in enumerate(rows) for x, k in enumerate(row) if k}


def game(height, width, colours, **params):
    return momagames.spec(ID, board_height=height, board_width=width, num_colors=colours, **params)


def front(played, rows, **limits):
    return exact.pareto_front(played, {"board": rows}, **{**ROOMY, **limits})


compiled_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="too many positions without compiler")


# -------------------------------------------------------------------------------------------------------------- fronts


@pytest.mark.parametrize(("height", "width", "colours", "boards", "params"), SIZES)
def test_equals_brute_force(height, width, colours, boards, params, interpreted):
    played = game(height, width, colours, **params)
    for seed in range(6 if interpreted else boards):
        rows = board(height, width, colours, seed)
        found = front(played, rows).points
        assert {tuple(p) for p in found} == brute(as_tiles(rows), played.params, {}), rows
        assert [tuple(p) for p in found] == sorted({tuple(p) for p in found})


@pytest.mark.parametrize(("colours", "params"), [(3, {}), (2, {"clear_bonus": 0.1}), (3, {"color_rewards": False})])
def test_witnesses_attain_the_points_through_the_public_door(colours, params, interpreted):
    played = game(4, 5, colours, **params)
    env = momagames.make(ID, board_height=4, board_width=5, num_colors=colours, **params)
    for seed in range(1 if interpreted else 10):
        rows = board(4, 5, colours, seed)
        found = front(played, rows)
        assert len(found.witnesses) == len(found.points)
        for point, actions in zip(found.points, found.witnesses, strict=True):
            env.reset(options={"board": rows})
            for action in actions:
                env.step(action)
            assert env.unwrapped.play.state["over"]
            np.testing.assert_array_equal(env.unwrapped.returns[0], point)


@compiled_only
def test_weighted_optima_lie_on_the_front():
    played = game(5, 5, 3)
    lattice = [w for w in itertools.product(range(5), repeat=3) if sum(w) == 4]
    for seed in range(4):
        rows = board(5, 5, 3, seed)
        points = front(played, rows).points
        for weights in lattice:
            assert (points @ weights).max() == best(as_tiles(rows), weights, played.params, {}), (rows, weights)


def test_the_dealt_start_and_its_record_dict_and_text_agree():
    played = game(4, 4, 3)
    dealt = exact.pareto_front(played, seed=7, **ROOMY)
    env = momagames.make(ID, board_height=4, board_width=4, num_colors=3)
    env.reset(seed=7)
    state = env.unwrapped.play.state.copy()
    for given in (state, played.codec.save(state), played.codec.show(state)):
        np.testing.assert_array_equal(exact.pareto_front(played, given, **ROOMY).points, dealt.points)
    env.step(dealt.witnesses[0][0])  # what is left after the first move of a witness
    rest = exact.pareto_front(played, env.unwrapped.play.state, **ROOMY).points
    assert tuple(dealt.points[0] - env.unwrapped.returns[0]) in {tuple(p) for p in rest}


def test_a_game_that_is_over_has_one_point():
    for rows in (["12", "21"], [[0, 0], [0, 0]]):
        rows = [[*map(int, row), 0] for row in rows]
        found = front(game(3, 3, 2), [[0, 0, 0], *rows])
        assert found.points.tolist() == [[0.0, 0.0]]
        assert found.witnesses == [[]]


@compiled_only
def test_tables_grow_in_the_middle_of_a_search(monkeypatch):
    played, rows = game(5, 5, 3), board(5, 5, 3, 1)
    expected = front(played, rows)
    monkeypatch.setattr(solve, "FIRST_TABLE", 8)
    monkeypatch.setattr(solve, "FIRST_POOL", 8)
    monkeypatch.setattr(solve, "SLICE", 7)
    told = []
    found = exact.pareto_front(played, {"board": rows}, **ROOMY, progress=lambda states, size: told.append((states, size)))
    np.testing.assert_array_equal(found.points, expected.points)
    assert found.states == expected.states > 100
    assert len(told) > found.states // 7
    assert told == sorted(told)


# -------------------------------------------------------------------------------------------------------------- limits


@compiled_only
def test_limits_are_kept_and_named():
    played, rows = game(5, 5, 3), board(5, 5, 3, 1)
    needed = front(played, rows)
    assert front(played, rows, max_states=needed.states).states == needed.states
    with pytest.raises(
        TooLarge, match=f"max_states={needed.states - 1:,} .*max_states was reached after {needed.states - 1:,} "
    ):
        front(played, rows, max_states=needed.states - 1)
    with pytest.raises(TooLarge, match=r"max_bytes=10: max_bytes was reached after 0 positions"):
        front(played, rows, max_bytes=10)
    large = game(10, 10, 3)
    with pytest.raises(TooLarge, match=r"max_bytes was reached after [\d,]+ positions and [\d,]+ bytes"):
        exact.pareto_front(large, max_states=10**9, max_bytes=3 << 20)


@compiled_only
def test_an_interruption_comes_through():
    def stop(states, size):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exact.pareto_front(game(10, 10, 3), max_states=10**9, max_bytes=1 << 28, progress=stop)


# --------------------------------------------------------------------------------------------- other games, bad games


@kernel
def tiring_step(state, actions, reward):
    """MO-SameGame where each move costs half of `clear_bonus`, and with `team_rewards` the first move is the last."""
    rules.step(state, actions, reward)
    reward[0, 0] -= 0.5 * state["clear_bonus"]
    state["over"] |= state["team_rewards"]


def tiring(cost, low, high=1000.0, **params):
    played = game(3, 4, 2, clear_bonus=2 * cost, **params)
    sides = tuple(Objective(name, "points", least, high, 0, high, "test") for name, least in (("a", low), ("b", 0.0)))
    return dataclasses.replace(
        played,
        objectives=sides,
        kernels=dataclasses.replace(played.kernels, step=tiring_step),
        search=dataclasses.replace(played.search, prune_equivalent_actions=None),
        rules_key="test.tiring",
    )


def tired(tiles, params, cost, known):
    key = frozenset(tiles.items())
    if key not in known:
        found = set()
        for colour, group in moves(tiles):
            rest = after(tiles, group)
            a, b = points_of(tiles, rest, colour, group, params)
            found |= {(a - cost + u, b + v) for u, v in tired(rest, params, cost, known)}
        known[key] = maximal(found) if found else {(0.0, 0.0)}
    return known[key]


@pytest.mark.parametrize("cost", [1, 50, 0.25, 4.125])
def test_negative_and_fractional_rewards_and_no_thinning(cost, interpreted):
    played = tiring(cost, -100.0)
    for seed in range(2 if interpreted else 20):
        rows = board(3, 4, 2, seed)
        expected = tired(as_tiles(rows), played.params, cost, {})
        assert {tuple(p) for p in front(played, rows).points} == expected


def test_ends_with_different_rewards_are_told_apart():
    for seed in range(10):
        tiles = as_tiles(rows := board(3, 4, 2, seed))
        rewards = [[0.0 if k != colour else len(group) ** 2 for k in (1, 2)] for colour, group in moves(tiles)]
        expected = maximal({tuple(reward) for reward in rewards})
        assert {tuple(p) for p in front(tiring(0, 0.0, team_rewards=True), rows).points} == expected


def test_rewards_that_are_not_as_declared_are_refused():
    rows = board(3, 4, 2, 1)
    with pytest.raises(InvalidParameter, match="pays more or less than its objectives declare"):
        front(tiring(50, -10.0), rows)
    with pytest.raises(InvalidParameter, match="pays more or less than its objectives declare"):
        front(dataclasses.replace(game(3, 3, 2), objectives=(Objective("a", "p", 0, 81, 0, 15, "test"),) * 2), ["111"] * 3)
    with pytest.raises(InvalidParameter, match="pays more or less than its objectives declare"):
        front(dataclasses.replace(game(3, 3, 2), objectives=(Objective("a", "p", 0, 5, 0, 81, "test"),) * 2), ["112"] * 3)
    with pytest.raises(InvalidParameter, match="goes on after max_episode_steps=0"):
        front(dataclasses.replace(game(3, 4, 2), max_episode_steps=0), rows)
    with pytest.raises(InvalidParameter, match="declared bounds below"):
        front(dataclasses.replace(game(3, 3, 2), objectives=(Objective("a", "p", 0, 1, 0, np.inf, "test"),) * 2), ["112"] * 3)


@compiled_only
@pytest.mark.parametrize(
    ("height", "width", "colours", "params"),
    [
        (6, 6, 3, {}),
        (6, 5, 4, {"clear_bonus": 500}),
        (8, 8, 10, {"color_rewards": False}),
        (3, 21, 10, {"color_rewards": False}),
        (16, 3, 10, {"color_rewards": False}),
    ],
)
def test_boards_in_bits_are_as_the_rules_have_them(height, width, colours, params):
    played = game(height, width, colours, **params)
    plain = dataclasses.replace(played, rules_key="test.plain")  # a name without a form in bits
    assert packed(played, solve.begun(played, None, 1))[0].dtype != played.dtype
    for seed in range(1, 7):
        found, expected = (exact.pareto_front(g, seed=seed, **ROOMY) for g in (played, plain))
        np.testing.assert_array_equal(found.points, expected.points)
        assert found.states == expected.states > 2


def test_large_boards_and_rules_of_other_names_are_searched_as_they_are():
    for played in (game(5, 13, 3), dataclasses.replace(game(3, 3, 2), rules_key="test.plain")):
        start = solve.begun(played, None, 1)
        searched, begins = packed(played, start)
        assert searched is played
        assert begins is start


@pytest.mark.parametrize(
    ("id", "params", "reason"),
    [
        (ID, {"num_agents": 2}, "2 agents"),
        ("mo-breakthrough-v0", {}, "2 agents"),
    ],
)
def test_other_games_are_refused(id, params, reason):
    with pytest.raises(InvalidParameter, match=reason):
        exact.pareto_front(momagames.spec(id, **params), **ROOMY)


def test_all_reasons_of_a_refusal_are_named():
    played = game(3, 3, 2)
    odd = dataclasses.replace(played, dynamics="simultaneous", chance="step", actions=(9, 2), search=SearchSupport())
    with pytest.raises(InvalidParameter, match="simultaneous moves, chance during play, actions of several parts, no keys"):
        exact.pareto_front(odd, **ROOMY)


def test_a_bad_position_is_refused():
    with pytest.raises(InvalidState, match="holds '3'"):
        front(game(3, 3, 2), ["333"] * 3)


# --------------------------------------------------------------------------------------------------------- known front


@compiled_only
def test_known_front_of_small_boards_only():
    small, large = game(6, 6, 3), game(7, 7, 3)
    assert loops.search(small, 1) is loops.search(large, 1)  # one compiled search serves every size
    env = momagames.make(ID, api="gymnasium", board_height=6, board_width=6, num_colors=3)
    env.reset(seed=3)
    expected = exact.pareto_front(small, seed=3, **ROOMY).points
    np.testing.assert_array_equal(exact.known_front(small, env.unwrapped.play.state), expected)
    np.testing.assert_array_equal(env.unwrapped.pareto_front(), expected)
    assert exact.known_front(large, large.start(3)[0]) is None
    assert exact.known_front(game(3, 3, 2, num_agents=2), env.unwrapped.play.state) is None


@compiled_only
def test_known_front_gives_up_on_a_hard_board(monkeypatch):
    monkeypatch.setattr(exact, "QUICK_STATES", 10)
    env = momagames.make(ID, api="gymnasium", board_height=6, board_width=6, num_colors=3)
    env.reset(seed=3)
    assert exact.known_front(game(6, 6, 3), env.unwrapped.play.state) is None
