"""Contested cells of MO-ItemGathering: results and their probabilities, against the rule of the original."""

from fractions import Fraction

import numpy as np
import pytest

import momagames
from momagames.engine.batch import Batch
from momagames.kernels.rng import random_words

ID = "mo-item-gathering-v0"
STEPS = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)]  # by action
# Old cells, wanted cells, and the probability of each result; counted by hand
CASES = {
    "two agents, one empty cell": (
        [(0, 0), (0, 2)], [(0, 1), (0, 1)], {((0, 0), (0, 1)): Fraction(1, 2), ((0, 1), (0, 2)): Fraction(1, 2)},
    ),
    "mover against stayer": ([(0, 0), (0, 1)], [(0, 1), (0, 1)], {((0, 0), (0, 1)): Fraction(1)}),
    "three agents, one empty cell": (
        [(0, 1), (1, 0), (1, 2)],
        [(1, 1), (1, 1), (1, 1)],
        {
            ((0, 1), (1, 0), (1, 1)): Fraction(1, 2),
            ((0, 1), (1, 1), (1, 2)): Fraction(1, 4),
            ((1, 1), (1, 0), (1, 2)): Fraction(1, 4),
        },
    ),
    "four agents, one empty cell": (
        [(0, 1), (1, 0), (1, 2), (2, 1)],
        [(1, 1), (1, 1), (1, 1), (1, 1)],
        {
            ((0, 1), (1, 0), (1, 1), (2, 1)): Fraction(1, 4),
            ((0, 1), (1, 0), (1, 2), (1, 1)): Fraction(1, 2),
            ((0, 1), (1, 1), (1, 2), (2, 1)): Fraction(1, 8),
            ((1, 1), (1, 0), (1, 2), (2, 1)): Fraction(1, 8),
        },
    ),
    "who goes back is in the way of a follower": (
        [(0, 0), (0, 1), (0, 3)],
        [(0, 1), (0, 2), (0, 2)],
        {((0, 0), (0, 1), (0, 2)): Fraction(1, 2), ((0, 1), (0, 2), (0, 3)): Fraction(1, 2)},
    ),
    "swap": ([(0, 0), (0, 1)], [(0, 1), (0, 0)], {((0, 1), (0, 0)): Fraction(1)}),
    "cycle of four": (
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        [(0, 1), (1, 1), (0, 0), (1, 0)],
        {((0, 1), (1, 1), (0, 0), (1, 0)): Fraction(1)},
    ),
}  # fmt: skip


def follow_original(old, wanted):
    """The probabilities of the results of the original's rule: pairs in order, each equal one drawn; then those that were set
    back, each against all others, until none is. What is still open after many passes is left out."""
    agents = range(len(old))
    open_cases = {(tuple(wanted), None): 1.0}
    found = {}
    while sum(open_cases.values()) > 1e-9:
        following = {}
        for (targets, losers), share in open_cases.items():
            pairs = [(i, j) for i in agents for j in range(i + 1, len(old))]
            if losers is not None:
                pairs = [(i, j) for i in losers for j in agents if j != i]
            for ends, weight in draw_pairs(old, targets, pairs, share).items():
                place = following if ends[1] else found
                key = ends if ends[1] else ends[0]
                place[key] = place.get(key, 0.0) + weight
        open_cases = following
    return found


def draw_pairs(old, targets, pairs, share):
    """The targets and those that were set back after a pass, with their probabilities."""
    cases = {(targets, ()): share}
    for i, j in pairs:
        following = {}
        for (now, losers), weight in cases.items():
            options = [(now, losers, weight)]
            if now[i] == now[j]:
                options = [
                    (tuple(old[k] if k == loser else cell for k, cell in enumerate(now)), (*losers, loser), weight / 2)
                    for loser in (i, j)
                ]
            for after, set_back, part in options:
                following[after, set_back] = following.get((after, set_back), 0.0) + part
        cases = following
    return cases


def play_many(shape, old, actions, count, seed):
    """How often each result comes up in `count` steps of our rules with different random words."""
    height, width = shape
    rows = np.zeros((height + 1, width), int)  # an item below keeps the episode going
    rows[tuple(zip(*old, strict=True))], rows[height, 0] = 1, 2
    game = momagames.spec(ID, initial_map=rows)
    order = sorted(range(len(old)), key=lambda i: old[i])
    batch = Batch(game, count)
    batch.reset()
    states = batch.states.copy()
    states["rng"] = random_words(seed, count)
    batch.load(states)
    batch.step(np.tile(np.array(actions)[order][None, :, None], (count, 1, 1)))
    cells = np.empty((count, len(old)), int)
    cells[:, order] = batch.states["cell"][:, : len(old)]
    results, times = np.unique(cells, axis=0, return_counts=True)
    named = [tuple(divmod(int(cell), width) for cell in row) for row in results]
    return dict(zip(named, times.tolist(), strict=True))


def check(shape, old, actions, expected, count=3000):
    played = play_many(shape, old, actions, count, 11)
    assert set(played) == set(expected)
    for result, share in expected.items():  # five standard deviations
        assert abs(played[result] / count - share) <= 5 * (share * (1 - share) / count) ** 0.5 + 1e-6


@pytest.mark.parametrize("name", CASES)
def test_known_cases(name, interpreted):
    old, wanted, expected = CASES[name]
    assert follow_original(old, wanted) == pytest.approx({key: float(share) for key, share in expected.items()}, abs=1e-8)
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(old, wanted, strict=True)]
    order = sorted(range(len(old)), key=lambda i: old[i])
    assert order == list(range(len(old)))  # agents are numbered by their cells
    check(
        (3, 4),
        old,
        [STEPS.index(step) for step in steps],
        {key: float(share) for key, share in expected.items()},
        200 if interpreted else 3000,
    )


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(12))
def test_crowds(seed):
    """Random wishes of 3 to 6 agents in a small room: the probabilities are those of the original's rule."""
    rng = np.random.default_rng(seed)
    shape = (3, 3)
    cells = sorted(rng.choice(9, size=int(rng.integers(3, 7)), replace=False).tolist())
    old = [divmod(cell, 3) for cell in cells]
    actions = rng.integers(5, size=len(old)).tolist()
    wanted = []
    for (row, column), action in zip(old, actions, strict=True):
        target = row + STEPS[action][0], column + STEPS[action][1]
        is_inside = target[0] in range(4) and target[1] in range(3)  # a row with an item is below
        wanted.append(target if is_inside else (row, column))
    check(shape, old, actions, follow_original(old, wanted))


@pytest.mark.compiled
def test_contested_moves_add_no_result():
    """Each result of a joint action comes from one in which no two agents want one cell (§3.1)."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        cells = sorted(rng.choice(9, size=4, replace=False).tolist())
        old = [divmod(cell, 3) for cell in cells]
        actions = rng.integers(5, size=4).tolist()
        for result in play_many((3, 3), old, actions, 50, 5):
            sure = [action if cell != end else 0 for action, cell, end in zip(actions, old, result, strict=True)]
            assert set(play_many((3, 3), old, sure, 5, 6)) == {result}
