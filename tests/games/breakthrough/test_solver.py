"""Solver of MO-Breakthrough against brute force over an independent implementation of the rules, and against other methods."""

import itertools

import numpy as np
import pytest

import momagames
from momagames.baselines import strategies
from momagames.errors import InvalidFile, InvalidParameter, TooLarge
from momagames.games.breakthrough.solver import best_response, guarantees
from tests.games.breakthrough.naive import Breakthrough

pytestmark = pytest.mark.compiled

ID = "mo-breakthrough-v0"
LIMITS = {"max_states": 10**6, "max_bytes": 1 << 28}
SIZE = {"board_width": 3, "board_height": 5}
ENDINGS = [  # rows from player_0's home row, agent to move
    (["...", "11.", ".2.", "2..", "..."], 0),
    (["...", "1.1", "2..", ".2.", "..."], 1),
    ([".1.", "1..", ".2.", "...", "2.."], 0),
]


def naive(rows, mover, names):
    return Breakthrough.given(rows, mover, **SIZE, objectives=names)


def step_copy(game, action, names):
    """Return the game after an action, and the reward of each agent."""
    next_game = Breakthrough(**SIZE, objectives=names)
    next_game.pieces = [set(side) for side in game.pieces]
    next_game.mover, next_game.ply, next_game.over = game.mover, game.ply, game.over
    reward = next_game.step(action)
    return next_game, [np.array(row, np.float64) for row in reward]


def nondominated(vectors):
    return {u for u in vectors if not any(v != u and all(a <= b for a, b in zip(u, v, strict=True)) for v in vectors)}


def add_vectors(u, v):
    return tuple(round(a + b, 9) for a, b in zip(u, v, strict=True))


def brute_guaranteed(game, agent, names, known=None):
    """Return the front that `agent` can guarantee, by recursion over the moves; `known` are the fronts found so far."""
    if game.over:
        return {(0.0,) * len(names)}
    known = {} if known is None else known
    key = (*map(frozenset, game.pieces), game.mover, game.ply)
    if key not in known:
        child_fronts = []
        for action in game.legal(game.mover):
            next_game, reward = step_copy(game, action, names)
            rest = brute_guaranteed(next_game, agent, names, known)
            child_fronts.append({add_vectors(reward[agent], v) for v in rest})
        common = set().union(*child_fronts) if game.mover == agent else child_fronts[0]
        for other in child_fronts[1:] if game.mover != agent else ():
            common = nondominated({tuple(map(min, u, v)) for u in common for v in other})
        known[key] = nondominated(common)
    return known[key]


def brute_expected(game, agent, names):
    """Return the non-dominated expected returns of all deterministic policies against a random opponent."""
    if game.over:
        return {(0.0,) * len(names)}
    actions = game.legal(game.mover)
    child_fronts = []
    for action in actions:
        next_game, reward = step_copy(game, action, names)
        child_fronts.append({add_vectors(reward[agent], v) for v in brute_expected(next_game, agent, names)})
    if game.mover == agent:
        return nondominated(set().union(*child_fronts))
    return nondominated(
        {tuple(round(sum(v) / len(actions), 9) for v in zip(*one, strict=True)) for one in itertools.product(*child_fronts)}
    )


def make_position(rows, mover):
    return {"board": rows, "next_agent": f"player_{mover}", "ply": 11 + mover}


def make_position_at(rows, mover, names):
    game = naive(rows, mover, names)
    game.ply = 11 + mover
    return game


@pytest.mark.parametrize("agent", [0, 1])
@pytest.mark.parametrize(("rows", "mover"), ENDINGS)
def test_guaranteed_front_equals_brute_force(rows, mover, agent):
    game = momagames.spec(ID, **SIZE)
    names = tuple(objective.name for objective in game.objectives)
    front = guarantees.solve_guaranteed_front(game, make_position(rows, mover), agent, **LIMITS)
    expected = brute_guaranteed(make_position_at(rows, mover, names), agent, names)
    assert {tuple(row) for row in front.points.tolist()} == {
        tuple(row) for row in front.board.to_units(np.array(sorted(expected))).tolist()
    }
    for point in front.points:
        walked, actions = guarantees.guarantee_strategy(front, point)
        assert (front.board.to_units(walked.worst) == point).all()
        stored = strategies.StoredStrategy(strategies.encode_actions(actions))
        assert (strategies.walk(game, front.board.start, agent, stored).worst == walked.worst).all()
        stored.check_exhausted()


@pytest.mark.parametrize("objectives", [("captures",), ("losses", "win"), ("speed", "losses", "captures")])
def test_guaranteed_front_with_other_objectives(objectives):
    rows, mover = ENDINGS[0]
    game = momagames.spec(ID, **SIZE, objectives=objectives)
    front = guarantees.solve_guaranteed_front(game, make_position(rows, mover), 0, **LIMITS)
    expected = brute_guaranteed(make_position_at(rows, mover, objectives), 0, objectives)
    assert {tuple(row) for row in front.points.tolist()} == {
        tuple(row) for row in front.board.to_units(np.array(sorted(expected))).tolist()
    }


