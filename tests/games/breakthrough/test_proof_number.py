"""Proof-number search on MO-Breakthrough against plain recursion over an independent implementation, and published values."""

import itertools

import numpy as np
import pytest

import momagames
from momagames.baselines import batch_policy
from momagames.engine.batch import Batch
from momagames.engine.playouts import generate_starts
from momagames.engine.policies import SeatedPolicies, play_policies
from momagames.errors import InvalidParameter, TooLarge
from momagames.games.breakthrough.solver.guarantees import Board
from momagames.games.breakthrough.solver.proof_number import Limits, ProofNumberSearch, make_threshold_goal, make_win_goal
from momagames.kernels.rng import random_words
from tests.games.breakthrough.naive import Breakthrough
from tests.games.breakthrough.test_solver import ENDINGS, brute_guaranteed, make_position, make_position_at

pytestmark = pytest.mark.compiled  # visits many positions
ID = "mo-breakthrough-v0"


def make_board(width, height, objectives=("win",)):
    return momagames.spec(ID, board_width=width, board_height=height, objectives=objectives)


def make_start(width, height):
    return {"board": [*["1" * width] * 2, *["." * width] * (height - 4), *["2" * width] * 2]}


def does_mover_win(pieces, mover, width, height, known):
    """Return whether the agent to move wins, by recursion with a table; `pieces` are two frozen sets of cells (x, y)."""
    key = (*pieces, mover)
    if key not in known:
        known[key] = False
        for x, y in sorted(pieces[mover], key=lambda cell: cell[1], reverse=mover == 0):
            for to in ((x - 1, y + 1 - 2 * mover), (x, y + 1 - 2 * mover), (x + 1, y + 1 - 2 * mover)):
                is_free = to not in pieces[0] | pieces[1]
                if not (0 <= to[0] < width) or to in pieces[mover] or (to[0] == x and not is_free):
                    continue
                own, other = (pieces[mover] - {(x, y)}) | {to}, pieces[1 - mover] - {to}
                is_won = to[1] in (0, height - 1) or not other
                after = (own, other) if mover == 0 else (other, own)
                if is_won or not does_mover_win(after, 1 - mover, width, height, known):
                    known[key] = True
                    return True
    return known[key]


def play_at_random(game, count, plies, seed):
    batch = Batch(game, count, autoreset="disabled")
    batch.load(generate_starts(game, np.zeros(count, np.uint64)))
    words = random_words(seed, count)
    for _ in range(plies):
        batch.step(batch.sample_actions(words))
    return batch.states[batch.states["over"] == 0]


def read_pieces(game, state):
    rows = game.codec.save(state)["board"]
    return tuple(
        frozenset((x, y) for y, row in enumerate(rows) for x, symbol in enumerate(row) if symbol == "12"[side])
        for side in (0, 1)
    )


@pytest.mark.long
@pytest.mark.parametrize(("width", "height", "plies"), [(3, 5, 9), (3, 6, 16), (4, 5, 16), (5, 5, 21)])
def test_values_equal_plain_recursion(width, height, plies):
    """Values of random positions for the agent to move, and the moves that win."""
    game, checked = make_board(width, height), []
    states = play_at_random(game, 60, plies, width)[:16]
    search, known = ProofNumberSearch(game), {}
    legal, good = search.find_good_moves(states, 0, make_win_goal())
    for n, state in enumerate(states):
        mover = int(state["to_move"])
        wins = does_mover_win(read_pieces(game, state), mover, width, height, known)
        assert search.can_force(state, mover, make_win_goal()) == wins
        assert search.can_force(state, 1 - mover, make_win_goal()) != wins
        assert good[n].any() == wins
        play = Breakthrough.given(game.codec.save(state)["board"], mover, board_width=width, board_height=height)
        assert set(np.flatnonzero(legal[n]).tolist()) == play.legal(mover)
        for action in play.legal(mover):
            after = Breakthrough.given(play.rows(), mover, board_width=width, board_height=height)
            after.step(action)
            pieces = tuple(map(frozenset, after.pieces))
            assert good[n, action] == (after.over or not does_mover_win(pieces, 1 - mover, width, height, known))
        checked.append(wins)
    assert set(checked) == {True, False}


@pytest.mark.parametrize(("width", "height", "winner"), [(3, 5, 1), (3, 6, 0), (4, 5, 1)])
def test_winners_of_small_boards(width, height, winner):
    """Known since 2006: the second agent wins on 3x5 and 4x5, the first on 3x6."""
    game = make_board(width, height)
    search = ProofNumberSearch(game)
    assert [search.can_force(make_start(width, height), agent, make_win_goal()) for agent in (0, 1)] == [
        winner == 0,
        winner == 1,
    ]


