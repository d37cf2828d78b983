"""Searches of MO-Connect4 against plain minimax of the oracle, and values that are known."""

import copy
import random

import numpy as np
import pytest

import momagames
from momagames.engine.policies import AgentPolicy
from momagames.engine.positions import load_state
from momagames.errors import InvalidParameter
from momagames.games.connect4.policies import _make_search, make_alphabeta, make_solved
from momagames.games.connect4.search_kernels import search
from momagames.kernels.jit import compile_entry_point
from tests.games.connect4.naive import Connect4

ID = "mo-connect4-v0"


def minimax(game, weights):
    """Return the weighted return of the agent to move with best play of both, and its best moves."""
    values = {}
    for action in game.legal(game.mover):
        after = copy.deepcopy(game)
        reward = after.step(action)[game.mover]
        values[action] = float(np.dot(weights, reward)) if after.over else -minimax(after, weights)[0]
    best = max(values.values())
    return best, {action for action, value in values.items() if value > best - 1e-6}


def late_position(chance, params, empty):
    """Return a game with this number of empty cells that goes on."""
    while True:
        game = Connect4(**params)
        while not game.over and params["board_width"] * params["board_height"] - len(game.tokens) > empty:
            game.step(chance.choice(sorted(game.legal(game.mover))))
        if not game.over:
            return game


@pytest.mark.parametrize("size", [(4, 4), (5, 4), (4, 5)])
def test_best_moves_are_those_of_minimax(size, interpreted):
    params = {"board_width": size[0], "board_height": size[1]}
    game, chance, rng = momagames.spec(ID, **params), random.Random(1), np.random.default_rng(1)
    for empty in (1, 2, 5, 6) if interpreted else (1, 2, 5, 6, 7, 8):
        weights = rng.dirichlet(np.ones(len(game.objectives)))
        solved, alphabeta = make_solved(game, weights), make_alphabeta(game, 8, weights)
        oracle = late_position(chance, params, empty)
        _, best = minimax(oracle, weights)
        state, mask = load_state(game, {"board": oracle.rows()})[0], np.zeros(size[0], np.int8)
        mask[sorted(oracle.legal(oracle.mover))] = 1
        found = [{AgentPolicy(policy, game)(state, mask, rng) for _ in range(8)} for policy in (solved, alphabeta)]
        assert found[0] <= best
        assert found[1] <= best


def search_value(size, weights):
    """Return the value of the start position for player_0."""
    game = momagames.spec(ID, board_width=size[0], board_height=size[1])
    return search_position(game, make_solved(game, weights), game.make_state())


def search_position(game, policy, start):
    """Return the value of a position, record[1], for the agent to move."""
    depth, *arrays, states = policy.make_scratch(game)
    states[:] = start

    def run(states, depth, arrays):
        return search(states[0], depth, -np.inf, np.inf, *arrays)

    return compile_entry_point(run, "tests.connect4.search")(states, int(depth[0]), tuple(arrays))[0]


WEIGHTS = [[1, 0], [0, 1], [1, 1], [0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1], [0, 0, 1, 0, 0, 0], [1, 0, 3, 1, 2, 0.5]]


@pytest.mark.compiled
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_values_of_the_smallest_board(weights):
    """As backward induction over all positions gives them."""
    assert search_value((4, 4), [*weights, 0, 0, 0, 0][:6]) == 0


@pytest.mark.long
@pytest.mark.compiled
@pytest.mark.parametrize("weights", [[1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 1], [1, 0, 0.25, 0.5, 1, 0.5, 0.25]], ids=str)
def test_values_of_the_next_board(weights):
    assert search_value((5, 4), weights) == 0


# Moves by column from 1, and the score with best play, as solvers of others have it (the test sets of blog.gamesolver.org): 22
# minus the number of tokens of the winner in the end, negative if the agent to move loses, 0 for a draw
ENDGAMES = """
2252576253462244111563365343671351441 -1, 7422341735647741166133573473242566 1, 23163416124767223154467471272416755633 0,
71255763773133525731261364622167124446454 0, 65214673556155731566316327373221417 -1, 52677675164321472411331752454 0,
3135151421347443544172316522225776773566 0, 562154564361751726662253737734213275114 0,
233377345754465174223731671122611552 1, 6763525635134453444361412671365712 -1, 211376455663355325112113664364524722 0,
3146762114467714356347741621375222 -1, 67152117737262713366376314254 6, 2762751722231276466633475674533 5,
3642756176227637211322113551637574556 2, 22647455554314246733661634615122372377511 0, 427566236745127177115664464254 2,
7172212567451542223676134464437761515 0, 641154574541323641152467137655232232366 0,
5775265212657176476365522624313714333 2, 3575316255751336464276636772271112 -3
"""


@pytest.mark.compiled
def test_endgames_of_the_usual_board_have_their_known_values():
    """The first player wins with its last token at the latest, after 41 moves: a score of 1."""
    game = momagames.spec(ID, objectives=("win", "speed"))
    policy = _make_search("solved", game, 42, 1 << 16, None)
    for line in ENDGAMES.split(","):
        moves, score = line.split()[0], int(line.split()[1])
        oracle = Connect4()
        for move in moves:
            oracle.step(int(move) - 1)
        winner = oracle.mover if score > 0 else 1 - oracle.mover
        moves_of_game = 2 * (22 - abs(score)) - (winner == 0)
        expected = 0 if score == 0 else np.sign(score) * (2 - moves_of_game / 42)
        assert abs(search_position(game, policy, load_state(game, {"board": oracle.rows()})) - expected) < 1e-9


def test_a_shallow_search_wins_and_blocks():
    game, rng = momagames.spec(ID), np.random.default_rng(0)
    winning = ["......."] * 3 + ["1......", "12.....", "12.2..."]
    blocking = ["......."] * 3 + ["1......", "1......", "1222..."]
    for depth, rows, best in ((1, winning, 0), (2, winning, 0), (2, blocking, 0), (3, blocking, 0)):
        state = load_state(game, {"board": rows})[0]
        assert AgentPolicy(make_alphabeta(game, depth), game)(state, np.ones(7, np.int8), rng) == best


def test_a_search_prefers_the_middle():
    game = momagames.spec(ID)
    for depth in (1, 3):
        assert (
            AgentPolicy(make_alphabeta(game, depth), game)(game.make_state()[0], np.ones(7, np.int8), np.random.default_rng(0))
            == 3
        )


def test_weights_are_those_of_objectives():
    game = momagames.spec(ID, objectives=("column_0", "column_6"))
    rng, mask = np.random.default_rng(0), np.ones(7, np.int8)
    for weights, column in (({"column_0": 1.0}, 0), ({"column_6": 1.0}, 6)):
        assert AgentPolicy(make_alphabeta(game, 1, weights), game)(game.make_state()[0], mask, rng) == column
    both = AgentPolicy(make_alphabeta(game, 1), game)
    assert {both(game.make_state()[0], mask, rng) for _ in range(20)} == {0, 6}


def test_what_is_too_large_is_rejected():
    game = momagames.spec(ID)
    with pytest.raises(InvalidParameter, match="solved: invalid cells=42: expected a board of at most 20 cells"):
        make_solved(game)
    with pytest.raises(InvalidParameter, match="alphabeta: invalid depth=0"):
        make_alphabeta(game, 0)
