"""Exact fronts against brute force in plain sets and dicts, against scalar optima, and against the AEC API."""

from __future__ import annotations

import dataclasses
import itertools
import random

import numpy as np
import pytest

import momagames
from momagames.baselines import exact
from momagames.baselines.exact import depth_first
from momagames.baselines.exact import depth_first_kernels as loops
from momagames.contract import Objective, SearchSupport
from momagames.errors import InvalidParameter, InvalidState, TooLarge
from momagames.games.samegame import rules
from momagames.games.samegame.compact import pack
from momagames.kernels.jit import kernel
from tests.baselines.reference_search import find_groups

ID = "mo-samegame-v0"
LIMITS = {"max_states": 1_000_000, "max_bytes": 1 << 28}
# height, width, colors, boards, parameters
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
    (3, 3, 5, 40, {"scoring": "classic"}),
    (4, 4, 3, 40, {"scoring": "classic"}),
    (5, 3, 4, 20, {"scoring": "classic", "color_rewards": False}),
    (4, 4, 3, 40, {"scoring": "classic", "color_rewards": False, "move_rewards": True}),
    (5, 3, 2, 20, {"move_rewards": True}),
]


# ----------------------------------------------------------------------------------- brute force


def list_groups(tiles):
    """List the groups of a board {(x, y): color}, y from the bottom, as [(color, cells)]."""
    return [group for group in find_groups(tiles) if len(group[1]) > 1]


def remove_group(tiles, group):
    """Return the board without a group: tiles fall, empty columns close."""
    columns = {}
    for x, y in sorted(set(tiles) - group):
        columns.setdefault(x, []).append(tiles[x, y])
    return {(x, y): tile for x, (_, column) in enumerate(sorted(columns.items())) for y, tile in enumerate(column)}


def compute_reward(tiles, rest, color, group, params):
    classic = params.get("scoring") == "classic"
    reward = [0.0] * params["num_colors"]
    points = (len(group) - 2) ** 2 if classic else len(group) ** 2
    reward[color - 1] += points + (0 if rest else 1000 if classic else params["clear_bonus"])
    if classic and not list_groups(rest):
        for k in range(1, params["num_colors"] + 1):
            reward[k - 1] -= max(sum(tile == k for tile in rest.values()) - 2, 0) ** 2
    vector = reward if params["color_rewards"] else [sum(reward)]
    return tuple(float(np.float32(r)) for r in [*vector, *([-1.0] if params.get("move_rewards") else [])])


def nondominated(vectors):
    return {v for v in vectors if not any(u != v and all(a >= b for a, b in zip(u, v, strict=True)) for u in vectors)}


def brute_force(tiles, params, memo):
    """Return the set of non-dominated returns as tuples."""
    key = frozenset(tiles.items())
    if key not in memo:
        front = set()
        for color, group in list_groups(tiles):
            rest = remove_group(tiles, group)
            reward = compute_reward(tiles, rest, color, group, params)
            front |= {tuple(a + b for a, b in zip(reward, v, strict=True)) for v in brute_force(rest, params, memo)}
        memo[key] = nondominated(front) if front else {(0.0,) * count_objectives(params)}
    return memo[key]


def count_objectives(params):
    return (params["num_colors"] if params["color_rewards"] else 1) + bool(params.get("move_rewards"))


def best_weighted_return(tiles, weights, params, memo):
    """Return the largest weighted sum of returns."""
    key = frozenset(tiles.items())
    if key not in memo:
        memo[key] = 0.0
        for color, group in list_groups(tiles):
            rest = remove_group(tiles, group)
            gain = float(np.dot(weights, compute_reward(tiles, rest, color, group, params)))
            memo[key] = max(memo[key], gain + best_weighted_return(rest, weights, params, memo))
    return memo[key]


def random_board(height, width, colors, seed):
    rng = random.Random(f"{height}x{width}x{colors}:{seed}")
    return [[rng.randint(1, colors) for _ in range(width)] for _ in range(height)]


def to_tiles(rows):
    return {(x, len(rows) - 1 - y): k for y, row in enumerate(rows) for x, k in enumerate(row) if k}


def make_game(height, width, colors, **params):
    return momagames.spec(ID, board_height=height, board_width=width, num_colors=colors, **params)


