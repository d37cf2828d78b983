"""Equilibria of MO-Breakthrough against the definitions: every pair of pure strategies of tiny games, every deviation."""

import itertools

import numpy as np
import pytest

import momagames
from momagames.baselines.equilibria import evaluate_equilibrium, list_equilibria
from momagames.baselines.strategies import compute_legal_masks, encode_actions, walk
from momagames.baselines.subgame_perfect import list_subgame_perfect
from momagames.engine.positions import load_state
from momagames.errors import InvalidFile, InvalidParameter, TooLarge
from momagames.games.breakthrough.solver.equilibria import find_speed_outcome, solve_equilibria
from momagames.games.breakthrough.solver.guarantees import solve_guaranteed_front
from tests.games.breakthrough.test_solver import SIZE, make_position_at, step_copy

pytestmark = pytest.mark.compiled

ID, NAMES = "mo-breakthrough-v0", ("win", "captures")
LIMITS = {"max_states": 10**6, "max_bytes": 1 << 28}
TINY = [  # rows and the agent to move; at most some thousand pairs of strategies
    (["...", ".21", ".2.", "1..", "..."], 1),
    (["...", ".2.", ".1.", "2.1", "..."], 1),
    (["...", "2..", ".1.", "2.1", "..."], 0),
    (["...", "1..", "2.1", "...", "..."], 1),
    (["...", "...", ".12", "1..", "..."], 0),
]


def list_histories(game, names=NAMES, scale=6, returns=((0.0, 0.0), (0.0, 0.0))):
    """Return the tree of a game: the mover and the subtrees, or the returns of both agents."""
    if game.over:
        return tuple((int(win), round(scale * other)) for win, other in returns)
    children = []
    for action in sorted(game.legal(game.mover)):
        after, reward = step_copy(game, action, names)
        total = tuple(tuple(a + b for a, b in zip(*rows, strict=True)) for rows in zip(returns, reward, strict=True))
        children.append(list_histories(after, names, scale, total))
    return {"mover": game.mover, "children": children}


def list_nodes(tree):
    if isinstance(tree, dict):
        yield tree
        for child in tree["children"]:
            yield from list_nodes(child)


def dominates(v, u):
    return v != u and v[0] >= u[0] and v[1] >= u[1]


def play(tree, choices):
    while isinstance(tree, dict):
        tree = tree["children"][choices[id(tree)]]
    return tree


def attain(tree, agent, choices):
    """Return the vectors that an agent attains by any strategy, against the choices of the other."""
    if not isinstance(tree, dict):
        return {tree[agent]}
    if tree["mover"] != agent:
        return attain(tree["children"][choices[id(tree)]], agent, choices)
    return set().union(*(attain(child, agent, choices) for child in tree["children"]))


def is_equilibrium(tree, choices):
    outcome = play(tree, choices)
    return not any(dominates(v, outcome[agent]) for agent in (0, 1) for v in attain(tree, agent, choices))


def enumerate_equilibria(tree):
    """Return the outcomes of the equilibria, and of the subgame perfect ones, by the definition."""
    nodes = list(list_nodes(tree))
    numbers = [len(node["children"]) for node in nodes]
    assert 10 < np.prod(numbers, dtype=float) < 50_000
    nash, perfect = set(), set()
    for chosen in itertools.product(*map(range, numbers)):
        choices = {id(node): choice for node, choice in zip(nodes, chosen, strict=True)}
        if is_equilibrium(tree, choices):
            nash.add(play(tree, choices))
            if all(is_equilibrium(node, choices) for node in nodes):
                perfect.add(play(tree, choices))
    return nash, perfect


@pytest.mark.parametrize(("rows", "mover"), TINY)
def test_equilibria_equal_the_definition(rows, mover):
    nash, perfect = enumerate_equilibria(list_histories(make_position_at(rows, mover, NAMES)))
    game = momagames.spec(ID, **SIZE, objectives=NAMES)
    position = {"board": rows, "next_agent": f"player_{mover}", "ply": 11 + mover}
    found = solve_equilibria(game, position, **LIMITS)
    assert set(found.pareto_nash) == nash
    assert set(found.subgame_perfect) == perfect
    assert perfect
    assert perfect <= nash
    for derive, expected in ((list_equilibria, nash), (list_subgame_perfect, perfect)):
        rows = derive(game, load_state(game, position), 10**6)
        assert {tuple((round(row[2 * a]), round(6 * row[2 * a + 1])) for a in (0, 1)) for row in rows} == expected


