"""The Pareto front of MO-GemWalk as SPEC.md states it, against the exact solver and all walks."""

from itertools import product

import pytest

import momagames
from momagames.registry import pareto_front_if_small
from tests.games.gemwalk.naive import GemWalk, stated_front
from tests.tabular.problems import best_of


def returns_of_walks(board):
    """The returns of all walks, by the oracle."""
    for actions in product(*([c for c, cell in enumerate(row) if cell != "."] for row in board)):
        walk = GemWalk(board)
        yield tuple(map(sum, zip(*map(walk.step, actions), strict=True)))


@pytest.mark.parametrize("height", range(3, 9))
def test_the_stated_front_is_that_of_all_walks_and_of_the_solver(height):
    env = momagames.make("mo-gemwalk-v0", board_height=height)
    board = ["rep.", ".rep", "p.re", "ep.r"] * 2
    assert best_of(set(returns_of_walks(board[:height]))) == stated_front(height)
    for seed in range(3):
        env.reset(seed=seed)
        assert sorted(map(tuple, pareto_front_if_small(env.game, env.episode.state).tolist())) == stated_front(height)


def test_the_front_of_the_default_board_has_points_that_no_weights_prefer():
    assert stated_front(5) == [(0, 15), (2, 12), (10, 10), (12, 2), (15, 0)]
    best = {max(stated_front(5), key=lambda point: w * point[0] + (100 - w) * point[1]) for w in range(101)}
    assert best == {(0, 15), (10, 10), (15, 0)}
