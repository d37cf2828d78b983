"""Random draws and move groups in plain Python, for tests that repeat a compiled search step by step."""

import numpy as np

import momagames
from momagames.baselines.archive import is_nondominated
from momagames.engine.episode import Episode
from momagames.engine.playouts import generate_starts

WORD_MASK = 2**64 - 1


def make_instance(seed=3, **params):
    """Return a small game of MO-SameGame and a start position."""
    game = momagames.spec("mo-samegame-v0", **{"board_width": 5, "board_height": 5, "num_colors": 3, **params})
    return game, generate_starts(game, np.array([seed], np.uint64))


class BudgetSpent(Exception):
    """The budget or the share of a weight vector is spent."""


class RandomDraws:
    """Random draws of a search from its seed."""

    def __init__(self, seed):
        self.word = int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))

    def _next(self):
        self.word = (self.word + 0x9E3779B97F4A7C15) & WORD_MASK
        z = self.word
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD_MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD_MASK
        return z ^ (z >> 31)

    def below(self, n):
        return ((self._next() >> 32) * n) >> 32

    def uniform(self):
        return (self._next() >> 11) * 2.0**-53


def tiles_of(rows):
    return {(x, y): tile for y, row in enumerate(rows) for x, tile in enumerate(row) if tile in "123456789"}


def find_groups(tiles):
    """Return (color, cells) of every group of a board {(x, y): color}, single tiles included, by flood fill."""
    remaining, groups = set(tiles), []
    while remaining:
        group, frontier = set(), [remaining.pop()]
        while frontier:
            x, y = frontier.pop()
            group.add((x, y))
            around = (cell for cell in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)) if cell in remaining)
            fresh = {cell for cell in around if tiles[cell] == tiles[x, y]}
            remaining -= fresh
            frontier += fresh
        groups.append((tiles[min(group)], frozenset(group)))
    return groups


def list_groups(episode):
    """Return {action: (color, removed cells)} in the order of the actions."""
    rows = episode.game.codec.save(episode.state)["board"]
    groups = (group for group in find_groups(tiles_of(rows)) if len(group[1]) > 1)
    return dict(sorted((min(y * len(rows[0]) + x for x, y in cells), (color, cells)) for color, cells in groups))


def make_episode(game, start):
    episode = Episode(game)
    episode.load(start[0])
    return episode


def select_groups(groups, ply, tiles, guide=0):
    """Return the groups without the large ones of one color of `tiles`, if there are others, and their grades.

    guide   rank of the color by its number of tiles
    """
    colors = sorted(set(tiles) & set("123456789"))
    tabu = sorted(colors, key=lambda color: -tiles.count(color))[guide % len(colors)]
    selected = {a: g for a, g in groups.items() if g[0] != tabu or (ply >= 10 and len(g[1]) == 2)}
    return selected or groups, [min(len(cells) - 2, 8) if selected else 0 for _, cells in (selected or groups).values()]


def compare_games(reference, found):
    """Compare the archive of a search with the first plans of the non-dominated values of the reference."""
    assert found.info["episodes"] == len(reference.games)
    assert found.steps == reference.used
    first = {}
    for actions, value, used in reference.games:
        first.setdefault(tuple(value), (tuple(actions), used))
    values = np.array(list(first))
    expected = {tuple(value): first[tuple(value)] for value in values[is_nondominated(values)].tolist()}
    assert {tuple(plan.value.tolist()): (plan.actions, plan.step) for plan in found.plans} == expected