@pytest.mark.parametrize(("rows", "mover"), TINY)
def test_strategies_attain_their_outcome_and_no_deviation_dominates_it(rows, mover):
    game = momagames.spec(ID, **SIZE, objectives=NAMES)
    start = load_state(game, {"board": rows, "next_agent": f"player_{mover}", "ply": 11 + mover})
    found = solve_equilibria(game, start, **LIMITS, with_strategies=True)
    assert len(found.strategies) == len(found.pareto_nash) > 0
    for outcome, pair in zip(found.pareto_nash, found.strategies, strict=True):
        returns = evaluate_equilibrium(game, start, tuple(encode_actions(actions) for actions in pair))
        assert tuple((round(returns[2 * a]), round(6 * returns[2 * a + 1])) for a in (0, 1)) == outcome


def test_first_legal_moves_are_no_equilibrium():
    game = momagames.spec(ID, **SIZE, objectives=NAMES)
    start = load_state(game, {"board": TINY[1][0], "next_agent": "player_1", "ply": 12})
    texts = []
    for agent in (0, 1):
        played = []

        def choose(states, returns, played=played):
            played += compute_legal_masks(game, states).argmax(axis=1).tolist()
            return np.array(played[-len(states) :])

        walk(game, start, agent, choose, returns_of=1 - agent)
        texts.append(encode_actions(played))
    with pytest.raises(InvalidFile, match=r"player_\d gets .*, and .* by another strategy"):
        evaluate_equilibrium(game, start, tuple(texts))


def test_derivation_rejects_too_many_positions():
    game = momagames.spec(ID, **SIZE, objectives=NAMES)
    with pytest.raises(TooLarge, match="expected at most max_states=100"):
        list_equilibria(game, load_state(game, {"board": ["111", "111", "...", "222", "222"]}), 100)


@pytest.mark.parametrize(("rows", "mover"), TINY)
def test_all_equilibria_for_win_and_speed_have_the_guaranteed_outcome(rows, mover):
    names, scale = ("win", "speed"), 4 * 3 * 2 + 1
    tree = list_histories(make_position_at(rows, mover, names), names, scale)
    game = momagames.spec(ID, **SIZE, objectives=names)
    position = {"board": rows, "next_agent": f"player_{mover}", "ply": 11 + mover}
    solved = [solve_guaranteed_front(game, position, agent, **LIMITS) for agent in (0, 1)]
    winner, speed = find_speed_outcome([one.points / one.board.units for one in solved])
    vector = (1, round(scale * speed))
    expected = {tuple(vector if agent == winner else (-1, -vector[1]) for agent in (0, 1))}
    assert enumerate_equilibria(tree) == (expected, expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [([[1, 0.5], [-1, 0.6]], [[-1, -0.5]]), ([[1, 0.5]], [[-1, -0.6]]), ([[1, 0.2]], [[-1, -0.2]])],
)
def test_other_guaranteed_vectors_do_not_decide_the_equilibria(first, second):
    with pytest.raises(InvalidParameter, match="expected"):
        find_speed_outcome([np.array(first), np.array(second)])


def test_rejects_other_objectives_sizes_and_limits():
    start = {"board": ["111", "111", "...", "222", "222"]}
    with pytest.raises(InvalidParameter, match=r"objectives=\('win', 'speed'\): expected \('win', 'captures'\)"):
        solve_equilibria(momagames.spec(ID, **SIZE, objectives=("win", "speed")), start, **LIMITS)
    wide = momagames.spec(ID, board_width=6, board_height=5, objectives=NAMES)
    with pytest.raises(InvalidParameter, match="board_width=6: expected at most 5"):
        solve_equilibria(wide, {"board": ["111111", *["......"] * 3, "222222"]}, **LIMITS)
    with pytest.raises(TooLarge, match="max_states=1,000"):
        solve_equilibria(momagames.spec(ID, **SIZE, objectives=NAMES), start, max_states=1000, max_bytes=1 << 28)