def solve(game, rows, **limits):
    return exact.pareto_front(game, {"board": rows}, **{**LIMITS, **limits})


# -------------------------------------------------------------------------------------------------------------- fronts


@pytest.mark.long
@pytest.mark.parametrize(("height", "width", "colors", "boards", "params"), SIZES)
def test_equals_brute_force(height, width, colors, boards, params, interpreted):
    game = make_game(height, width, colors, **params)
    for seed in range(6 if interpreted else boards):
        rows = random_board(height, width, colors, seed)
        front = solve(game, rows).points
        assert {tuple(p) for p in front} == brute_force(to_tiles(rows), game.params, {}), rows
        assert [tuple(p) for p in front] == sorted({tuple(p) for p in front})


@pytest.mark.long
@pytest.mark.parametrize(("colors", "params"), [(3, {}), (2, {"clear_bonus": 0.1}), (3, {"color_rewards": False})])
def test_witnesses_attain_the_points_in_the_aec_api(colors, params, interpreted):
    game = make_game(4, 5, colors, **params)
    env = momagames.make(ID, board_height=4, board_width=5, num_colors=colors, **params)
    for seed in range(1 if interpreted else 10):
        rows = random_board(4, 5, colors, seed)
        front = solve(game, rows)
        assert len(front.witnesses) == len(front.points)
        for point, actions in zip(front.points, front.witnesses, strict=True):
            env.reset(options={"board": rows})
            for action in actions:
                env.step(action)
            assert env.unwrapped.episode.state["over"]
            np.testing.assert_array_equal(env.unwrapped.returns[0], point)


@pytest.mark.compiled
@pytest.mark.long
def test_weighted_optima_lie_on_the_front():
    game = make_game(5, 5, 3)
    lattice = [w for w in itertools.product(range(5), repeat=3) if sum(w) == 4]
    for seed in range(4):
        rows = random_board(5, 5, 3, seed)
        points = solve(game, rows).points
        for weights in lattice:
            assert (points @ weights).max() == best_weighted_return(to_tiles(rows), weights, game.params, {}), (rows, weights)


def test_seed_record_dict_and_text_of_a_start_agree():
    game = make_game(4, 4, 3)
    from_seed = exact.pareto_front(game, seed=7, **LIMITS)
    env = momagames.make(ID, board_height=4, board_width=4, num_colors=3)
    env.reset(seed=7)
    state = env.unwrapped.episode.state.copy()
    for given in (state, game.codec.save(state), game.codec.show(state)):
        np.testing.assert_array_equal(exact.pareto_front(game, given, **LIMITS).points, from_seed.points)
    env.step(from_seed.witnesses[0][0])  # remainder after the first move of a witness
    rest = exact.pareto_front(game, env.unwrapped.episode.state, **LIMITS).points
    assert tuple(from_seed.points[0] - env.unwrapped.returns[0]) in {tuple(p) for p in rest}


def test_terminal_position_has_one_point():
    for rows in (["12", "21"], [[0, 0], [0, 0]]):
        rows = [[*map(int, row), 0] for row in rows]
        front = solve(make_game(3, 3, 2), [[0, 0, 0], *rows])
        assert front.points.tolist() == [[0.0, 0.0]]
        assert front.witnesses == [[]]


@pytest.mark.compiled
def test_tables_grow_during_a_search(monkeypatch):
    game, rows = make_game(5, 5, 3), random_board(5, 5, 3, 1)
    expected = solve(game, rows)
    monkeypatch.setattr(depth_first, "INITIAL_TABLE_SIZE", 8)
    monkeypatch.setattr(depth_first, "INITIAL_POOL_SIZE", 8)
    monkeypatch.setattr(depth_first, "SLICE_POSITIONS", 7)
    reports = []
    front = exact.pareto_front(game, {"board": rows}, **LIMITS, progress=lambda states, size: reports.append((states, size)))
    np.testing.assert_array_equal(front.points, expected.points)
    assert front.states == expected.states > 100
    assert len(reports) > front.states // 7
    assert reports == sorted(reports)


# -------------------------------------------------------------------------------------------------------------- limits