@pytest.mark.long
def test_start_position_by_plain_recursion():
    pieces = tuple(frozenset((x, y) for x in range(3) for y in rows) for rows in ((0, 1), (3, 4)))
    assert not does_mover_win(pieces, 0, 3, 5, {})


@pytest.mark.long
@pytest.mark.parametrize(("width", "height", "winner"), [(3, 7, 1), (5, 5, 1)])
def test_winners_of_larger_boards(width, height, winner):
    game = make_board(width, height)
    assert ProofNumberSearch(game).can_force(make_start(width, height), winner, make_win_goal())


@pytest.mark.parametrize("agent", [0, 1])
@pytest.mark.parametrize(("rows", "mover"), ENDINGS)
def test_thresholds_equal_brute_force(rows, mover, agent):
    """A vector can be forced if and only if a point of the front that recursion finds dominates it."""
    game = momagames.spec(ID, board_width=3, board_height=5)
    names = tuple(one.name for one in game.objectives)
    board = Board(game, make_position(rows, mover), agent)
    front = board.to_units(np.array(sorted(brute_guaranteed(make_position_at(rows, mover, names), agent, names))))
    search, found = ProofNumberSearch(game), set()
    vectors = itertools.product((-1, 1), (-25, -20, -13, -10, -5, 5, 8, 11, 12), (0, 1, 2), (-3, -1, 0))
    for number, vector in enumerate(vectors, 2):
        goal = make_threshold_goal(board, np.array(vector), number)
        can_force = search.can_force(board.start[0], agent, goal)
        assert can_force == (front >= vector).all(axis=1).any(), vector
        found.add(can_force)
        good = search.find_good_moves(board.start, agent, goal)[1]
        assert good.any() == (can_force == (agent == mover))
    assert found == {True, False}


def test_memory_limit_keeps_values():
    """New positions replace old ones in a table of a fixed size."""
    game = make_board(3, 5)
    small = ProofNumberSearch(game, Limits(max_bytes=0), slots=1 << 6)
    assert small.can_force(make_start(3, 5), 1, make_win_goal())
    assert small.bytes == 1 << 11
    large = ProofNumberSearch(game)
    assert large.can_force(make_start(3, 5), 1, make_win_goal())
    assert large.nodes < small.nodes


def test_search_continues_after_a_limit():
    game = make_board(3, 6)
    search = ProofNumberSearch(game, Limits(max_nodes=1 << 17))
    with pytest.raises(TooLarge, match=r"unsolved after 131,072 nodes .* max_nodes=131,072"):
        search.can_force(make_start(3, 6), 0, make_win_goal())
    search.limits = Limits()
    seen = []
    assert search.can_force(make_start(3, 6), 0, make_win_goal(), lambda nodes, size: seen.append((nodes, size)))
    whole = ProofNumberSearch(game)
    whole.can_force(make_start(3, 6), 0, make_win_goal())
    assert search.nodes < 1.5 * whole.nodes
    assert seen == sorted(seen)


def test_rejects_other_games_and_boards():
    with pytest.raises(InvalidParameter, match="at most 64 cells; this one has 72"):
        ProofNumberSearch(make_board(9, 8))
    with pytest.raises(InvalidParameter, match="needs MO-Breakthrough"):
        ProofNumberSearch(momagames.spec("mo-samegame-v0"))


@pytest.mark.long
def test_solved_policy_keeps_wins():
    """Its moves are those that the search finds, in batches and for one agent; the game is won from a won position."""
    game = make_board(4, 5)
    states = play_at_random(game, 32, 8, 1)
    _, good = ProofNumberSearch(game).find_good_moves(states, 0, make_win_goal())
    policy = batch_policy("solved", game)
    batch = Batch(game, len(states), autoreset="disabled")
    batch.load(states)
    seen = set()
    for seed in range(8):
        chosen = SeatedPolicies(batch, [policy], [0, 0], seed).act()[:, 0, 0].copy()
        seen.add(chosen.tobytes())
        assert (good[np.arange(len(states)), chosen] == good.any(axis=1)).all()
    assert len(seen) > 1
    words = random_words(2, 2 * len(states)).reshape(-1, 2)
    for seat in (0, 1):
        played = play_policies(game, states, [policy, batch_policy("random", game)], np.array([seat, 1 - seat]), words)
        won = good.any(axis=1) == (states["to_move"] == seat)
        assert (played.returns[won, seat, 0] == 1).all()


def test_solved_policy_rejects_large_boards():
    with pytest.raises(InvalidParameter, match="at most 25 cells; this one has 64"):
        batch_policy("solved", momagames.spec(ID))