@pytest.mark.parametrize("agent", [0, 1])
def test_threshold_games_agree(agent):
    """Each point can be guaranteed; none of the minimal uncovered vectors can."""
    rows, mover = ENDINGS[2]
    game = momagames.spec(ID, **SIZE)
    front = guarantees.solve_guaranteed_front(game, make_position(rows, mover), agent, **LIMITS)
    lowest, highest = np.array([-1, -25, 0, -6]), np.array([1, 25, 6, 0])
    assert guarantees.can_guarantee(front.board, front.points).all()
    uncovered = guarantees.minimal_uncovered(front.points, lowest, highest)
    assert len(uncovered) > 0
    assert not guarantees.can_guarantee(front.board, uncovered).any()
    vectors = {tuple(v) for v in uncovered.tolist()}
    for vector in itertools.product(range(-1, 2), range(-25, 26, 7), range(7), range(-6, 1)):
        covered = (front.points >= vector).all(axis=1).any()
        assert covered != any(all(b <= v for b, v in zip(corner, vector, strict=True)) for corner in vectors)


def test_mirror_images_have_equal_fronts():
    rows, mover = ENDINGS[1]
    game = momagames.spec(ID, **SIZE)
    one = guarantees.solve_guaranteed_front(game, make_position(rows, mover), 0, **LIMITS)
    two = guarantees.solve_guaranteed_front(game, make_position([row[::-1] for row in rows], mover), 0, **LIMITS)
    assert (one.points == two.points).all()
    assert one.states == two.states


@pytest.mark.parametrize(
    ("rows", "mover"), [(["...", "1..", "..2", "...", "..."], 0), (["...", "1..", ".2.", "2..", "..."], 1)]
)
def test_best_responses_to_random_play(rows, mover):
    """Every policy lies on or below the lines between the corners, and a policy attains each corner."""
    names = ("win", "captures")
    game = momagames.spec(ID, **SIZE, objectives=names)
    for agent in (0, 1):
        front = best_response.solve_best_responses(game, make_position(rows, mover), agent, np.zeros(2), **LIMITS)
        vectors = np.array(sorted(brute_expected(make_position_at(rows, mover, names), agent, names)))
        for corner, weights in zip(front.points, front.corner_weights, strict=True):
            assert np.abs(vectors - corner).max(axis=1).min() < 1e-6
            assert (vectors @ weights).max() <= corner @ weights + 1e-6
            assert abs(best_response.best_response_value(front.board, np.zeros(2), weights) - corner @ weights) < 1e-12
            walked, _ = best_response.response_strategy(front, weights)
            assert np.abs(walked.expected - corner).max() < 1e-12


def test_best_responses_to_greedy_play():
    """The greedy opponent wins if it can, else captures if it can."""
    names = ("win", "captures")
    game = momagames.spec(ID, **SIZE, objectives=names)
    rows = ["1..", "..2", "1..", "...", "2.."]
    greedy = best_response.solve_best_responses(game, make_position(rows, 0), 0, np.array([0.5, 0.5]), **LIMITS)
    assert greedy.points[0].tolist() == [-1.0, 0.0]
    at_random = best_response.solve_best_responses(game, make_position(rows, 0), 0, np.zeros(2), **LIMITS)
    assert at_random.points[0, 0] > -1


def test_rejects_limits_and_other_games():
    full = momagames.spec(ID, **SIZE)
    start = {"board": ["111", "111", "...", "222", "222"]}
    with pytest.raises(TooLarge, match="max_states=1,000"):
        guarantees.solve_guaranteed_front(full, start, 0, max_states=1000, max_bytes=1 << 28)
    with pytest.raises(TooLarge, match="max_bytes=100;"):
        guarantees.solve_guaranteed_front(full, make_position(*ENDINGS[0]), 0, max_states=1000, max_bytes=100)
    pair = momagames.spec(ID, **SIZE, objectives=("win", "captures"))
    with pytest.raises(TooLarge, match="max_bytes=100;"):
        best_response.solve_best_responses(pair, make_position(*ENDINGS[0]), 0, np.zeros(2), max_states=1000, max_bytes=100)
    with pytest.raises(InvalidParameter, match="at most 32 cells; this one has 64"):
        guarantees.solve_guaranteed_front(momagames.spec(ID), {"board": ["1" * 8, *["." * 8] * 6, "2" * 8]}, 0, **LIMITS)
    with pytest.raises(InvalidParameter, match="MO-Breakthrough"):
        guarantees.solve_guaranteed_front(momagames.spec("mo-samegame-v0"), start, 0, **LIMITS)
    with pytest.raises(InvalidParameter, match="invalid number of objectives=4: expected 2"):
        best_response.solve_best_responses(full, start, 0, np.zeros(4), **LIMITS)


def test_rejects_unreadable_strategies():
    with pytest.raises(InvalidFile, match="cannot be read"):
        strategies.StoredStrategy("no base64!")
    with pytest.raises(InvalidFile, match="the strategy is incomplete"):
        strategies.StoredStrategy(strategies.encode_actions([1, 2, 3])[:8])


def test_rejects_short_long_and_illegal_strategies():
    game = momagames.spec(ID, **SIZE)
    front = guarantees.solve_guaranteed_front(game, make_position(*ENDINGS[0]), 0, **LIMITS)
    _, actions = guarantees.guarantee_strategy(front, front.points[0])
    with pytest.raises(InvalidFile, match="ends after"):
        strategies.walk(game, front.board.start, 0, strategies.StoredStrategy(strategies.encode_actions(actions[:-1])))
    with pytest.raises(InvalidParameter, match="illegal action"):
        strategies.walk(game, front.board.start, 0, strategies.StoredStrategy(strategies.encode_actions([44, *actions[1:]])))
    longer = strategies.StoredStrategy(strategies.encode_actions([*actions, 1]))
    strategies.walk(game, front.board.start, 0, longer)
    with pytest.raises(InvalidFile, match="only"):
        longer.check_exhausted()