@pytest.mark.compiled
def test_limits_are_enforced_and_named():
    game, rows = make_game(5, 5, 3), random_board(5, 5, 3, 1)
    needed = solve(game, rows)
    assert solve(game, rows, max_states=needed.states).states == needed.states
    with pytest.raises(
        TooLarge, match=f"max_states={needed.states - 1:,} .*max_states was reached after {needed.states - 1:,} "
    ):
        solve(game, rows, max_states=needed.states - 1)
    with pytest.raises(TooLarge, match=r"max_bytes=10: max_bytes was reached after 0 positions"):
        solve(game, rows, max_bytes=10)
    large = make_game(7, 7, 3)
    with pytest.raises(TooLarge, match=r"max_bytes was reached after [\d,]+ positions and [\d,]+ bytes"):
        exact.pareto_front(large, max_states=10**9, max_bytes=3 << 20)


@pytest.mark.compiled
def test_keyboard_interrupt_propagates():
    def stop(states, size):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exact.pareto_front(make_game(7, 7, 3), max_states=10**9, max_bytes=1 << 28, progress=stop)


# --------------------------------------------------------------------------------------------- other games, bad games


@kernel
def costly_step(state, actions, reward):
    """Step of MO-SameGame where each move costs half of `clear_bonus`, and with `team_rewards` the first move is the last."""
    rules.step(state, actions, reward)
    reward[0, 0] -= 0.5 * state["clear_bonus"]
    state["over"] |= state["team_rewards"]


def make_costly_game(cost, low, high=1000.0, **params):
    game = make_game(3, 4, 2, clear_bonus=2 * cost, **params)
    objectives = tuple(Objective(name, "points", least, high, 0, high, "test") for name, least in (("a", low), ("b", 0.0)))
    return dataclasses.replace(
        game,
        objectives=objectives,
        kernels=dataclasses.replace(game.kernels, step=costly_step),
        search=dataclasses.replace(
            game.search, prune_equivalent_actions=None, exact=dataclasses.replace(game.search.exact, compact=None)
        ),
        rules_key="test.costly",
    )


def brute_force_costly(tiles, params, cost, memo):
    key = frozenset(tiles.items())
    if key not in memo:
        front = set()
        for color, group in list_groups(tiles):
            rest = remove_group(tiles, group)
            a, b = compute_reward(tiles, rest, color, group, params)
            front |= {(a - cost + u, b + v) for u, v in brute_force_costly(rest, params, cost, memo)}
        memo[key] = nondominated(front) if front else {(0.0, 0.0)}
    return memo[key]


@pytest.mark.parametrize("cost", [1, 50, 0.25, 4.125])
@pytest.mark.long
def test_negative_and_fractional_rewards_without_pruning(cost, interpreted):
    game = make_costly_game(cost, -100.0)
    for seed in range(2 if interpreted else 20):
        rows = random_board(3, 4, 2, seed)
        expected = brute_force_costly(to_tiles(rows), game.params, cost, {})
        assert {tuple(p) for p in solve(game, rows).points} == expected


@pytest.mark.long
def test_terminal_rewards_are_distinguished():
    for seed in range(10):
        tiles = to_tiles(rows := random_board(3, 4, 2, seed))
        rewards = [[0.0 if k != color else len(group) ** 2 for k in (1, 2)] for color, group in list_groups(tiles)]
        expected = nondominated({tuple(reward) for reward in rewards})
        assert {tuple(p) for p in solve(make_costly_game(0, 0.0, team_rewards=True), rows).points} == expected


@pytest.mark.long
def test_rejects_rewards_outside_the_declared_bounds():
    rows = random_board(3, 4, 2, 1)
    with pytest.raises(InvalidParameter, match="returned a reward outside the bounds of its objectives"):
        solve(make_costly_game(50, -10.0), rows)
    with pytest.raises(InvalidParameter, match="returned a reward outside the bounds of its objectives"):
        solve(dataclasses.replace(make_game(3, 3, 2), objectives=(Objective("a", "p", 0, 81, 0, 15, "test"),) * 2), ["111"] * 3)
    with pytest.raises(InvalidParameter, match="returned a reward outside the bounds of its objectives"):
        solve(dataclasses.replace(make_game(3, 3, 2), objectives=(Objective("a", "p", 0, 5, 0, 81, "test"),) * 2), ["112"] * 3)
    with pytest.raises(InvalidParameter, match="continues after max_episode_steps=0"):
        solve(dataclasses.replace(make_game(3, 4, 2), max_episode_steps=0), rows)
    with pytest.raises(InvalidParameter, match="expected for exact fronts: below"):
        solve(
            dataclasses.replace(make_game(3, 3, 2), objectives=(Objective("a", "p", 0, 1, 0, np.inf, "test"),) * 2), ["112"] * 3
        )


