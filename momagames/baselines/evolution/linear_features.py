"""What a linear policy sees: few numbers from the observation of any game, without knowing the game.

A field of numbers in a row gives each of its numbers. A field with two axes or more is read as boards (the last two axes in
memory), and each board gives three: the mean of its cells, and the means of cell times row and of cell times column, rows
and columns counted from -1 to 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from momagames.baselines.observation_layout import in_memory, placed
from momagames.contract import Field, Game
from momagames.errors import InvalidParameter

MOMENTS = 3
MAX_FEATURES = 512


class Sight:
    """How to read the observations of a game.

    pieces   int64[n, 4], a number or a board each: which of KINDS, where it starts in items of that kind, rows and columns
             (0 rows: a number)
    count    how many numbers come of it
    """

    def __init__(self, game: Game) -> None:
        self.pieces = np.array([piece for one in placed(game) for piece in _pieces(*one)], np.int64)
        self.count = int(np.where(self.pieces[:, 2] > 0, MOMENTS, 1).sum())
        if self.count > MAX_FEATURES:
            raise InvalidParameter(
                f"a linear policy sees {self.count} numbers in an observation of {game.id}; allowed: at most {MAX_FEATURES}"
            )


def _pieces(kind: int, start: int, field: Field) -> Iterator[tuple[int, int, int, int]]:
    inside = in_memory(field)
    if len(inside) < 2:
        yield from ((kind, start + i, 0, 0) for i in range(prod(inside)))
        return
    rows, columns = inside[-2:]
    yield from ((kind, start + i * rows * columns, rows, columns) for i in range(prod(inside[:-2])))
