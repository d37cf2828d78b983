"""MO-Breakthrough solved: against a plain recursion over the rules as written from the page, and by other methods."""

import itertools

import numpy as np
import pytest

import momagames
from momagames.baselines import strategies
from momagames.errors import InvalidFile, InvalidParameter, TooLarge
from momagames.games.breakthrough import solver as solved
from tests.games.breakthrough.naive import Breakthrough

ID = "mo-breakthrough-v0"
LIMITS = {"max_states": 10**6, "max_bytes": 1 << 28}
SIZE = {"board_width": 3, "board_height": 5}
ENDINGS = [  # rows from player_0's home on, who moves
    (["...", "11.", ".2.", "2..", "..."], 0),
    (["...", "1.1", "2..", ".2.", "..."], 1),
    ([".1.", "1..", ".2.", "...", "2.."], 0),
]


def naive(rows, mover, names):
    return Breakthrough.given(rows, mover, **SIZE, objectives=names)


def played(game, action, names):
    """A copy after an action, and what it paid each side."""
    after = Breakthrough(**SIZE, objectives=names)
    after.pieces = [set(side) for side in game.pieces]
    after.mover, after.ply, after.over = game.mover, game.ply, game.over
    reward = after.step(action)
    return after, [np.array(row, np.float64) for row in reward]


def maximal(vectors):
    return {u for u in vectors if not any(v != u and all(a <= b for a, b in zip(u, v, strict=True)) for v in vectors)}


def plus(u, v):
    return tuple(round(a + b, 9) for a, b in zip(u, v, strict=True))


def brute_guaranteed(game, agent, names):
    """The front of what `agent` can guarantee, from what the moves of a position lead to."""
    if game.over:
        return {(0.0,) * len(names)}
    behind = []
    for action in game.legal(game.mover):
        after, reward = played(game, action, names)
        behind.append({plus(reward[agent], v) for v in brute_guaranteed(after, agent, names)})
    if game.mover == agent:
        return maximal(set().union(*behind))
    common = behind[0]
    for other in behind[1:]:
        common = maximal({tuple(map(min, u, v)) for u in common for v in other})
    return maximal(common)


def brute_expected(game, agent, names):
    """The expected returns of every policy without chance against a random opponent."""
    if game.over:
        return {(0.0,) * len(names)}
    actions = game.legal(game.mover)
    behind = []
    for action in actions:
        after, reward = played(game, action, names)
        behind.append({plus(reward[agent], v) for v in brute_expected(after, agent, names)})
    if game.mover == agent:
        return maximal(set().union(*behind))
    return maximal(
        {tuple(round(sum(v) / len(actions), 9) for v in zip(*one, strict=True)) for one in itertools.product(*behind)}
    )


def given(rows, mover):
    return {"board": rows, "next_agent": f"player_{mover}", "ply": 11 + mover}


def at(rows, mover, names):
    game = naive(rows, mover, names)
    game.ply = 11 + mover
    return game


@pytest.mark.parametrize("agent", [0, 1])
@pytest.mark.parametrize(("rows", "mover"), ENDINGS)
def test_guaranteed_equals_the_plain_recursion(rows, mover, agent):
    game = momagames.spec(ID, **SIZE)
    names = tuple(goal.name for goal in game.objectives)
    found = solved.guaranteed(game, given(rows, mover), agent, **LIMITS)
    expected = brute_guaranteed(at(rows, mover, names), agent, names)
    assert {tuple(row) for row in found.points.tolist()} == {
        tuple(row) for row in found.board.in_units(np.array(sorted(expected))).tolist()
    }
    for point in found.points:
        walked, actions = solved.witness(found, point)
        assert (found.board.in_units(walked.worst) == point).all()
        stored = strategies.Stored(strategies.pack(actions))
        assert (strategies.walk(game, found.board.start, agent, stored).worst == walked.worst).all()
        stored.check_done()


@pytest.mark.parametrize("objectives", [("captures",), ("losses", "win"), ("speed", "losses", "captures")])
def test_guaranteed_with_other_objectives(objectives):
    rows, mover = ENDINGS[0]
    game = momagames.spec(ID, **SIZE, objectives=objectives)
    found = solved.guaranteed(game, given(rows, mover), 0, **LIMITS)
    expected = brute_guaranteed(at(rows, mover, objectives), 0, objectives)
    assert {tuple(row) for row in found.points.tolist()} == {
        tuple(row) for row in found.board.in_units(np.array(sorted(expected))).tolist()
    }


