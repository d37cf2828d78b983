"""Endgames of the duel against plain recursion over copies of an environment."""

import itertools

import pytest

from momagames.engine.episode import Episode
from momagames.errors import TooLarge

LOSS, SURVIVAL, WIN = 0, 1, 2


@pytest.fixture
def endgames(import_script):
    return import_script("benchmarks.fronts.pommerman_endgames")


def list_results(episode, state):
    """Return the tree of a game: 6x6 subtrees, or the results of both agents. `episode` is used for the steps."""
    if state["over"]:
        return tuple(WIN if int(state["winners"]) >> a & 1 else SURVIVAL if state["alive"][a] else LOSS for a in (0, 1))
    rows = []
    for first, second in itertools.product(range(6), repeat=2):
        episode.load(state)
        episode.step([[first], [second]])
        rows.append(list_results(episode, episode.states[0].copy()))
    return [rows[6 * i : 6 * i + 6] for i in range(6)]


def evaluate(tree, agent, is_informed):
    """Return what an agent forces: it moves first, or after the other if it is informed."""
    if isinstance(tree, tuple):
        return tree[agent]
    values = [[evaluate(one, agent, is_informed) for one in row] for row in tree]
    rows = values if agent == 0 else list(map(list, zip(*values, strict=True)))
    return min(max(column) for column in zip(*rows, strict=True)) if is_informed else max(map(min, rows))


@pytest.mark.parametrize("seed", [8, pytest.param(0, marks=pytest.mark.long), pytest.param(37, marks=pytest.mark.long)])
def test_values_equal_plain_recursion(endgames, seed):
    game, start = endgames.find_position(2, seed)
    tree, found = list_results(Episode(game), start[0]), endgames.solve_endgame(game, start)
    assert found.values == tuple(evaluate(tree, agent, False) for agent in (0, 1))
    assert found.informed == tuple(evaluate(tree, agent, True) for agent in (0, 1))


def test_some_agent_cannot_escape(endgames):
    game, start = endgames.find_position(4, 8)
    assert endgames.solve_endgame(game, start).values == (LOSS, WIN)


def test_rejects_too_many_positions(endgames):
    with pytest.raises(TooLarge, match="max_states=10 positions"):
        endgames.solve_endgame(*endgames.find_position(4, 8), max_states=10)
