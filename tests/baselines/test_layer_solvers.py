"""Solvers by layers of positions, against the definitions: all strategies of endgames of MO-Connect4, played by its oracle."""

import copy
import itertools
import random

import numpy as np
import pytest

import momagames
from momagames.baselines import layer_solvers
from momagames.baselines.front_solvers import SearchLimits
from momagames.baselines.strategies import StoredStrategy, encode_actions, walk
from momagames.engine.playouts import generate_starts
from momagames.engine.positions import load_state
from momagames.errors import InvalidFile, InvalidParameter, TooLarge
from momagames.kernels.rng import random_words
from tests.games.connect4.naive import Connect4

pytestmark = pytest.mark.compiled

ID = "mo-connect4-v0"
SIZE = {"board_width": 4, "board_height": 4}
NAMES = [None, ("win", "column_1"), ("column_0", "column_3"), ("speed", "win", "column_2")]
LIMITS = SearchLimits(10**6, 1 << 28)
MAX_PAIRS = 3000


def count_choices(game):
    """Return the number of pairs of strategies, which choose an action in every history."""
    if game.over:
        return 1
    return len(game.legal(game.mover)) * np.prod([count_choices(play(game, x)) for x in game.legal(game.mover)], dtype=float)


def play(game, action):
    after = copy.deepcopy(game)
    after.rewards = after.step(action)
    return after


def make_endgame(seed, names, empty):
    """Return a game with this number of empty cells that goes on, and few strategies."""
    chance = random.Random(seed)
    while True:
        game = Connect4(**SIZE, objectives=names)
        while not game.over and 16 - len(game.tokens) > empty:
            game.step(chance.choice(sorted(game.legal(game.mover))))
        if not game.over and 10 < count_choices(game) < MAX_PAIRS:
            return game


def list_tree(game):
    """Return (mover, {action: subtree}), or the returns of both agents."""
    if game.over:
        return tuple(tuple(row) for row in np.round(game.rewards, 9).tolist())
    return game.mover, {x: list_tree(play(game, x)) for x in sorted(game.legal(game.mover))}


def is_node(tree):
    return isinstance(tree[1], dict)


def list_nodes(tree):
    if is_node(tree):
        yield tree
        for child in tree[1].values():
            yield from list_nodes(child)


def attain(tree, chosen, agent=None):
    """Return the outcomes of the chosen actions; those of all actions where `agent` moves."""
    if not is_node(tree):
        return {tree}
    mover, moves = tree
    children = moves.values() if mover == agent else [moves[chosen[id(tree)]]]
    return set().union(*(attain(child, chosen, agent) for child in children))


def dominates(u, v):
    return u != v and all(a >= b for a, b in zip(u, v, strict=True))


def is_equilibrium(tree, chosen):
    (outcome,) = attain(tree, chosen)
    return not any(dominates(other[agent], outcome[agent]) for agent in (0, 1) for other in attain(tree, chosen, agent))


def solve_by_definition(tree):
    """Return the outcomes of equilibria, of subgame perfect ones, and the fronts that the agents can guarantee."""
    nodes = list(list_nodes(tree))
    nash, perfect, held = set(), set(), [set(), set()]
    for actions in itertools.product(*(node[1] for node in nodes)):
        chosen = {id(node): action for node, action in zip(nodes, actions, strict=True)}
        if is_equilibrium(tree, chosen):
            (outcome,) = attain(tree, chosen)
            nash.add(outcome)
            if all(is_equilibrium(node, chosen) for node in nodes):
                perfect.add(outcome)
        for agent in (0, 1):
            against = attain(tree, chosen, 1 - agent)
            held[agent].add(tuple(min(column) for column in zip(*(one[agent] for one in against), strict=True)))
    return nash, perfect, [{v for v in one if not any(dominates(u, v) for u in one)} for one in held]


def as_outcomes(values):
    return {tuple(map(tuple, np.round(row, 9).reshape(2, -1).tolist())) for row in values}


@pytest.mark.parametrize("names", NAMES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_solvers_agree_with_the_definitions(seed, names):
    oracle = make_endgame(seed, names, 4)
    game = momagames.spec(ID, **SIZE, **({"objectives": names} if names else {}))
    start = {"board": oracle.rows(), "next_agent": f"player_{oracle.mover}"}
    nash, perfect, held = solve_by_definition(list_tree(oracle))
    for solver, expected in ((layer_solvers.EQUILIBRIUM, nash), (layer_solvers.SUBGAME_PERFECT, perfect)):
        found = solver.solve(game, start, 0, None, LIMITS)
        assert as_outcomes(found.values) == expected
        solver.prove(game, start, 0, None, found.values, LIMITS)
        with pytest.raises(InvalidFile):
            solver.prove(game, start, 0, None, found.values + 1, LIMITS)
    for agent in (0, 1):
        found = layer_solvers.GUARANTEED.solve(game, start, agent, None, LIMITS)
        assert {tuple(np.round(row, 9).tolist()) for row in found.values} == held[agent]
        for point, actions in zip(found.values, found.strategies, strict=True):
            stored = StoredStrategy(encode_actions(list(actions)))
            assert (walk(game, load_state(game, start), agent, stored).worst == point).all()
            stored.check_exhausted()
        layer_solvers.GUARANTEED.prove(game, start, agent, None, found.values, LIMITS)
        with pytest.raises(InvalidFile):
            layer_solvers.GUARANTEED.prove(game, start, agent, None, found.values - 1, LIMITS)


def test_limits():
    game = momagames.spec(ID, **SIZE)
    start = {"board": ["...."] * 4}
    with pytest.raises(TooLarge, match="max_states=100"):
        layer_solvers.GUARANTEED.solve(game, start, 0, None, SearchLimits(100, 1 << 28))
    for solver in (layer_solvers.GUARANTEED, layer_solvers.EQUILIBRIUM):
        with pytest.raises(TooLarge, match="max_bytes=1,000;"):
            solver.solve(game, start, 0, None, SearchLimits(10**6, 1000))
    other = momagames.spec("mo-robotmail-2-v0")
    with pytest.raises(InvalidParameter, match="does not fit"):
        layer_solvers.EQUILIBRIUM.solve(other, generate_starts(other, random_words(0, 1))[0], 0, None, LIMITS)