@pytest.mark.parametrize("agent", [0, 1])
def test_the_threshold_games_say_the_same(agent):
    """Each point can be guaranteed; none of the smallest vectors beyond the points can."""
    rows, mover = ENDINGS[2]
    game = momagames.spec(ID, **SIZE)
    found = solved.guaranteed(game, given(rows, mover), agent, **LIMITS)
    least, most = np.array([-1, -25, 0, -6]), np.array([1, 25, 6, 0])
    assert solved.can_guarantee(found.board, found.points).all()
    beyond = solved.minimal_uncovered(found.points, least, most)
    assert len(beyond) > 0
    assert not solved.can_guarantee(found.board, beyond).any()
    every = {tuple(v) for v in beyond.tolist()}
    for vector in itertools.product(range(-1, 2), range(-25, 26, 7), range(7), range(-6, 1)):
        covered = (found.points >= vector).all(axis=1).any()
        assert covered != any(all(b <= v for b, v in zip(corner, vector, strict=True)) for corner in every)


def test_mirror_images_have_the_same_front():
    rows, mover = ENDINGS[1]
    game = momagames.spec(ID, **SIZE)
    one = solved.guaranteed(game, given(rows, mover), 0, **LIMITS)
    two = solved.guaranteed(game, given([row[::-1] for row in rows], mover), 0, **LIMITS)
    assert (one.points == two.points).all()
    assert one.states == two.states


@pytest.mark.parametrize(
    ("rows", "mover"), [(["...", "1..", "..2", "...", "..."], 0), (["...", "1..", ".2.", "2..", "..."], 1)]
)
def test_responses_to_random_play(rows, mover):
    """Every policy is on or below the lines between the corners, and each corner is a policy's."""
    names = ("win", "captures")
    game = momagames.spec(ID, **SIZE, objectives=names)
    for agent in (0, 1):
        found = solved.responses(game, given(rows, mover), agent, np.zeros(2), **LIMITS)
        every = np.array(sorted(brute_expected(at(rows, mover, names), agent, names)))
        for corner, user in zip(found.points, found.users, strict=True):
            assert np.abs(every - corner).max(axis=1).min() < 1e-6
            assert (every @ user).max() <= corner @ user + 1e-6
            assert abs(solved.best_response_value(found.board, np.zeros(2), user) - corner @ user) < 1e-12
            walked, _ = solved.response_strategy(found, user)
            assert np.abs(walked.expected - corner).max() < 1e-12


def test_responses_to_greedy_play():
    """The other wins where it can, else captures where it can: with a piece before its goal it does nothing else."""
    names = ("win", "captures")
    game = momagames.spec(ID, **SIZE, objectives=names)
    rows = ["1..", "..2", "1..", "...", "2.."]
    greedy = solved.responses(game, given(rows, 0), 0, np.array([0.5, 0.5]), **LIMITS)
    assert greedy.points[0].tolist() == [-1.0, 0.0]
    at_random = solved.responses(game, given(rows, 0), 0, np.zeros(2), **LIMITS)
    assert at_random.points[0, 0] > -1


def test_refused():
    full = momagames.spec(ID, **SIZE)
    start = {"board": ["111", "111", "...", "222", "222"]}
    with pytest.raises(TooLarge, match="max_states=1,000"):
        solved.guaranteed(full, start, 0, max_states=1000, max_bytes=1 << 28)
    with pytest.raises(TooLarge, match="max_bytes=100;"):
        solved.guaranteed(full, given(*ENDINGS[0]), 0, max_states=1000, max_bytes=100)
    pair = momagames.spec(ID, **SIZE, objectives=("win", "captures"))
    with pytest.raises(TooLarge, match="max_bytes=100;"):
        solved.responses(pair, given(*ENDINGS[0]), 0, np.zeros(2), max_states=1000, max_bytes=100)
    with pytest.raises(InvalidParameter, match="at most 32 cells; this one has 64"):
        solved.guaranteed(momagames.spec(ID), start, 0, **LIMITS)
    with pytest.raises(InvalidParameter, match="MO-Breakthrough"):
        solved.guaranteed(momagames.spec("mo-samegame-v0"), start, 0, **LIMITS)
    with pytest.raises(InvalidParameter, match="2 objectives; there are 4"):
        solved.responses(full, start, 0, np.zeros(4), **LIMITS)


def test_a_strategy_that_cannot_be_read():
    with pytest.raises(InvalidFile, match="cannot be read"):
        strategies.Stored("no base64!")
    with pytest.raises(InvalidFile, match="not of one piece"):
        strategies.Stored(strategies.pack([1, 2, 3])[:8])


def test_a_strategy_that_ends_early_or_plays_what_is_illegal():
    game = momagames.spec(ID, **SIZE)
    found = solved.guaranteed(game, given(*ENDINGS[0]), 0, **LIMITS)
    _, actions = solved.witness(found, found.points[0])
    with pytest.raises(InvalidFile, match="ends after"):
        strategies.walk(game, found.board.start, 0, strategies.Stored(strategies.pack(actions[:-1])))
    with pytest.raises(InvalidParameter, match="not legal"):
        strategies.walk(game, found.board.start, 0, strategies.Stored(strategies.pack([44, *actions[1:]])))
    longer = strategies.Stored(strategies.pack([*actions, 1]))
    strategies.walk(game, found.board.start, 0, longer)
    with pytest.raises(InvalidFile, match="only"):
        longer.check_done()
