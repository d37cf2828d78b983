"""Attainment against its definition on grids of whole numbers, where every volume is a number of cells."""

from itertools import product

import numpy as np
import pytest

from momagames.analysis.attainment import (
    advantage,
    advantage_map,
    attained,
    projections,
    surface,
    surfaces,
    vorobev,
)
from momagames.errors import InvalidParameter

THREE = [[(5, 1), (2, 3)], [(4, 2)], [(1, 5), (3, 1)]]


def random_sets(goals, seed, runs=4, top=6):
    rng = np.random.default_rng([goals, seed])
    return [rng.integers(1, top + 1, (rng.integers(1, 5), goals)) for _ in range(runs)]


def cells(goals, top=6):
    """Upper corners of the unit cells above 0; a goal inside a cell is attained by the runs that attain its corner."""
    return np.array(list(product(range(1, top + 1), repeat=goals)), float)


def test_attained_by_hand():
    goals = [(1, 1), (3, 1), (2, 2), (5, 1), (6, 1)]
    assert attained(THREE, goals) == pytest.approx([1, 1, 2 / 3, 1 / 3, 0])


def test_surfaces_by_hand():
    best, median, worst = surfaces(THREE)
    assert best.tolist() == [[1, 5], [2, 3], [4, 2], [5, 1]]
    assert median.tolist() == [[1, 3], [2, 2], [4, 1]]
    assert worst.tolist() == [[1, 2], [3, 1]]


@pytest.mark.parametrize("goals", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_surfaces_bound_what_is_attained(goals, seed):
    sets = random_sets(goals, seed)
    grid = cells(goals)
    share = attained(sets, grid)
    for runs in range(1, 5):
        front = surface(sets, runs)
        below = (front[:, None, :] >= grid[None]).all(axis=2).any(axis=0)
        assert (below == (share >= runs / 4 - 1e-9)).all()
    assert surfaces(sets).median.tolist() == surface(sets, 2).tolist()


@pytest.mark.parametrize("goals", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_vorobev_by_counting_cells(goals, seed):
    sets = random_sets(goals, seed)
    grid = cells(goals)
    met = np.array([attained([run], grid) for run in sets]) > 0.5
    share = met.mean(axis=0)
    found = vorobev(sets, np.zeros(goals))
    inside = attained([found.expectation], grid) > 0.5
    assert found.deviation == pytest.approx((met != inside).sum(axis=1).mean())
    # the level set just below the mean volume, and the next one above
    sizes = sorted({int((share >= level).sum()) for level in (0.25, 0.5, 0.75, 1.0)})
    wanted = met.sum(axis=1).mean()
    assert inside.sum() in sizes
    assert min(abs(size - wanted) for size in sizes) <= abs(inside.sum() - wanted)
    assert (inside == (share >= found.threshold)).all() or inside.sum() == (share > found.threshold).sum()


def test_equal_runs_do_not_deviate():
    found = vorobev([THREE[0]] * 3, (0, 0))
    assert found.expectation.tolist() == [[2, 3], [5, 1]]
    assert found.deviation == 0


def test_where_a_method_attains_more_often():
    other = [[(3, 3)], [(2, 2)]]
    grid = cells(2)
    corners, values = advantage_map(THREE, other, (0, 0))
    assert (values != 0).all()
    found = np.zeros(len(grid))
    for (x0, y0, x1, y1), value in zip(corners, values, strict=True):
        inside = (grid[:, 0] > x0) & (grid[:, 0] <= x1) & (grid[:, 1] > y0) & (grid[:, 1] <= y1)
        assert (found[inside] == 0).all()
        found[inside] = value
    assert found == pytest.approx(advantage(THREE, other, grid))
    assert found.min() < 0 < found.max()
    assert advantage_map(THREE, THREE, (0, 0))[0].shape == (0, 4)
    assert advantage_map([[(1, 1)]], [[(2, 1)]], (4, 4))[0].shape == (0, 4)


def test_projections_lose_dominance():
    pairs = projections([[(1, 2, 3), (2, 1, 1), (1, 1, 4)], [(0, 0, 0)]])
    assert list(pairs) == [(0, 1), (0, 2), (1, 2)]
    assert pairs[0, 1][0].tolist() == [[1, 2], [2, 1]]
    assert pairs[0, 2][0].tolist() == [[1, 4], [2, 1]]
    assert pairs[0, 2][1].tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: surfaces([[(1, 2, 3, 4)]]), "2 and 3 objectives, not 4"),
        (lambda: vorobev([[(1, 2, 3, 4)]], np.zeros(4)), "2 and 3 objectives, not 4"),
        (lambda: vorobev(THREE, (3, 3)), "no point above ref"),
        (lambda: surface(THREE, 4), r"1\.\.3"),
        (lambda: surfaces([]), "no run"),
        (lambda: surfaces([[(1, 2)], [(1, 2, 3)]]), "has shape"),
        (lambda: attained(THREE, [(1, np.nan)]), "not finite"),
        (lambda: advantage_map([[(1, 2, 3)]], [[(1, 2, 3)]], (0, 0)), "rectangles exist for 2"),
    ],
)
def test_what_does_not_fit_is_refused(call, said):
    with pytest.raises(InvalidParameter, match=said):
        call()
