"""Attainment against its definition on grids of whole numbers, where every volume is a number of cells."""

from itertools import product

import numpy as np
import pytest

from momagames.analysis.attainment import (
    attainment_difference,
    attainment_difference_map,
    attainment_rate,
    attainment_surface,
    attainment_surfaces,
    pairwise_projections,
    vorobev_expectation,
)
from momagames.errors import InvalidParameter

THREE = [[(5, 1), (2, 3)], [(4, 2)], [(1, 5), (3, 1)]]


def random_sets(objectives, seed, runs=4, top=6):
    rng = np.random.default_rng([objectives, seed])
    return [rng.integers(1, top + 1, (rng.integers(1, 5), objectives)) for _ in range(runs)]


def cells(objectives, top=6):
    """Upper corners of the unit cells above 0; a target inside a cell is attained by the runs that attain its corner."""
    return np.array(list(product(range(1, top + 1), repeat=objectives)), float)


def test_attainment_rate_by_hand():
    targets = [(1, 1), (3, 1), (2, 2), (5, 1), (6, 1)]
    assert attainment_rate(THREE, targets) == pytest.approx([1, 1, 2 / 3, 1 / 3, 0])


def test_surfaces_by_hand():
    best, median, worst = attainment_surfaces(THREE)
    assert best.tolist() == [[1, 5], [2, 3], [4, 2], [5, 1]]
    assert median.tolist() == [[1, 3], [2, 2], [4, 1]]
    assert worst.tolist() == [[1, 2], [3, 1]]
    assert attainment_surface([THREE[0]], 1).tolist() == sorted(map(list, THREE[0]))


@pytest.mark.parametrize("objectives", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_surfaces_bound_the_attained_targets(objectives, seed):
    sets = random_sets(objectives, seed)
    grid = cells(objectives)
    share = attainment_rate(sets, grid)
    for runs in range(1, 5):
        front = attainment_surface(sets, runs)
        below = (front[:, None, :] >= grid[None]).all(axis=2).any(axis=0)
        assert (below == (share >= runs / 4 - 1e-9)).all()
    assert attainment_surfaces(sets).median.tolist() == attainment_surface(sets, 2).tolist()


@pytest.mark.parametrize("objectives", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_vorobev_by_counting_cells(objectives, seed):
    sets = random_sets(objectives, seed)
    grid = cells(objectives)
    met = np.array([attainment_rate([run], grid) for run in sets]) > 0.5
    share = met.mean(axis=0)
    found = vorobev_expectation(sets, np.zeros(objectives))
    inside = attainment_rate([found.expectation], grid) > 0.5
    assert found.deviation == pytest.approx((met != inside).sum(axis=1).mean())
    # the level set just below the mean volume, and the next one above
    sizes = sorted({int((share >= level).sum()) for level in (0.25, 0.5, 0.75, 1.0)})
    wanted = met.sum(axis=1).mean()
    assert inside.sum() in sizes
    assert min(abs(size - wanted) for size in sizes) <= abs(inside.sum() - wanted)
    assert (inside == (share >= found.threshold)).all() or inside.sum() == (share > found.threshold).sum()


def test_equal_runs_do_not_deviate():
    found = vorobev_expectation([THREE[0]] * 3, (0, 0))
    assert found.expectation.tolist() == [[2, 3], [5, 1]]
    assert found.deviation == 0


def test_attainment_difference_map():
    other = [[(3, 3)], [(2, 2)]]
    grid = cells(2)
    corners, values = attainment_difference_map(THREE, other, (0, 0))
    assert (values != 0).all()
    found = np.zeros(len(grid))
    for (x0, y0, x1, y1), value in zip(corners, values, strict=True):
        inside = (grid[:, 0] > x0) & (grid[:, 0] <= x1) & (grid[:, 1] > y0) & (grid[:, 1] <= y1)
        assert (found[inside] == 0).all()
        found[inside] = value
    assert found == pytest.approx(attainment_difference(THREE, other, grid))
    assert found.min() < 0 < found.max()
    assert attainment_difference_map(THREE, THREE, (0, 0))[0].shape == (0, 4)
    assert attainment_difference_map([[(1, 1)]], [[(2, 1)]], (4, 4))[0].shape == (0, 4)


def test_projections_lose_dominance():
    pairs = pairwise_projections([[(1, 2, 3), (2, 1, 1), (1, 1, 4)], [(0, 0, 0)]])
    assert list(pairs) == [(0, 1), (0, 2), (1, 2)]
    assert pairs[0, 1][0].tolist() == [[1, 2], [2, 1]]
    assert pairs[0, 2][0].tolist() == [[1, 4], [2, 1]]
    assert pairs[0, 2][1].tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attainment_surfaces([[(1, 2, 3, 4)]]), "invalid number of objectives 4"),
        (lambda: vorobev_expectation([[(1, 2, 3, 4)]], np.zeros(4)), "invalid number of objectives 4"),
        (lambda: vorobev_expectation(THREE, (3, 3)), "below at least one point of every run"),
        (lambda: attainment_surface(THREE, 4), r"1\.\.3"),
        (lambda: attainment_surfaces([]), "one or more runs"),
        (lambda: attainment_surfaces([[(1, 2)], [(1, 2, 3)]]), "invalid shape"),
        (lambda: attainment_rate(THREE, [(1, np.nan)]), "expected finite numbers"),
        (lambda: attainment_difference_map([[(1, 2, 3)]], [[(1, 2, 3)]], (0, 0)), "needs 2 objectives"),
    ],
)
def test_invalid_arguments(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()