@pytest.mark.long
@pytest.mark.compiled
@pytest.mark.parametrize(
    ("height", "width", "colors", "params"),
    [
        (6, 6, 3, {}),
        (6, 5, 4, {"clear_bonus": 500}),
        (5, 5, 5, {"scoring": "classic"}),
        (6, 5, 3, {"scoring": "classic", "color_rewards": False, "move_rewards": True}),
        (6, 5, 3, {"scoring": "classic", "color_rewards": False}),
        (8, 8, 10, {"color_rewards": False}),
        (3, 21, 10, {"color_rewards": False}),
        (16, 3, 10, {"color_rewards": False}),
    ],
)
def test_compact_boards_follow_the_rules(height, width, colors, params):
    game = make_game(height, width, colors, **params)
    exact_search = dataclasses.replace(game.search.exact, compact=None)
    plain = dataclasses.replace(game, search=dataclasses.replace(game.search, exact=exact_search), rules_key="test.plain")
    assert pack(game, depth_first.resolve_start(game, None, 1))[0].dtype != game.dtype
    for seed in range(1, 7):
        front, expected = (exact.pareto_front(g, seed=seed, **LIMITS) for g in (game, plain))
        np.testing.assert_array_equal(front.points, expected.points)
        assert front.states == expected.states > 2


def test_large_boards_have_no_compact_form():
    game = make_game(5, 13, 3)
    assert pack(game, depth_first.resolve_start(game, None, 1)) is None


@pytest.mark.parametrize(
    ("id", "params", "reason"),
    [
        (ID, {"num_agents": 2}, "2 agents"),
        ("mo-breakthrough-v0", {}, "2 agents"),
    ],
)
def test_rejects_unsupported_games(id, params, reason):
    with pytest.raises(InvalidParameter, match=reason):
        exact.pareto_front(momagames.spec(id, **params), **LIMITS)


def test_error_names_all_unsupported_features():
    game = make_game(3, 3, 2)
    unsupported = dataclasses.replace(game, dynamics="simultaneous", chance="step", actions=(9, 2), search=SearchSupport())
    with pytest.raises(
        InvalidParameter, match="simultaneous moves, chance during play, actions with several components, no state keys"
    ):
        exact.pareto_front(unsupported, **LIMITS)


def test_rejects_an_invalid_position():
    with pytest.raises(InvalidState, match="invalid cell='3'"):
        solve(make_game(3, 3, 2), ["333"] * 3)


# --------------------------------------------------------------------------------------------------------- small boards


@pytest.mark.compiled
def test_pareto_front_if_small():
    small, large = make_game(6, 6, 3), make_game(8, 8, 3)
    assert loops.compile_search(small, 1) is loops.compile_search(large, 1)  # one compiled search serves every size
    env = momagames.make(ID, api="gymnasium", board_height=6, board_width=6, num_colors=3)
    env.reset(seed=3)
    expected = exact.pareto_front(small, seed=3, **LIMITS).points
    np.testing.assert_array_equal(exact.pareto_front_if_small(small, env.unwrapped.episode.state), expected)
    np.testing.assert_array_equal(env.unwrapped.pareto_front(), expected)
    assert exact.pareto_front_if_small(large, depth_first.resolve_start(large, None, 3)[0]) is None
    few_moves = depth_first.resolve_start(large, {"board": ["11221122"] * 8}, 0)[0]  # a large board with few positions
    assert len(exact.pareto_front_if_small(large, few_moves)) == 2
    assert exact.pareto_front_if_small(make_game(3, 3, 2, num_agents=2), env.unwrapped.episode.state) is None


@pytest.mark.compiled
def test_pareto_front_if_small_has_a_state_limit(monkeypatch):
    monkeypatch.setattr(exact, "QUICK_STATES", 10)
    env = momagames.make(ID, api="gymnasium", board_height=6, board_width=6, num_colors=3)
    env.reset(seed=3)
    assert exact.pareto_front_if_small(make_game(6, 6, 3), env.unwrapped.episode.state) is None
