"""Equilibria of MO-Breakthrough against the definitions: every pair of pure strategies of tiny games, every deviation."""

import itertools

import numpy as np
import pytest

import momagames
from momagames.errors import InvalidParameter, TooLarge
from momagames.games.breakthrough.solver.equilibria import solve_equilibria
from tests.games.breakthrough.test_solver import SIZE, make_position_at, step_copy

ID, NAMES = "mo-breakthrough-v0", ("win", "captures")
LIMITS = {"max_states": 10**6, "max_bytes": 1 << 28}
TINY = [  # rows and the agent to move; at most some thousand pairs of strategies
    (["...", ".21", ".2.", "1..", "..."], 1),
    (["...", ".2.", ".1.", "2.1", "..."], 1),
    (["...", "2..", ".1.", "2.1", "..."], 0),
    (["...", "1..", "2.1", "...", "..."], 1),
    (["...", "...", ".12", "1..", "..."], 0),
]


def list_histories(game, returns=((0.0, 0.0), (0.0, 0.0))):
    """Return the tree of a game: the mover and the subtrees, or the returns of both agents."""
    if game.over:
        return tuple((int(win), round(6 * captures)) for win, captures in returns)
    children = []
    for action in sorted(game.legal(game.mover)):
        after, reward = step_copy(game, action, NAMES)
        total = tuple(tuple(a + b for a, b in zip(*rows, strict=True)) for rows in zip(returns, reward, strict=True))
        children.append(list_histories(after, total))
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


@pytest.mark.parametrize(("rows", "mover"), TINY)
def test_equilibria_equal_the_definition(rows, mover):
    tree = list_histories(make_position_at(rows, mover, NAMES))
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
    game = momagames.spec(ID, **SIZE, objectives=NAMES)
    position = {"board": rows, "next_agent": f"player_{mover}", "ply": 11 + mover}
    found = solve_equilibria(game, position, **LIMITS)
    assert set(found.pareto_nash) == nash
    assert set(found.subgame_perfect) == perfect
    assert perfect
    assert perfect <= nash


def test_rejects_other_objectives_sizes_and_limits():
    start = {"board": ["111", "111", "...", "222", "222"]}
    with pytest.raises(InvalidParameter, match=r"objectives=\('win', 'speed'\): expected \('win', 'captures'\)"):
        solve_equilibria(momagames.spec(ID, **SIZE, objectives=("win", "speed")), start, **LIMITS)
    wide = momagames.spec(ID, board_width=6, board_height=5, objectives=NAMES)
    with pytest.raises(InvalidParameter, match="board_width=6: expected at most 5"):
        solve_equilibria(wide, {"board": ["111111", *["......"] * 3, "222222"]}, **LIMITS)
    with pytest.raises(TooLarge, match="max_states=1,000"):
        solve_equilibria(momagames.spec(ID, **SIZE, objectives=NAMES), start, max_states=1000, max_bytes=1 << 28)
