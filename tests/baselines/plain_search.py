"""What the compiled searches draw and know, in plain Python, for tests that repeat a search step by step."""

import numpy as np

import momagames
from momagames.engine.episode import Play
from momagames.engine.playouts import deal

FULL = 2**64 - 1


def small(seed=3, **params):
    """A game of MO-SameGame and a position of it."""
    game = momagames.spec("mo-samegame-v0", **{"board_width": 5, "board_height": 5, "num_colors": 3, **params})
    return game, deal(game, np.array([seed], np.uint64))


class Lots:
    """The lots that a search draws from its seed."""

    def __init__(self, seed):
        self.word = int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))

    def _next(self):
        self.word = (self.word + 0x9E3779B97F4A7C15) & FULL
        z = self.word
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & FULL
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & FULL
        return z ^ (z >> 31)

    def below(self, n):
        return ((self._next() >> 32) * n) >> 32

    def unit(self):
        return (self._next() >> 11) * 2.0**-53


def groups(one):
    """{action: the group that it removes, as a set of (x, y)}, by flooding, in the order of the actions."""
    rows = one.game.codec.save(one.state)["board"]
    tiles = {(x, y): tile for y, row in enumerate(rows) for x, tile in enumerate(row) if tile in "123456789"}
    found, seen = {}, set()
    for x, y in sorted(tiles, key=lambda at: (at[1], at[0])):
        if (x, y) in seen:
            continue
        group, edge = {(x, y)}, [(x, y)]
        while edge:
            i, j = edge.pop()
            for near in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                if near not in group and tiles.get(near) == tiles[x, y]:
                    group.add(near)
                    edge.append(near)
        seen |= group
        if len(group) > 1:
            found[y * len(rows[0]) + x] = (tiles[x, y], frozenset(group))
    return found


def position(game, start):
    one = Play(game)
    one.load(start[0])
    return one
