"""Endgames of the duel against plain recursion over copies of an environment."""

import functools
import itertools

import pytest

from benchmarks.fronts.pommerman_endgames import LOSS, SURVIVAL, WIN, find_position, solve_endgame
from momagames.engine.episode import Episode
from momagames.errors import TooLarge


def list_results(game, state):
    """Return the tree of a game: 6x6 subtrees, or the results of both agents."""
    if state["over"]:
        return tuple(WIN if int(state["winners"]) >> a & 1 else SURVIVAL if state["alive"][a] else LOSS for a in (0, 1))
    rows = []
    for first, second in itertools.product(range(6), repeat=2):
        episode = Episode(game)
        episode.load(state)
        episode.step([[first], [second]])
        rows.append(list_results(game, episode.states[0].copy()))
    return [rows[6 * i : 6 * i + 6] for i in range(6)]


def evaluate(tree, agent, is_informed):
    """Return what an agent forces: it moves first, or after the other if it is informed."""
    if isinstance(tree, tuple):
        return tree[agent]
    values = [[evaluate(one, agent, is_informed) for one in row] for row in tree]
    rows = values if agent == 0 else list(map(list, zip(*values, strict=True)))
    return min(max(column) for column in zip(*rows, strict=True)) if is_informed else max(map(min, rows))


@functools.cache
def make_tree(seed):
    game, start = find_position(2, seed)
    return game, start, list_results(game, start[0])


@pytest.mark.parametrize("seed", [0, 8, 37])
def test_values_equal_plain_recursion(seed):
    game, start, tree = make_tree(seed)
    found = solve_endgame(game, start)
    assert found.values == tuple(evaluate(tree, agent, False) for agent in (0, 1))
    assert found.informed == tuple(evaluate(tree, agent, True) for agent in (0, 1))


def test_some_agent_cannot_escape():
    game, start = find_position(4, 8)
    assert solve_endgame(game, start).values == (LOSS, WIN)


def test_rejects_too_many_positions():
    with pytest.raises(TooLarge, match="max_states=10 positions"):
        solve_endgame(*find_position(4, 8), max_states=10)
